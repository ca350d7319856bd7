"""The fit that every estimator reads: rounds, slopes, and sums without each replicate."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from slow_dynamics import slow_fit, slow_left_out, slow_level, walks

from plenum.dynamics.fit import (
    contrast_weights,
    fit_distances,
    jackknife_se,
    slope,
    sum_without_each,
)

levels = st.lists(st.floats(1e-6, 1e3) | st.just(0.0), min_size=2, max_size=20)


@given(levels, st.integers(1, 50))
def test_a_slope_is_that_of_least_squares_over_positive_levels(
    level: list[float], first: int
) -> None:
    rounds = np.arange(first, first + len(level), dtype=float)
    found = slope(rounds, np.array(level))
    assert_allclose(found, slow_fit(list(rounds), level), rtol=1e-7, atol=1e-9)


def test_slopes_of_many_levels_are_slopes_of_each() -> None:
    every = np.random.default_rng(1).exponential(size=(4, 3, 18))
    every[1, 2, 5] = every[0, 0, :] = every[2, 1, 1:] = 0
    found = slope(np.arange(3.0, 21), every)
    slow = [[slow_fit(range(3, 21), list(level)) for level in row] for row in every]
    assert_allclose(found, slow, atol=1e-10)
    assert np.isnan([found[0, 0], found[2, 1]]).all()


def test_weights_turn_logs_into_the_slope() -> None:
    rounds, level = np.arange(3.0, 21), np.random.default_rng(1).exponential(size=18)
    assert_allclose(contrast_weights(rounds) @ np.log(level), slope(rounds, level))
    assert_allclose(contrast_weights(rounds), (rounds - 11.5) / 484.5)


@given(st.integers(2, 8), st.integers(2, 5), st.integers(0, 1000))
def test_a_fit_holds_levels_and_leave_one_out_values(
    replicates: int, options: int, seed: int
) -> None:
    ensemble = walks(replicates, options, seed)
    found = fit_distances(ensemble)
    assert found.replicates == replicates
    assert_allclose(found.rounds, np.arange(3, 21))
    assert_allclose(found.level, slow_level(ensemble)[2:], rtol=1e-9)
    assert found.pairs.shape == (replicates * (replicates - 1) // 2, 18)
    assert_allclose(found.left_out, slow_left_out(ensemble), atol=1e-9)


def test_sums_without_each_replicate_are_exactly_zero_where_nothing_is_left() -> None:
    distances = np.zeros((4, 4, 1))
    distances[3, :3] = distances[:3, 3] = 0.1 + 0.2  # all distance is the fourth's
    assert sum_without_each(distances)[:, 0].tolist()[3] == 0
    assert_allclose(sum_without_each(distances)[:3, 0], 0.6)


def test_the_jackknife_of_means_is_their_standard_error() -> None:
    values = np.random.default_rng(1).normal(size=9)
    left_out = np.array([np.delete(values, r).mean() for r in range(9)])
    assert_allclose(jackknife_se(left_out), values.std(ddof=1) / 3)
