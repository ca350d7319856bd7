"""The theoretical model: its simulation, its closed forms, and that noise never helps."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from plenum_worlds.dynamics.theory.exact_results import (
    check_monotonicity,
    compute_expected,
    is_stable,
)
from plenum_worlds.dynamics.theory.grid import ParameterGrid
from plenum_worlds.dynamics.theory.model import draw, simulate, simulate_plainly

SMALL = ParameterGrid((0.1, 0.7), (0.05, 0.6), (0.0, 0.1, 0.9), (1, 2, 7), (0.0, 0.2, 1.0))


# --- the simulation ----------------------------------------------------------------------------


@pytest.mark.parametrize("spread", [0.0, 1.5])
def test_the_grid_gives_what_the_equation_gives(spread: float) -> None:
    slow = simulate_plainly(SMALL, 30, 3, 8, spread=spread)
    fast = simulate(SMALL, 30, 3, 8, spread=spread, dtype=np.float64)
    assert_allclose(fast.dopt_runs, slow.dopt_runs, atol=1e-12)
    assert_allclose(fast.dbar_runs, slow.dbar_runs, atol=1e-12)
    assert_allclose(simulate(SMALL, 30, 3, 8, spread=spread).dopt, slow.dopt, atol=1e-5)


def test_one_agent_that_jumps_to_the_optimum_lags_by_the_last_shock() -> None:
    # γ = 1 and no noise: x(t+1) = a*(t), so that the distance is the size of the shock.
    one = ParameterGrid((0.3,), (1.0,), (1.0,), (1,), (0.0,))
    found = simulate(one, 50, 1, 3, dtype=np.float64)
    assert_allclose(found.dopt.item(), np.abs(draw(3, 0, 1, 50).size).mean())
    assert found.dbar.item() == 0


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.floats(0, 2))
def test_a_cell_has_the_same_numbers_in_every_grid(seed: int, runs: int, spread: float) -> None:
    whole = simulate(SMALL, 12, runs, seed, spread=spread)
    alone = simulate(
        replace(SMALL, alpha=(0.7,), shock_freq=(0.1,), agents=(2,), beta=(0.2,)),
        *(12, runs, seed),
        spread=spread,
    )
    assert_allclose(alone.dopt_runs[0, :, 0, 0, 0], whole.dopt_runs[1, :, 1, 1, 1], rtol=1e-5)
    assert_allclose(alone.dbar_runs[0, :, 0, 0, 0], whole.dbar_runs[1, :, 1, 1, 1], rtol=1e-5)


def test_shocks_of_a_lower_frequency_strike_at_a_higher_one_too() -> None:
    drawn = draw(1, 0, 2, 400)
    rare, often = drawn.shocks(0.05), drawn.shocks(0.4)
    assert_array_equal(often[rare != 0], rare[rare != 0])
    assert 0 < (rare != 0).sum() < (often != 0).sum() < 400
    assert np.abs(drawn.size).max() <= 1


def test_an_outcome_names_its_standard_errors() -> None:
    found = simulate(SMALL, 10, 6, 0, spread=1)
    assert found.perf.shape == SMALL.shape == (2, 2, 3, 3, 3)
    assert_allclose(found.perf, 1 - found.dopt_runs.mean(axis=-1))
    assert_allclose(found.perf_se, found.dopt_runs.std(axis=-1, ddof=1) / math.sqrt(6))
    assert_allclose(found.dbar_se, found.dbar_runs.std(axis=-1, ddof=1) / math.sqrt(6))
    assert np.isnan(simulate(SMALL, 10, 1, 0).perf_se).all()


def test_a_mirrored_run_is_the_mean_of_both_signs_of_the_noise() -> None:
    drawn = draw(2, 0, 4, 25)
    both = []
    for sign in (1, -1):
        x, optimum, far = 0.7 * drawn.start, 0.0, []
        for eps, shock in zip(sign * drawn.noise, drawn.shocks(0.3), strict=True):
            x = 0.6 * x + 0.2 * x.mean() + 0.2 * optimum + 0.5 * eps
            optimum += shock
            far.append((np.abs(x - optimum).mean(), np.abs(x - x.mean()).mean()))
        both.append(np.mean(far, axis=0))
    cell = ParameterGrid((0.2,), (0.2,), (0.3,), (4,), (0.5,))
    found = simulate(cell, 25, 1, 2, spread=0.7, antithetic=True, dtype=np.float64)
    assert_allclose([found.dopt.item(), found.dbar.item()], np.mean(both, axis=0))


# --- closed forms ------------------------------------------------------------------------------


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_means_without_shocks_are_half_normal_on_any_horizon(spread: float) -> None:
    grid = replace(SMALL, shock_freq=(0.0, 0.1), gamma=(0.0, 0.05, 0.6, 1.9), beta=(0.1, 1.0))
    found = simulate(grid, 15, 800, 6, spread=spread)
    dopt, dbar = compute_expected(grid, 15, spread)
    for mean, error, exact in (
        (found.dopt, found.perf_se, dopt),
        (found.dbar, found.dbar_se, dbar),
    ):
        there = np.isfinite(exact) & (error > 0)
        assert there.any()
        assert np.abs((mean - exact)[there] / error[there]).max() < 4.5
    assert np.isnan(dopt[:, :, 1]).all()
    assert np.isfinite(dopt[:, :, 0]).all()


def test_the_stable_region_is_open_on_both_of_its_edges() -> None:
    inside = [(0.5, 1e-9), (0.5, 1.5 - 1e-9)]
    outside = [(0.5, 0.0), (0.0, 0.0), (0.0, 2.0), (0.5, 1.5), (1.0, 1.0), (0.9, 2.5)]
    assert is_stable(*zip(*inside, strict=True)).all()
    assert not is_stable(*zip(*outside, strict=True)).any()


def test_deviations_settle_inside_the_region_and_grow_without_end_on_and_beyond_its_edge() -> None:
    # E|z| of a random walk grows as the root of time, beyond the edge exponentially.
    grid = ParameterGrid((0.5,), (1.45, 1.5, 1.55), (0.0,), (5,), (1.0,))
    mid, late = (simulate(grid, rounds, 200, 1).dbar[0, :, 0, 0, 0] for rounds in (200, 800))
    inside, edge, outside = late / mid
    assert_allclose(inside, 1, atol=0.1)
    assert_allclose(edge, 2, atol=0.2)
    assert outside > 1e6


# --- no best noise -----------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    st.floats(0, 1),
    st.floats(0, 2.5),
    st.floats(0, 1),
    st.integers(1, 6),
    st.integers(1, 30),
    st.floats(0, 2),
    st.integers(0, 10**6),
)
def test_mirrored_runs_never_gain_from_noise(
    alpha: float,
    gamma: float,
    shock_freq: float,
    agents: int,
    rounds: int,
    spread: float,
    seed: int,
) -> None:
    grid = ParameterGrid(
        (alpha,), (gamma,), (shock_freq,), (agents,), (0.0, 0.01, 0.1, 0.5, 1.0, 3.0)
    )
    found = simulate(grid, rounds, 2, seed, spread=spread, antithetic=True)
    assert (np.diff(found.dopt_runs, axis=4) >= 0).all()
    assert check_monotonicity(found).share == 1


def test_a_gain_that_is_there_would_be_found() -> None:
    honest = simulate(SMALL, 20, 10, 2)
    better = honest.dopt_runs.copy()
    better[1, 0, 2, 1, 1] = better[1, 0, 2, 1, 0] - np.linspace(0.2, 0.4, 10)
    found = check_monotonicity(replace(honest, dopt_runs=better))
    assert_allclose(found.gain.value, 0.3)
    assert found.cell == {"alpha": 0.7, "gamma": 0.05, "shock_freq": 0.9, "agents": 2, "beta": 0.2}
    assert found.best_at_zero < found.columns
    assert found.p < 0.001


def test_columns_that_overflow_do_not_count() -> None:
    grid = replace(SMALL, gamma=(0.6, 9.0))
    found = check_monotonicity(simulate(grid, 600, 4, 1))
    assert (found.columns, found.compared) == (18, 36)
    assert np.isfinite([found.gain.value, found.p]).all()
    with pytest.raises(ValueError, match="every column of the grid overflows"):
        check_monotonicity(simulate(replace(grid, gamma=(9.0,)), 600, 4, 1, spread=1))
