"""Planning: the number of replicates that a contrast needs, and sequential stopping."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from plenum.dynamics.fit import Floats

SPENDING = ("obrien_fleming", "pocock")

_POWER, _ALPHA = 0.8, 0.05
"""The power and the error that plans and reports demand of a test by default."""

_NODES = 200
"""Of the quadrature of paths that crossed no boundary."""

_FARTHEST = 37.0
"""Critical values of z end here, where the tail underflows."""

_MOST = 10_000_000
"""More replicates than this are no plan."""


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
    low, high = 1, 2
    while power_of(high, delta, sd, alpha) < power:
        low, high = high, 2 * high
        if high > _MOST:
            raise ValueError(f"delta: {delta}; more than {_MOST} replicates an arm would be needed")
    power_at = partial(power_of, delta=delta, sd=sd, alpha=alpha)
    fewest = bisect_left(range(high), power, low, high, key=power_at)
    return Plan(fewest, power_of(fewest, delta, sd, alpha), delta, sd, alpha)


def power_of(replicates: int, delta: float, sd: float, alpha: float = 0.05) -> float:
    """Power of the two-sided t test of Δλ with this many replicates per arm (2 or more)."""
    if replicates < 2:
        return 0.0
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

    high = float(stdtrit(df, 1 - _ALPHA / 2)) + 1.0
    while _power(high, df, _ALPHA) < _POWER:
        high *= 2
    return se * float(brentq(lambda centre: _power(centre, df, _ALPHA) - _POWER, 0.0, high))


@dataclass(frozen=True)
class Look:
    """An interim look at a growing study.

    Attributes
    ----------
    number, fraction
        Which look it is, from 1, and its share of the greatest number of replicates.
    alpha_spent
        Error spent up to and with this look.
    critical
        The Student's t quantile of this look.
    ci_low, ci_high, half_width
        The repeated confidence interval: all looks' intervals hold together with 95 %.
    stop, reason
        Whether to stop, and why: ``narrow``, ``exhausted`` (the greatest number is reached), or
        ``continue``.
    """

    number: int
    fraction: float
    alpha_spent: float
    critical: float
    ci_low: float
    ci_high: float
    half_width: float
    stop: bool
    reason: str


def look(
    value: float,
    se: float,
    looks: Sequence[int],
    maximum: int,
    half_width: float,
    *,
    alpha: float = 0.05,
    spending: str = "obrien_fleming",
) -> Look:
    """Decide whether the interval of λ̂ is narrow enough to stop, at a cost for looking.

    Every look spends a part of alpha (Lan and DeMets 1983), and its interval is as wide as that
    part demands, so that one may look, and stop at any look, without losing coverage.

    Parameters
    ----------
    value, se
        λ̂ (or a contrast) and its jackknife standard error at the last of ``looks``.
    looks
        Replicates at every look so far, increasing, this one last.
    maximum
        The greatest number of replicates.
    half_width
        Stop when the interval's half width is at most this.
    alpha, spending
        The error of all looks together, and the function that spends it: ``obrien_fleming``
        (little early) or ``pocock`` (evenly).

    Raises
    ------
    ValueError
        Looks don't increase, begin below 3 or exceed the maximum; alpha, the half width or the
        spending function is malformed.
    """
    counts = list(looks)
    if not counts or counts[0] < 3 or any(b <= a for a, b in pairwise(counts)):
        raise ValueError(f"looks: {counts}; replicates at each look, increasing, from 3 on")
    if counts[-1] > maximum:
        raise ValueError(f"looks: {counts}; the greatest number is {maximum}")
    if not half_width > 0:
        raise ValueError(f"half_width: {half_width}; above 0")
    fractions = np.array(counts) / maximum
    bounds = boundaries(fractions, alpha, spending)
    nominal = 2 * float(ndtr(-min(bounds[-1], _FARTHEST)))
    critical = float(-stdtrit(counts[-1] - 1, nominal / 2))
    half = critical * se
    narrow, done = half <= half_width, counts[-1] == maximum
    return Look(
        number=len(counts),
        fraction=float(fractions[-1]),
        alpha_spent=spent(float(fractions[-1]), alpha, spending),
        critical=critical,
        ci_low=value - half,
        ci_high=value + half,
        half_width=half,
        stop=narrow or done,
        reason="narrow" if narrow else "exhausted" if done else "continue",
    )


def spent(fraction: float, alpha: float = 0.05, spending: str = "obrien_fleming") -> float:
    """Return the part of alpha that may be spent up to an information fraction from 0 to 1.

    4 - 4 Φ(z_{α/4} / √t), half of it on either side, or α log(1 + (e - 1) t) (Lan & DeMets 1983).
    """
    if spending not in SPENDING:
        raise ValueError(f"spending {spending!r}: one of {', '.join(SPENDING)}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha: {alpha}; between 0 and 1")
    if not 0 <= fraction <= 1:
        raise ValueError(f"fraction: {fraction}; from 0 to 1")
    if fraction == 0:
        return 0.0
    if spending == "pocock":
        return alpha * math.log(1 + (math.e - 1) * fraction)
    return float(4 * ndtr(ndtri(alpha / 4) / math.sqrt(fraction)))


def boundaries(fractions: Floats, alpha: float = 0.05, spending: str = "obrien_fleming") -> Floats:
    """Compute the two-sided critical z of every look (Armitage, McPherson and Rowe 1969).

    The density of the standardised sum among paths that crossed no boundary is carried from look to
    look on a grid; each boundary is the point outside which the newly spent alpha lies.

    Parameters
    ----------
    fractions
        Information at every look, increasing, from above 0 to 1, shape (looks,).

    Returns
    -------
    array, shape (looks,)
    """
    bounds: list[float] = []
    grid = np.array([0.0])
    mass = np.array([1.0])
    last, used = 0.0, 0.0
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    for fraction in fractions:
        target = spent(float(fraction), alpha, spending) - used
        used += target
        step = math.sqrt(fraction - last)
        bound = _bound(grid, mass, step, target)
        bounds.append(bound / math.sqrt(fraction))
        fresh = nodes * bound
        kernel = np.exp(-(((fresh[:, None] - grid) / step) ** 2) / 2)
        density = (kernel @ mass) / (step * math.sqrt(2 * math.pi))
        grid, mass, last = fresh, density * weights * bound, float(fraction)
    return np.array(bounds)


def _bound(grid: Floats, mass: Floats, step: float, target: float) -> float:
    """Find the bound outside which the sum is with probability ``target``."""
    from scipy.optimize import brentq

    def outside(bound: float) -> float:
        tails = ndtr((grid - bound) / step) + ndtr((-bound - grid) / step)
        return float(mass @ tails) - target

    return float(brentq(outside, 0.0, np.abs(grid).max() + 40 * step, xtol=1e-12))
