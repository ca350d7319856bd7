"""Estimates of a profile: values for cases like these, with intervals over cases."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from plenum.dynamics import Floats
from plenum_audit.suites import SuiteEstimate, estimate_mean_of_cases, limit_mean, limit_share

LEVEL = 0.95
"""Probability with which each interval holds the value that it estimates."""

FEW = 10
"""Number of cases from which on a variance over cases is believed."""

_FLOOR = 0.2
"""Root of a mean square that few cases may hide, as the widening of its interval needs one."""


@dataclass(frozen=True)
class ProfileEstimate:
    """A value for cases like these.

    Attributes
    ----------
    value
        The estimate; NaN if nothing is known.
    interval
        Its 95 % interval; ``None`` if there are too few cases for one.
    cases
        Number of cases that were used.
    """

    value: float
    interval: tuple[float, float] | None
    cases: int

    @classmethod
    def of_suite(cls, estimate: SuiteEstimate) -> "ProfileEstimate":
        """Return the estimate of a suite, with its interval for cases like these."""
        return cls(estimate.value, estimate.like if estimate.cases > 1 else None, estimate.cases)


def estimate_ratio(part: Floats, whole: Floats) -> ProfileEstimate:
    """Estimate a share over runs of which cases have different numbers.

    The interval is that of :func:`~plenum_audit.suites.estimate_mean_of_cases`, with the linearised
    variance of the ratio and with as many cases as equal weights would come to (Kish 1965).

    Parameters
    ----------
    part, whole
        Numbers of runs of each case, or their weights, shape (N,); the part is at most the whole.

    Examples
    --------
    >>> estimate_ratio(np.array([1.0, 2.0, 0.0]), np.array([2.0, 2.0, 1.0])).value
    0.6
    """
    used = whole > 0
    part, whole = part[used], whole[used]
    cases, total = len(whole), float(whole.sum())
    if not cases:
        return ProfileEstimate(math.nan, None, 0)
    mean = min(float(part.sum()) / total, 1.0)
    if cases < 2:
        return ProfileEstimate(mean, None, cases)
    equal = total**2 / float((whole**2).sum())
    variance = cases / (cases - 1) * float(((part - mean * whole) ** 2).sum()) / total**2
    if min((part > 0).sum(), (part < whole).sum()) < FEW:
        variance = max(variance, mean * (1 - mean) / equal)
    return ProfileEstimate(mean, limit_share(mean, variance, equal), cases)


def estimate_change(changes: Floats) -> ProfileEstimate:
    """Estimate the mean over cases of changes from -1 to 1, shape (N,).

    The interval is Student's, wider in both directions by as many cases as may not have been met.

    Examples
    --------
    >>> estimate_change(np.array([0.0, -0.5, 0.0, -0.5])).value
    -0.25
    """
    cases = len(changes)
    if not cases:
        return ProfileEstimate(math.nan, None, 0)
    mean = float(changes.mean())
    if cases < FEW:
        return ProfileEstimate(mean, None, cases)
    error = float(changes.std(ddof=1)) / math.sqrt(cases)
    low, high = limit_mean(mean, error, 1 / cases, _quantile(cases))
    return ProfileEstimate(mean, (max(low, -1.0), min(high, 1.0)), cases)


def estimate_loss(losses: Floats) -> ProfileEstimate:
    """Estimate the mean over cases of losses from 0 to 1, shape (N,).

    The interval is that of :func:`~plenum_audit.suites.estimate_mean_of_cases`; its upper limit is
    higher by as many cases as may not have been met, since a rare case may lose nearly everything.

    Examples
    --------
    >>> estimate_loss(np.array([0.25, 0.0, 0.25, 0.0])).value
    0.125
    """
    found = estimate_mean_of_cases(losses)
    if found.cases < FEW:
        return ProfileEstimate(found.value, None, found.cases)
    error = float(losses.std(ddof=1)) / math.sqrt(found.cases)
    _, most = limit_mean(found.value, error, 1 / found.cases, _quantile(found.cases))
    low, high = found.like
    return ProfileEstimate(found.value, (low, min(max(high, most), 1.0)), found.cases)


def estimate_square(value: float, left_out: Floats) -> ProfileEstimate:
    """Return the estimate of a mean square with the jackknife's interval over cases.

    It is wider in both directions by as many cases as may not have been met. One case moves a mean
    square by at most twice its root, over the number of cases.

    Parameters
    ----------
    value
        The estimate from all cases, from 0 to 1 but for its error.
    left_out
        The estimate without each of the cases, shape (N,).
    """
    cases = len(left_out)
    if cases < FEW or not np.isfinite(left_out).all():
        return ProfileEstimate(value, None, cases)
    error = math.sqrt((cases - 1) / cases * float(((left_out - left_out.mean()) ** 2).sum()))
    unit = (2 * math.sqrt(max(value, 0.0)) + _FLOOR) / cases + 1 / cases**2
    low, high = limit_mean(value, error, unit, _quantile(cases))
    return ProfileEstimate(value, (max(low, 0.0), min(high, 1.0)), cases)


def _quantile(cases: int) -> float:
    return float(student.ppf((1 + LEVEL) / 2, cases - 1))
