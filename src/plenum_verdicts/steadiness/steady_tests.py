"""A mean over cases against a bound: for these cases, and for cases like these."""

from dataclasses import dataclass, field
from math import ceil, sqrt

import scipy

from plenum.dynamics.fit import Floats

LEVEL = 0.025
"""Chance with which a claim that isn't true is made, at most: one-sided, as for 95 % intervals."""

POWER = 0.8
"""Chance with which a planned study is to show a claim that is true."""


@dataclass(frozen=True)
class SteadyTest:
    """A mean over cases that is to be above 0.

    Attributes
    ----------
    value
        The mean.
    error_these, error_like
        Its standard error over reruns of these cases, and over cases like these.
    values
        The values of the cases, shape (C,).
    """

    value: float
    error_these: float
    error_like: float
    values: Floats = field(repr=False)

    def chance(self, like: bool) -> float:
        """Return the one-sided p-value: how likely so high a mean is if the true one is 0."""
        error = self.error_like if like else self.error_these
        return float(scipy.stats.t.sf(self.value / error, len(self.values) - 1))

    def limit(self, like: bool) -> float:
        """Return what the true mean is above, in 97.5 % of such studies."""
        error = self.error_like if like else self.error_these
        return self.value - float(scipy.stats.t.ppf(1 - LEVEL, len(self.values) - 1)) * error

    @property
    def cases_needed(self) -> int | None:
        """Number of cases that show it in 80 % of studies; ``None`` if the mean isn't above 0."""
        if self.value <= 0:
            return None
        asked = float(scipy.stats.norm.ppf(1 - LEVEL) + scipy.stats.norm.ppf(POWER))
        # Errors shrink as 1/√n: n such that value = (z₀.₉₇₅ + z₀.₈) · error.
        return ceil(len(self.values) * (asked * self.error_like / self.value) ** 2)


def judge_mean(values: Floats, variances: Floats | None, runs: float) -> SteadyTest:
    """Test a mean over cases.

    Cases are the clusters. Over cases like these the error is that of their mean. Over reruns it
    is averaged from the variances within cases and from that between them, which is too large, as
    in :func:`plenum_verdicts.suites.intervals.estimate_mean_of_cases`: the former alone varies too
    much at few runs.

    Parameters
    ----------
    values
        One value a case, shape (C,), unbiased.
    variances
        Variances of these from run to run, shape (C,); ``None`` where runs don't show them: then
        the variance between cases stands for both.
    runs
        Number of runs of a case at a wording, at least.

    Examples
    --------
    >>> import numpy as np
    >>> found = judge_mean(np.array([0.0, 0.1] * 10), None, 5)
    >>> round(found.value, 2), found.chance(like=True) < 0.05, found.cases_needed
    (0.05, True, 40)
    """
    cases = len(values)
    # Equal values of a few cases prove little: as if one of them could differ by a half.
    least = 1 / (2 * cases) ** 2
    between = max(float(values.var(ddof=1)) / cases, least)
    # The fewer the runs, the less they tell of the variance within cases: up to a half is between.
    part = min(4 / runs, 1.0) / 2
    within = between if variances is None else float(variances.sum()) / cases**2
    # Never more than between cases, since that variance holds the one of reruns as well.
    these = max(min((1 - part) * within + part * between, between), least)
    return SteadyTest(float(values.mean()), sqrt(these), sqrt(between), values)
