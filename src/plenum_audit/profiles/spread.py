"""Spread of what runs cost: how much two runs of a case differ."""

import numpy as np

from plenum.dynamics import Floats
from plenum_audit.profiles.profile_estimate import ProfileEstimate
from plenum_audit.suites import Codes, estimate_mean_of_cases


def estimate_spread(case: Codes, spent: Floats) -> ProfileEstimate:
    """Estimate by how much two runs of a case differ in cost, relative to their mean.

    The mean over pairs of runs of a case, which is unbiased, and then over cases. Half of it lies
    from 0 to 1, so that the interval is that of other means over cases.

    Parameters
    ----------
    case
        Number of each run's case, shape (runs,).
    spent
        What each run cost, at least 0, in any unit, shape (runs,).

    Returns
    -------
    ProfileEstimate
        From 0 for equal runs to 2.

    Examples
    --------
    >>> estimate_spread(np.array([0, 0, 1, 1]), np.array([2.0, 2.0, 1.0, 3.0])).value
    0.5
    """
    halves = [_apart(spent[case == number]) for number in np.unique(case)]
    values = np.array([each for each in halves if each is not None])
    return ProfileEstimate.of_suite(estimate_mean_of_cases(values).scale(2))


def _apart(spent: Floats) -> float | None:
    """Return the mean of |x - y| / (x + y) over pairs; ``None`` of one run."""
    if len(spent) < 2:
        return None
    one, other = np.triu_indices(len(spent), 1)
    sums = spent[one] + spent[other]
    apart = np.abs(spent[one] - spent[other])
    return float(np.divide(apart, sums, out=np.zeros(len(sums)), where=sums > 0).mean())
