"""The two-lines test: a rise and a fall, and not just a bend."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from statsmodels.regression.linear_model import OLS

from plenum_worlds.dynamics.smoothing import spline
from plenum_worlds.dynamics.two_lines import TwoLines, fit_two_lines

Floats = NDArray[np.float64]


def sample(
    curve: Callable[[Floats], Floats], seed: int = 0, n: int = 200, sd: float = 0.3
) -> tuple[Floats, Floats]:
    """Noisy points of a curve over x from 0 to 1."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, n)
    return x, curve(x) + rng.normal(0, sd, n)


def hill(x: Floats) -> Floats:
    """A rise and a fall, with its top at 0.4."""
    return -6 * (x - 0.4) ** 2


def bend(x: Floats) -> Floats:
    """A rise that flattens: a logarithm."""
    return np.log(0.02 + x)


# --- what it finds -----------------------------------------------------------------------------


def test_an_inverted_u_is_found_with_its_two_slopes() -> None:
    found = fit_two_lines(*sample(hill))
    assert found.inverted_u
    assert found.slope_low > 0 > found.slope_high
    assert max(found.p_low, found.p_high) < 0.001
    assert 0.25 < found.breakpoint < 0.55
    assert (found.n, found.n_groups, found.warnings) == (200, 200, ())


def test_a_rise_that_flattens_is_no_inverted_u() -> None:
    found = [fit_two_lines(*sample(bend, seed)) for seed in range(25)]
    assert np.mean([f.inverted_u for f in found]) < 0.1


@pytest.mark.slow
def test_groups_that_differ_are_no_evidence_though_their_points_are_many() -> None:
    # Every group has one x and one level: 400 points, but a handful of draws.
    wrong = right = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        member = np.repeat(np.arange(12), 40)
        x = rng.uniform(0, 1, 12)[member] + rng.normal(0, 0.01, 480)
        y = rng.normal(0, 1, 12)[member] + rng.normal(0, 0.1, 480)
        wrong += fit_two_lines(x, y).inverted_u
        right += fit_two_lines(x, y, member).inverted_u
    assert wrong > 6
    assert right <= 1


def test_the_curve_lies_within_two_standard_errors_of_the_truth_about_95_percent_of_the_time() -> (
    None
):
    inside = []
    for seed in range(25):
        x, y = sample(lambda x: np.sin(4 * x), seed, 120)
        level, error = spline(x, y)
        inside.append(np.abs(level - np.sin(4 * x)) < 2 * error)
    assert 0.92 < np.mean(inside) < 0.99


# --- slopes and standard errors ----------------------------------------------------------------


def refit(found: TwoLines, x: Floats, y: Floats, side: NDArray[np.bool_]) -> OLS:
    """The side's line by statsmodels."""
    return OLS(y[side], np.column_stack([np.ones(side.sum()), x[side]]))


def test_without_groups_standard_errors_are_hc3() -> None:
    x, y = sample(hill)
    found = fit_two_lines(x, y * (1 + x))
    for side, slope, se, p in (
        (x <= found.breakpoint, found.slope_low, found.se_low, found.p_low),
        (x >= found.breakpoint, found.slope_high, found.se_high, found.p_high),
    ):
        line = refit(found, x, y * (1 + x), side).fit(cov_type="HC3", use_t=True)
        assert_allclose([slope, se, p], [line.params[1], line.bse[1], line.pvalues[1]], rtol=1e-7)


def test_with_groups_standard_errors_are_of_the_delete_one_group_jackknife() -> None:
    x, y = sample(hill)
    member = np.array([f"episode {i % 13}" for i in range(len(x))])
    y = y + np.random.default_rng(3).normal(0, 0.4, 13)[np.arange(len(x)) % 13]
    found = fit_two_lines(x, y, member)
    side = x <= found.breakpoint
    names = np.unique(member[side])
    left_out = [refit(found, x, y, side & (member != name)).fit().params[1] for name in names]
    factor = (len(names) - 1) / len(names)
    expected = np.sqrt(factor * np.sum((np.array(left_out) - found.slope_low) ** 2))
    assert_allclose(found.se_low, expected, rtol=1e-8)
    assert found.n_groups == 13


def test_the_weaker_side_gets_more_points() -> None:
    # A long steep rise and a short gentle fall: halfway through the flat region would starve it.
    x, y = sample(lambda x: np.where(x < 0.75, 4 * x, 3 - 3 * (x - 0.75)), sd=0.4)
    assert fit_two_lines(x, y).breakpoint < 0.74


# --- the smooth curve --------------------------------------------------------------------------


def test_a_line_is_fitted_as_a_line() -> None:
    x, _ = sample(hill)
    level, error = spline(x, 2 - 3 * x)
    assert_allclose(level, 2 - 3 * x, atol=1e-5)
    assert error.max() < 1e-5


# --- what it can't tell ------------------------------------------------------------------------


def test_pairs_that_are_not_finite_are_left_out() -> None:
    x, y = sample(hill)
    y2 = np.r_[y, np.nan, 3.0]
    found = fit_two_lines(np.r_[x, 0.5, np.inf], y2)
    assert found.warnings == ("dropped_nan",)
    assert_allclose(found.slope_low, fit_two_lines(x, y).slope_low)
    assert found.n == 200


@pytest.mark.parametrize(
    ("x", "told"),
    [([1.0] * 40, "constant_x"), ([1.0, 2.0, 3.0, 4.0] * 10, "few_values"), ([], "few_groups")],
)
def test_too_few_values_of_x_give_no_lines(x: list[float], told: str) -> None:
    found = fit_two_lines(x, np.arange(len(x), dtype=float))
    assert told in found.warnings
    assert np.isnan([found.breakpoint, found.p_low, found.p_high]).all()
    assert not found.inverted_u


def test_few_points_and_few_groups_carry_warnings() -> None:
    x, y = sample(hill, n=14)
    found = fit_two_lines(x, y, np.arange(14) % 4)
    assert set(found.warnings) == {"few_groups", "few_low", "few_high"}


def test_one_group_has_slopes_but_no_significance() -> None:
    x, y = sample(hill)
    found = fit_two_lines(x, y, np.zeros(len(x)))
    assert np.isfinite([found.slope_low, found.slope_high]).all()
    assert np.isnan([found.p_low, found.p_high]).all()
    assert not found.inverted_u


def test_a_constant_result_has_no_slope() -> None:
    x, _ = sample(hill)
    found = fit_two_lines(x, np.full(len(x), 0.9))
    assert (found.slope_low, found.p_low, found.slope_high, found.p_high) == (0, 1, 0, 1)


def test_few_discrete_values_are_enough_for_two_lines() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 5, 300).astype(float)
    found = fit_two_lines(x, -((x - 2) ** 2) + rng.normal(0, 1, 300))
    assert found.inverted_u
    assert found.breakpoint == 2
