"""Intervals of a mean over cases, for these cases and for cases like these."""

from dataclasses import dataclass

import numpy as np
import scipy

from plenum.dynamics.fit import Floats

LEVEL = 0.95
"""Probability with which each interval holds the value that it estimates."""


_FEW_RUNS = 4.0
"""Number of runs of a case up to which both variances of a mean count for half. At fewer the
variance within cases is told by so little that half of it is taken from between them."""

_FEW = 10
"""Number of cases that differ from all others up to which their variance isn't believed. Both
numbers are plenum's own; `scripts/calibrate.py` measures that the intervals hold with them."""


@dataclass(frozen=True)
class SuiteEstimate:
    """A mean over the cases of a suite.

    Attributes
    ----------
    value
        The estimate; NaN without cases.
    these
        Interval of the mean over these cases, if each were run without end.
    like
        Interval of the mean over all cases of the kind that these were drawn from.
    cases
        Number of cases that were used.
    """

    value: float
    these: tuple[float, float]
    like: tuple[float, float]
    cases: int

    def scale(self, factor: float, shift: float = 0.0) -> "SuiteEstimate":
        """Return the estimate of ``shift + factor * mean``."""
        (a, b), (c, d) = (
            # Sorted, since a negative factor swaps the limits.
            sorted(shift + factor * np.array(each))
            for each in (self.these, self.like)
        )
        value = shift + factor * self.value
        return SuiteEstimate(float(value), (float(a), float(b)), (float(c), float(d)), self.cases)


def estimate_mean_of_cases(
    values: Floats, variances: Floats | None = None, runs: float = 4.0
) -> SuiteEstimate:
    """Estimate the mean over cases of values from 0 to 1, each unbiased for its case.

    Cases are the clusters. The intervals are Wilson's, with the effective number of cases
    m (1 - m) / variance, at least N (as Korn and Graubard 1998 do for Clopper's and Pearson's), and
    the quantile of Student's t with half of N - 1 degrees of freedom, since values are skewed. The
    variance of the mean over these cases is the average of the one from within cases, if it is
    known, and of the one between them, which is too large: the former alone varies too much at four
    runs a case; of more runs the latter counts for less. Where fewer than ten cases differ from 0,
    or from 1, the variance between cases is at least the binomial one. `scripts/calibrate.py`
    measures how often the intervals hold.

    Parameters
    ----------
    values
        Values by case, shape (N,); those that are NaN are left out.
    variances
        Unbiased estimates of the variance of each value around its own case's, shape (N,); without
        them the variance between cases is used, with which the interval for these cases is wide.
    runs
        Number of runs of a case, on average.

    Examples
    --------
    >>> estimate_mean_of_cases(np.array([0.0, 0.0, 0.5, 0.0])).value
    0.125
    """
    known = np.isfinite(values)
    used = values[known]
    cases = len(used)
    # One case has no spread between cases, and of cases like it nothing is known.
    if cases < 2:
        value = float(used[0]) if cases else float("nan")
        return SuiteEstimate(value, (0.0, 1.0), (0.0, 1.0), cases)
    mean, between = float(used.mean()), float(used.var(ddof=1)) / cases
    within = between
    if variances is not None:
        # Unbiased variances may add up to less than 0.
        within = max(float(variances[known].sum()) / cases**2, 0.0)
    if min((used > 0).sum(), (used < 1).sum()) < _FEW:
        # Their variance says too little: as if each case's value were 0 or 1.
        between = max(between, mean * (1 - mean) / cases)
    part = min(_FEW_RUNS / runs, 1.0) / 2
    known_cases = (1 - part) * within + part * between
    # What varies between reruns of these cases varies between cases like these as well.
    like = limit_share(mean, max(between, known_cases), cases)
    return SuiteEstimate(mean, limit_share(mean, known_cases, cases), like, cases)


def limit_share(mean: float, variance: float, cases: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share with the variance that it has.

    Parameters
    ----------
    mean, variance
        The share, and the variance of its estimate.
    cases
        Number of cases that it is from; of unequal weights, that of as many equal ones.

    Examples
    --------
    >>> [round(limit, 2) for limit in limit_share(0.5, 0.0025, 100)]
    [0.4, 0.6]
    """
    # Values are skewed: half of N - 1 degrees of freedom widens the tails that they need.
    # One at least: half a degree, of two cases, would have a quantile of 165 and not of 13.
    z = float(scipy.stats.t.ppf((1 + LEVEL) / 2, max((cases - 1) / 2, 1)))
    spread = mean * (1 - mean)
    apart = min(variance, spread) > 1e-15  # below that a variance is the rounding error of none
    # A variance above the binomial one would give fewer cases than there are.
    n = max(spread / variance, cases) if apart else cases
    centre = (mean + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * float(np.sqrt(spread / n + z**2 / (4 * n**2)))
    return max(centre - half, 0.0), min(centre + half, 1.0)
