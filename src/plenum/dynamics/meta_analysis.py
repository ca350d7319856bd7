"""Effects across scenarios: random-effects means, and a mixed model on pseudo-values."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from plenum.dynamics.estimate import Estimate, make_estimate
from plenum.dynamics.fit import WINDOW, Floats, fit_distances

FEW = 5
"""Below this many scenarios a pooled effect has the warning ``few_scenarios``."""

EFFECTS = ("roles", "mixed", "roles x mixed")
"""The effects of the mixed model."""


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
    kept = np.isfinite(y) & np.isfinite(se) & (se > 0)
    y, v = y[kept], se[kept] ** 2
    count = len(y)
    if count < 2:
        return PooledMean(n=count)
    tau2 = _reml(y, v)
    mean, weights = _mean(y, v, tau2)
    spread = float((weights * (y - mean) ** 2).sum()) / (count - 1)
    error = math.sqrt(max(spread, 1.0) / weights.sum())
    result = make_estimate(mean, error, count - 1, count, "REML, Hartung-Knapp")
    fixed, inverse = _mean(y, v, 0.0)
    q = float((inverse * (y - fixed) ** 2).sum())
    typical = (count - 1) * inverse.sum() / (inverse.sum() ** 2 - (inverse**2).sum())
    from scipy.special import chdtrc, stdtrit

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


@dataclass(frozen=True)
class MixedModel:
    """The mixed model of a 2x2 over scenarios.

    Attributes
    ----------
    effects
        Under the names of `EFFECTS`: averages over the other factor, and the interaction; t with
        scenarios - 1 degrees of freedom.
    tau
        Standard deviations of the scenarios' intercepts and slopes, under ``mean`` and the names
        of `EFFECTS`.
    converged
        True if the likelihood's maximum was found.
    scenarios, values
        Numbers of scenarios and of pseudo-values.
    """

    effects: dict[str, Estimate]
    tau: dict[str, float]
    converged: bool
    scenarios: int
    values: int

    @property
    def warnings(self) -> tuple[str, ...]:
        """``few_scenarios`` below five, ``not_converged``."""
        few = ("few_scenarios",) if self.scenarios < FEW else ()
        return few if self.converged else (*few, "not_converged")


def fit_mixed_model(
    cells: Sequence[tuple[str, bool, bool, ArrayLike]], window: tuple[int, int] = WINDOW
) -> MixedModel:
    """Roles, mixed and their product, with random slopes over scenarios.

    The values are jackknife pseudo-values R λ̂ - (R - 1) λ̂₋ᵣ, one a replicate. Factors are coded
    -½ and ½. Intercept and slopes are independent between scenarios; without random slopes the
    intervals would be too narrow (85 % instead of 95 % coverage).

    Parameters
    ----------
    cells
        (scenario, roles on, model mixed, ensemble (R, T, K)). Cells without λ̂, or whose
        pseudo-values don't exist, are left out, and so are scenarios that don't have all four.
    window
        First and last round of the fit, counted from 1.

    Raises
    ------
    ValueError
        Fewer than two scenarios have all four cells.
    """
    scenario, roles, mixed, values = _long(cells, window)
    names = np.unique(scenario)
    if len(names) < 2:
        raise ValueError("a mixed model needs two scenarios with all four cells")
    design = np.column_stack([np.ones(len(values)), roles, mixed, roles * mixed])
    model, tau, converged = _fit(values, design, scenario)
    df = len(names) - 1
    effects = {
        name: make_estimate(beta, error, df, len(names), "mixed model on pseudo-values")
        for name, (beta, error) in zip(EFFECTS, model[1:], strict=True)
    }
    spreads = dict(zip(("mean", *EFFECTS), tau, strict=True))
    return MixedModel(effects, spreads, converged, len(names), len(values))


def _long(
    cells: Sequence[tuple[str, bool, bool, ArrayLike]], window: tuple[int, int]
) -> tuple[np.ndarray, Floats, Floats, Floats]:
    """Scenario, roles, mixed and pseudo-value of every replicate of the complete scenarios."""
    squares: dict[str, dict[tuple[bool, bool], list[Floats]]] = {}
    for scenario, roles, mixed, ensemble in cells:
        values = fit_distances(ensemble, window).pseudo_values
        if len(values) > 2 and np.isfinite(values).all():
            squares.setdefault(scenario, {}).setdefault((roles, mixed), []).append(values)
    rows = [
        (scenario, roles - 0.5, mixed - 0.5, value)
        for scenario, square in squares.items()
        if len(square) == 4
        for (roles, mixed), parts in square.items()
        for value in np.concatenate(parts)
    ]
    names = np.array([row[0] for row in rows])
    numbers = np.array([row[1:] for row in rows]).reshape(-1, 3)
    return names, numbers[:, 0], numbers[:, 1], numbers[:, 2]


def _fit(
    values: Floats, design: Floats, groups: np.ndarray
) -> tuple[list[tuple[float, float]], list[float], bool]:
    """Fit the mixed model: fixed effects with standard errors, random deviations, convergence.

    Powell's method, since gradients mislead at variances of zero: there the others stop at
    likelihoods that are not the greatest, and call it convergence.
    """
    from statsmodels.regression.mixed_linear_model import MixedLM, VCSpec

    designs = [design[groups == name] for name in np.unique(groups)]
    terms = range(design.shape[1])
    spread = VCSpec(
        [str(term) for term in terms],
        [[[str(term)]] * len(designs) for term in terms],
        [[rows[:, [term]] for rows in designs] for term in terms],
    )
    scale = values.std() or 1.0
    nan = float("nan")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = MixedLM(values / scale, design, groups, exog_vc=spread)
            result = model.fit(reml=True, method="powell")
        except np.linalg.LinAlgError:  # values without any noise
            return [(nan, nan)] * len(terms), [nan] * len(terms), False
    fixed = [
        (float(beta * scale), float(error * scale))
        for beta, error in zip(result.fe_params, result.bse_fe, strict=True)
    ]
    return fixed, [float(s) for s in np.sqrt(result.vcomp) * scale], bool(result.converged)


def _reml(y: Floats, v: Floats) -> float:
    """Find the variance between scenarios that maximises the restricted likelihood."""
    from scipy.optimize import minimize_scalar

    def loss(tau2: float) -> float:
        mean, weights = _mean(y, v, tau2)
        squares = (weights * (y - mean) ** 2).sum()
        return float(np.log(v + tau2).sum() + np.log(weights.sum()) + squares) / 2

    top = max(float(np.var(y, ddof=1)) * 10, float(v.max()) * 1e-3)
    grid = np.concatenate([[0.0], np.geomspace(top * 1e-8, top, 60)])
    best = int(np.argmin([loss(t) for t in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    fine = {"xatol": 1e-9 * high}
    result = minimize_scalar(loss, bounds=(low, high), method="bounded", options=fine)
    return float(result.x) if result.fun < loss(0.0) else 0.0


def _mean(y: Floats, v: Floats, tau2: float) -> tuple[float, Floats]:
    weights = 1 / (v + tau2)
    return float((weights * y).sum() / weights.sum()), weights
