"""Planning: the number of replicates that a contrast of growth needs."""

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import stdtrit

_POWER, _ALPHA = 0.8, 0.05
"""The power and the error that plans and reports demand of a test by default."""

_MOST = 10_000_000
"""More replicates than this are no plan. It ends the doubling for a difference next to 0."""


@dataclass(frozen=True)
class Plan:
    """The number of replicates for a contrast of two conditions.

    Attributes
    ----------
    replicates
        Per arm.
    power
        The power that they give; at least the one asked for.
    delta, sd, alpha
        What was asked for.
    """

    replicates: int
    power: float
    delta: float
    sd: float
    alpha: float


def plan_replicates(delta: float, sd: float, power: float = _POWER, alpha: float = _ALPHA) -> Plan:
    """Find the fewest replicates per arm that detect Δλ with a given power.

    Two-sided two-sample t test. λ̂'s jackknife standard error shrinks as sd / √R, with sd the
    standard deviation of the pseudo-values.

    Parameters
    ----------
    delta
        The Δλ to be found, per round; its sign does not matter.
    sd
        Of a pilot: se · √R of a λ̂, per arm.
    power, alpha
        Between 0 and 1.

    Returns
    -------
    Plan
        The replicates per arm, and the power that they give.

    Raises
    ------
    ValueError
        Δλ is zero, sd isn't positive, power or alpha isn't a probability with power > alpha, or
        more than ten million replicates would be needed.

    Examples
    --------
    A pilot of 10 replicates had a standard error of 0.012:

    >>> import plenum
    >>> plan = plenum.plan_replicates(delta=0.03, sd=0.012 * 10**0.5)
    >>> plan.replicates, round(plan.power, 2)
    (27, 0.81)
    """
    if not (math.isfinite(delta) and delta):
        raise ValueError(f"delta: {delta}; a difference that isn't zero")
    if not (math.isfinite(sd) and sd > 0):
        raise ValueError(f"sd: {sd}; above 0")
    if not 0 < alpha < power < 1:
        raise ValueError(f"power: {power}, alpha: {alpha}; 0 < alpha < power < 1")
    # Power only grows with replicates: double until it is enough, then halve the gap.
    low, high = 1, 2
    while power_of(high, delta, sd, alpha) < power:
        low, high = high, 2 * high
        if high > _MOST:
            raise ValueError(f"delta: {delta}; more than {_MOST} replicates an arm would be needed")
    power_at = partial(power_of, delta=delta, sd=sd, alpha=alpha)
    # From `low` on, which was too few; `high` was enough.
    fewest = bisect_left(range(high), power, low, high, key=power_at)
    return Plan(fewest, power_of(fewest, delta, sd, alpha), delta, sd, alpha)


def power_of(replicates: int, delta: float, sd: float, alpha: float = 0.05) -> float:
    """Power of the two-sided t test of Δλ with this many replicates per arm (2 or more)."""
    # Of one replicate an arm has no spread, and the test no degrees of freedom.
    if replicates < 2:
        return 0.0
    # The noncentrality δ / (sd √(2/R)): the difference of two means over its standard error.
    centre = abs(delta) / sd * math.sqrt(replicates / 2)
    return _power(centre, 2 * replicates - 2, alpha)


def _power(centre: float, df: float, alpha: float) -> float:
    """Power of a two-sided t test whose statistic is noncentral."""
    from scipy.stats import nct

    edge = float(stdtrit(df, 1 - alpha / 2))
    # Far from 0 the lower tail is too small for the library, and for the sum.
    lower = np.nan_to_num(nct.cdf(-edge, df, centre))
    return float(min(nct.sf(edge, df, centre) + lower, 1.0))


def find_detectable(se: float, df: float) -> float:
    """Return the smallest true effect that a two-sided t test at 0.05 finds with a power of 0.8.

    Parameters
    ----------
    se, df
        Standard error of the estimate, as realised, and its degrees of freedom.

    Returns
    -------
    float
        In the unit of ``se``; NaN without a standard error or degrees of freedom.
    """
    if not (math.isfinite(se) and se > 0 and df > 0):
        return float("nan")
    from scipy.optimize import brentq

    # A power of 0.8 is reached about 0.84 standard errors beyond the edge: a first upper end.
    high = float(stdtrit(df, 1 - _ALPHA / 2)) + 1.0
    while _power(high, df, _ALPHA) < _POWER:
        high *= 2
    return se * float(brentq(lambda centre: _power(centre, df, _ALPHA) - _POWER, 0.0, high))
