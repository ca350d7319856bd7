"""Effects across scenarios: REML with Hartung and Knapp, and the mixed model."""

import math

import generators
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import minimize
from slow_dynamics import slow_left_out, slow_slope, walks

from plenum.dynamics import MixedModel, fit_mixed_model, pool

Floats = NDArray[np.float64]


def restricted(y: Floats, v: Floats, tau2: float) -> float:
    """The restricted log-likelihood of a random-effects mean, by matrices."""
    covariance, ones = np.diag(v + tau2), np.ones((len(y), 1))
    inverse = np.linalg.inv(covariance)
    information = ones.T @ inverse @ ones
    mean = (ones.T @ inverse @ y) / information[0, 0]
    rest = y - mean
    return float(
        -(
            np.linalg.slogdet(covariance)[1]
            + np.linalg.slogdet(information)[1]
            + rest @ inverse @ rest
        )
        / 2
    )


def grid_maximum(y: Floats, v: Floats) -> float:
    """τ² by brute force: a grid that is refined around its best value."""
    low, high = 0.0, 4 * float(np.var(y))
    for _ in range(12):
        grid = np.linspace(low, high, 41)
        best = int(np.argmax([restricted(y, v, t) for t in grid]))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, 40)]
    return (low + high) / 2


# --- random-effects mean -----------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=25)
@given(
    st.integers(2, 12),
    st.integers(0, 10_000),
    st.sampled_from([0.0, 0.5, 3.0]),
    st.sampled_from([1.0, 0.01]),  # the second is that of λ̂
)
def test_the_mean_is_that_of_the_restricted_likelihood(
    n: int, seed: int, spread: float, scale: float
) -> None:
    rng = np.random.default_rng(seed)
    se = scale * rng.uniform(0.3, 2, n)
    y = scale * (1 + spread * rng.normal(size=n)) + se * rng.normal(size=n)
    tau2 = grid_maximum(y, se**2)
    found = pool(y, se)
    assert_allclose(found.tau**2, tau2, atol=1e-5 * (scale**2 + tau2))
    weights = 1 / (se**2 + tau2)
    mean = (weights * y).sum() / weights.sum()
    q = (weights * (y - mean) ** 2).sum() / (n - 1)
    error = math.sqrt(max(q, 1) / weights.sum())
    half = stats.t(n - 1).ppf(0.975) * error
    assert_allclose([found.value, found.se], [mean, error], rtol=1e-4, atol=1e-6 * scale)
    assert_allclose([found.ci_low, found.ci_high], [mean - half, mean + half], rtol=1e-3)
    assert_allclose(found.p, 2 * stats.t(n - 1).sf(abs(mean) / error), rtol=1e-3)
    assert (found.df, found.n) == (n - 1, n)


def test_equal_errors_have_a_closed_form() -> None:
    y, v = np.array([0.1, 0.5, 0.2, 0.9, 0.4]), 0.02
    found = pool(y, np.full(5, math.sqrt(v)))
    assert_allclose(found.tau**2, y.var(ddof=1) - v, rtol=1e-5)
    assert_allclose([found.value, found.se], [y.mean(), y.std(ddof=1) / math.sqrt(5)], rtol=1e-6)
    q = ((y - y.mean()) ** 2).sum() / v
    assert_allclose([found.q, found.q_p], [q, stats.chi2(4).sf(q)], rtol=1e-9)
    assert_allclose(found.i2, found.tau**2 / (found.tau**2 + v), rtol=1e-9)
    wide = stats.t(3).ppf(0.975) * math.sqrt(found.tau**2 + found.se**2)
    assert_allclose(found.prediction_low, y.mean() - wide, rtol=1e-6)
    assert_allclose(found.prediction_high, y.mean() + wide, rtol=1e-6)


def test_effects_that_agree_have_no_variance_between_scenarios() -> None:
    found = pool([0.1, 0.11, 0.09], [0.2, 0.2, 0.2])
    assert (found.tau, found.i2) == (0, 0)
    assert_allclose(found.se, 0.2 / math.sqrt(3))  # not below the model's own
    assert pool([0.1, 0.1, 0.1], [0.2, 0.1, 0.3]).tau == 0


def test_scenarios_without_an_effect_or_an_error_are_left_out() -> None:
    found = pool([0.1, np.nan, 0.3, 0.2, 0.9], [0.1, 0.1, 0.2, np.nan, 0.0])
    kept = pool([0.1, 0.3], [0.1, 0.2])
    assert found.n == 2
    assert_allclose([found.value, found.se, found.q], [kept.value, kept.se, kept.q])
    assert math.isnan(found.prediction_low)


@pytest.mark.parametrize(("scenarios", "warned"), [(2, True), (4, True), (5, False)])
def test_few_scenarios_are_warned_of(scenarios: int, warned: bool) -> None:
    found = pool(np.linspace(0, 1, scenarios), np.full(scenarios, 0.1))
    assert ("few_scenarios" in found.warnings) == warned
    model = fit_mixed_model(square(scenarios, 4, 0.1, (0.1, 0.0, 0.0)))
    assert ("few_scenarios" in model.warnings) == warned
    assert ("not_converged" in model.warnings) == (not model.converged)


# --- mixed model -------------------------------------------------------------------------------


Cell = tuple[str, bool, bool, Floats]


def square(
    scenarios: int, replicates: int, spread: float, effects: tuple[float, float, float]
) -> list[Cell]:
    """All four cells of some scenarios: λ differs by roles, mixed, and both."""
    rng = np.random.default_rng(5)
    cells = []
    for s in range(scenarios):
        own = np.array(effects) + spread * rng.normal(size=3)
        for a in (False, True):
            for b in (False, True):
                rate = own @ [a, b, a and b]
                seed = int(rng.integers(1_000_000))
                ensemble = generators.autoregressive(0.2, float(rate)).sample(replicates, seed)
                cells.append((f"s{s}", a, b, ensemble))
    return cells


def pseudo_means(cells: list[Cell]) -> dict[tuple[str, bool, bool], float]:
    """The mean pseudo-value of every cell."""
    found = {}
    for scenario, a, b, ensemble in cells:
        n = len(ensemble)
        values = n * slow_slope(ensemble) - (n - 1) * slow_left_out(ensemble)
        found[scenario, a, b] = values.mean()
    return found


def test_a_balanced_model_averages_the_scenarios_contrasts() -> None:
    cells = square(6, 6, 0.15, (0.1, -0.05, 0.2))
    found = fit_mixed_model(cells)
    mean = pseudo_means(cells)
    contrasts = np.array(
        [
            (
                (mean[s, True, False] + mean[s, True, True]) / 2
                - (mean[s, False, False] + mean[s, False, True]) / 2,
                (mean[s, False, True] + mean[s, True, True]) / 2
                - (mean[s, False, False] + mean[s, True, False]) / 2,
                mean[s, True, True] - mean[s, True, False] - mean[s, False, True]
                + mean[s, False, False],
            )
            for s in (f"s{i}" for i in range(6))
        ]
    )  # fmt: skip
    values = [effect.value for effect in found.effects.values()]
    errors = [effect.se for effect in found.effects.values()]
    assert list(found.effects) == ["roles", "mixed", "roles x mixed"]
    assert_allclose(values, contrasts.mean(axis=0), rtol=1e-4, atol=1e-5)
    assert_allclose(errors, contrasts.std(axis=0, ddof=1) / math.sqrt(6), rtol=0.02)
    for effect in found.effects.values():
        half = stats.t(5).ppf(0.975) * effect.se
        assert_allclose([effect.ci_low, effect.ci_high], [effect.value - half, effect.value + half])
        assert_allclose(effect.p, 2 * stats.t(5).sf(abs(effect.value) / effect.se), rtol=1e-9)
        assert (effect.df, effect.n) == (5, 6)
    assert (found.scenarios, found.values) == (6, 6 * 4 * 6)
    assert found.converged


def test_the_spread_of_the_slopes_is_found() -> None:
    found = fit_mixed_model(square(12, 8, 0.2, (0.1, 0.0, 0.0)))
    assert list(found.tau) == ["mean", "roles", "mixed", "roles x mixed"]
    # roles' slope is a + ½ c of each scenario's own effects a, b, c
    assert_allclose(found.tau["roles"], 0.2 * math.sqrt(1.25), rtol=0.5)
    assert_allclose(found.tau["roles x mixed"], 0.2, rtol=0.5)


def test_scenarios_that_are_not_whole_are_left_out() -> None:
    cells = square(4, 5, 0.1, (0.1, 0.0, 0.0))
    extra = [("half", True, True, walks(5, 3, seed=1)), ("half", True, False, walks(5, 3, seed=2))]
    few = [("few", a, b, walks(2, 3, seed=3)) for a in (True, False) for b in (True, False)]
    still = [
        ("still", a, b, np.repeat(walks(1, 3, seed=3), 5, axis=0))
        for a in (True, False)
        for b in (True, False)
    ]
    found = fit_mixed_model([*cells, *extra, *few, *still])
    assert isinstance(found, MixedModel)
    assert (found.scenarios, found.values) == (4, 80)
    assert found.effects == fit_mixed_model(cells).effects


def mixed_loss(
    theta: Floats, groups: NDArray[np.str_], design: Floats, values: Floats
) -> tuple[float, Floats]:
    """Minus the restricted log-likelihood of the mixed model, and the fixed effects' errors."""
    noise, spread = np.exp(theta[0]), np.exp(theta[1:])
    information, score, rest, logs = np.zeros((4, 4)), np.zeros(4), 0.0, 0.0
    for name in np.unique(groups):
        own, y = design[groups == name], values[groups == name]
        covariance = noise * np.eye(len(y)) + (own * spread) @ own.T
        inverse = np.linalg.inv(covariance)
        information += own.T @ inverse @ own
        score += own.T @ inverse @ y
        rest += y @ inverse @ y
        logs += np.linalg.slogdet(covariance)[1]
    beta = np.linalg.solve(information, score)
    whole = logs + np.linalg.slogdet(information)[1] + rest - score @ beta
    return float(whole / 2), np.sqrt(np.diag(np.linalg.inv(information)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_mixed_models_errors_are_those_of_the_greatest_likelihood(seed: int) -> None:
    # Slopes that don't vary: gradient methods stop at other likelihoods here, and say that they
    # have converged.
    rng = np.random.default_rng(seed)
    cells = [
        (f"S{s}", on, mixed, walks(8, 3, seed=int(rng.integers(1 << 30))))
        for s in range(6)
        for on in (True, False)
        for mixed in (True, False)
    ]
    rows = [
        (name, on - 0.5, mixed - 0.5, 8 * slow_slope(e) - 7 * left_out)
        for name, on, mixed, e in cells
        for left_out in slow_left_out(e)
    ]
    groups = np.array([row[0] for row in rows])
    numbers = np.array([row[1:] for row in rows])
    ones = np.ones(len(rows))
    design = np.column_stack([ones, numbers[:, 0], numbers[:, 1], numbers[:, 0] * numbers[:, 1]])
    scale = numbers[:, 2].std()
    starts = [np.array([0.0, *[start] * 4]) for start in (-2.0, -5.0, -9.0)]
    found = [
        minimize(
            lambda theta: mixed_loss(theta, groups, design, numbers[:, 2] / scale)[0],
            start,
            method="L-BFGS-B",
            bounds=[(-12, 5)] * 5,
        )
        for start in starts
    ]
    best = min(found, key=lambda result: float(result.fun))
    errors = mixed_loss(best.x, groups, design, numbers[:, 2] / scale)[1] * scale
    model = fit_mixed_model(cells)
    assert_allclose([e.se for e in model.effects.values()], errors[1:], rtol=0.02)


def test_a_mixed_model_of_one_scenario_is_refused() -> None:
    with pytest.raises(ValueError, match="two scenarios"):
        fit_mixed_model(square(1, 4, 0.1, (0.0, 0.0, 0.0)))
