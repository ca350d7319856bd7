"""Effects across scenarios: REML with Hartung and Knapp."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy import stats

from plenum.dynamics.meta_analysis import pool

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
