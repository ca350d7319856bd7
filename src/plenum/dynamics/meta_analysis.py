"""Effects across scenarios: random-effects means."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from plenum.dynamics.estimate import Estimate, make_estimate, margin
from plenum.dynamics.fit import Floats

FEW = 5
"""Below this many scenarios a pooled effect has the warning ``few_scenarios``: how far it varies
between them is then next to unknown. Of four the 95 % limits of a standard deviation are 0.57 and
3.7 times it (chi-square with 3 degrees of freedom)."""


@dataclass(frozen=True)
class PooledMean(Estimate):
    """A random-effects mean.

    Attributes
    ----------
    tau
        Standard deviation of the true effects between scenarios (REML).
    i2
        Share of the effects' variance that lies between scenarios, from 0 to 1.
    q, q_p
        Cochran's Q and its p: whether there is any variance between scenarios.
    prediction_low, prediction_high
        95 % interval of the true effect in a scenario that wasn't run, t(n-2).
    """

    tau: float = math.nan
    i2: float = math.nan
    q: float = math.nan
    q_p: float = math.nan
    prediction_low: float = math.nan
    prediction_high: float = math.nan

    @property
    def warnings(self) -> tuple[str, ...]:
        """``few_scenarios`` below five: neither τ nor the interval is worth much then."""
        return ("few_scenarios",) if self.n < FEW else ()


def pool(effects: ArrayLike, errors: ArrayLike) -> PooledMean:
    """Random-effects mean by REML, with the interval of Hartung and Knapp.

    Parameters
    ----------
    effects, errors
        One effect a scenario and its standard error, shape (scenarios,). Effects that are NaN,
        and those without a positive standard error, are left out.

    Returns
    -------
    Pooled
        Student's t with scenarios - 1 degrees of freedom. The variance is Hartung and Knapp's,
        and never below the random-effects model's own. NaN for fewer than two scenarios.

    Raises
    ------
    ValueError
        The lengths differ.

    Examples
    --------
    A contrast in five scenarios:

    >>> import plenum
    >>> mean = plenum.pool([0.03, 0.01, 0.04, 0.02, 0.05], [0.01, 0.01, 0.02, 0.01, 0.02])
    >>> round(mean.value, 3), mean.n
    (0.024, 5)
    """
    y, se = (np.asarray(x, dtype=float) for x in (effects, errors))
    if y.shape != se.shape or y.ndim != 1:
        raise ValueError(f"one standard error an effect, not {se.shape} for {y.shape}")
    # A standard error of 0 would get all of the weight.
    kept = np.isfinite(y) & np.isfinite(se) & (se > 0)
    y, v = y[kept], se[kept] ** 2
    count = len(y)
    if count < 2:
        return PooledMean(n=count)
    tau2 = _reml(y, v)
    mean, weights = _mean(y, v, tau2)
    spread = float((weights * (y - mean) ** 2).sum()) / (count - 1)
    # Few effects that happen to agree give a factor below 1, and an interval narrower than the
    # model's own: 1 is the least (Röver, Knapp and Friede 2015).
    error = math.sqrt(max(spread, 1.0) / weights.sum())
    result = make_estimate(mean, error, count - 1, count, "REML, Hartung-Knapp")
    fixed, inverse = _mean(y, v, 0.0)
    # Cochran's Q is about a fixed effect: its weights have no τ².
    q = float((inverse * (y - fixed) ** 2).sum())
    # The variance within a typical scenario (Higgins and Thompson 2002), for I².
    typical = (count - 1) * inverse.sum() / (inverse.sum() ** 2 - (inverse**2).sum())
    from scipy.special import chdtrc, stdtrit

    # t(k - 2): τ² is estimated too (Higgins, Thompson and Spiegelhalter 2009).
    wide = float(stdtrit(count - 2, 0.975)) * math.sqrt(tau2 + error**2) if count > 2 else math.nan
    return PooledMean(
        **vars(result),
        tau=math.sqrt(tau2),
        i2=tau2 / (tau2 + float(typical)),
        q=q,
        q_p=float(chdtrc(count - 1, q)),
        prediction_low=mean - wide,
        prediction_high=mean + wide,
    )


def limit_scenarios(values: ArrayLike) -> tuple[float, float]:
    """Return the 95 % limits of a mean over scenarios for scenarios like these: Student's t.

    Parameters
    ----------
    values
        One a scenario, shape (scenarios,).

    Returns
    -------
    tuple of float
        NaN for fewer than two.

    Examples
    --------
    >>> from plenum.dynamics.meta_analysis import limit_scenarios
    >>> [round(limit, 2) for limit in limit_scenarios([0.1, 0.2, 0.3])]
    [-0.05, 0.45]
    """
    each = np.asarray(values, float)
    if len(each) < 2:
        return math.nan, math.nan
    half = margin(float(each.std(ddof=1)) / math.sqrt(len(each)), len(each) - 1)
    return float(each.mean()) - half, float(each.mean()) + half


def _reml(y: Floats, v: Floats) -> float:
    """Find the variance between scenarios that maximises the restricted likelihood."""
    from scipy.optimize import minimize_scalar

    def loss(tau2: float) -> float:
        mean, weights = _mean(y, v, tau2)
        squares = (weights * (y - mean) ** 2).sum()
        # The term log Σw is what REML adds to the likelihood: it pays for the estimated mean.
        return float(np.log(v + tau2).sum() + np.log(weights.sum()) + squares) / 2

    # The likelihood may have several maxima: a grid finds the best place, a search refines it.
    # The variance of effects is that of τ² and of their errors: τ² far beyond it is no maximum. Of
    # equal effects it is 0, and the errors keep the grid.
    top = max(float(np.var(y, ddof=1)) * 10, float(v.max()) * 1e-3)
    # 60 points over eight powers of ten: neighbours differ by a factor of 1.4, and the search below
    # goes on between them.
    grid = np.concatenate([[0.0], np.geomspace(top * 1e-8, top, 60)])
    best = int(np.argmin([loss(t) for t in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    # Relative to the upper end: τ² has the unit of squared effects, which may be any.
    fine = {"xatol": 1e-9 * high}
    result = minimize_scalar(loss, bounds=(low, high), method="bounded", options=fine)
    # A bounded search never arrives at its bound, where τ² often is.
    return float(result.x) if result.fun < loss(0.0) else 0.0


def _mean(y: Floats, v: Floats, tau2: float) -> tuple[float, Floats]:
    weights = 1 / (v + tau2)
    return float((weights * y).sum() / weights.sum()), weights
