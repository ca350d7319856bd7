"""Tests of no growth: random time reversal, and the papers' shuffle."""

import itertools
import statistics

import exact_processes
import generators
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from slow_dynamics import Window, slow_slope, walks

from plenum.dynamics import nulls
from plenum.dynamics.divergence import sort_replicates
from plenum.dynamics.nulls import reversal_test, shuffle_test

Ensemble = NDArray[np.float64]


def signs_of(replicates: int, draws: int, seed: int) -> NDArray[np.float64]:
    """Forward (1) or backward (-1), shape (draws, replicates)."""
    blocks = nulls._signs(replicates, draws, seed, np.dtype(np.float64))
    return np.concatenate([signs.T for signs, _ in blocks])


def centred(ensemble: Ensemble, window: Window, centre: str = "median") -> Ensemble:
    """The window, less its centre over replicates in each round, option by option."""
    points = ensemble[:, window[0] - 1 : window[1]]
    middle = statistics.median if centre == "median" else statistics.fmean
    found = points.copy()
    for t in range(points.shape[1]):
        for k in range(points.shape[2]):
            found[:, t, k] -= middle(points[:, t, k].tolist())
    return found


def reversed_slope(points: Ensemble, signs: NDArray[np.float64], first: int) -> float:
    """λ̂ of the window with some replicates run backwards."""
    turned = np.array([y if s > 0 else y[::-1] for y, s in zip(points, signs, strict=True)])
    whole = np.concatenate([np.zeros((len(points), first - 1, points.shape[2])), turned], axis=1)
    return slow_slope(whole, (first, whole.shape[1]))


# --- reversal ----------------------------------------------------------------------------------


@settings(max_examples=40)
@given(
    st.integers(2, 7),
    st.integers(2, 6),
    st.sampled_from([(3, 20), (3, 19), (1, 2), (4, 6), (9, 30)]),
    st.sampled_from(["median", "mean"]),
)
def test_null_values_are_estimates_of_reversed_replicates(
    replicates: int, options: int, window: Window, centre: str
) -> None:
    ensemble = walks(replicates, options, seed=options)
    ensemble += np.linspace(0, 0.3, 20)[:, None] * np.arange(options)  # a common drift
    found = reversal_test(ensemble, window, draws=10, seed=3, centre=centre)
    points = centred(sort_replicates(ensemble), window, centre)
    slow = [reversed_slope(points, row, window[0]) for row in signs_of(replicates, 10, 3)]
    assert_allclose(found.null, slow, rtol=0, atol=1e-9)
    assert_allclose(found.value, slow_slope(ensemble, window), atol=1e-10)
    assert found.method == "reversal"


def test_rounds_that_are_zero_however_they_are_reversed_are_left_out() -> None:
    ensemble = walks(5, 3, seed=2)
    ensemble[:, [4, 17]] = ensemble[0, 4]  # rounds 5 and 18 mirror each other in 3 to 20
    found = reversal_test(ensemble, draws=20)
    points = centred(sort_replicates(ensemble), (3, 20))
    slow = [reversed_slope(points, row, 3) for row in signs_of(5, 20, 0)]
    assert_allclose(found.null, slow, rtol=0, atol=1e-9)


def test_p_counts_the_null_values_that_are_as_far_from_zero() -> None:
    ensemble = generators.autoregressive(0.5).sample(9, seed=4)
    found = reversal_test(ensemble, draws=200)
    points = centred(sort_replicates(ensemble), (3, 20))
    slow = np.array([reversed_slope(points, row, 3) for row in signs_of(9, 200, 0)])
    beyond = (np.abs(slow) >= abs(slow_slope(ensemble)) - 1e-9).sum()
    assert found.p == (1 + beyond) / 201
    assert 0.02 < found.p < 0.98


@pytest.mark.parametrize("replicates", [2, 3, 4, 5])
def test_p_of_few_replicates_is_that_of_all_reversals(replicates: int) -> None:
    ensemble = generators.committee(1.2).sample(replicates, seed=1)
    points, value = centred(ensemble, (3, 20)), abs(slow_slope(ensemble))
    every = itertools.product([1, -1], repeat=replicates)
    null = [abs(reversed_slope(points, np.array(signs), 3)) for signs in every]
    exact = np.mean([v >= value - 1e-9 for v in null])
    assert exact >= 2 / 2**replicates  # as it is, and all reversed
    assert_allclose(reversal_test(ensemble, draws=4000).p, exact, atol=0.03)


def test_growth_is_found_and_a_mirrored_window_is_none() -> None:
    growing = exact_processes.oracle(0.1).sample(12)
    assert reversal_test(growing, draws=999).p < 0.01
    assert reversal_test(growing[:, ::-1], (1, 20), draws=999).p < 0.01
    half = walks(6, 3, seed=1)[:, :9]
    mirrored = np.concatenate([half, half[:, ::-1]], axis=1)
    assert reversal_test(mirrored, (1, 18), draws=99).p == 1


@pytest.mark.parametrize(
    "process",
    [generators.autoregressive(0.5), generators.random_walk(), generators.committee()],
    ids=lambda process: process.name,
)
def test_float32_agrees_with_float64(process: generators.Process) -> None:
    ensemble = process.sample(20, seed=5)
    single, double = (
        reversal_test(ensemble, draws=400, dtype=dtype) for dtype in (np.float32, np.float64)
    )
    assert_allclose(single.null, double.null, rtol=0, atol=1e-6)
    assert_allclose(single.p, double.p, atol=2 / 401)


@pytest.mark.slow
def test_many_replicates_go_in_blocks() -> None:
    ensemble = generators.random_walk().sample(120, seed=1)
    found = reversal_test(ensemble, draws=600)  # 600 · 7140 pairs: two blocks
    assert len(found.null) == 600
    signs = signs_of(120, 600, 0)
    points = centred(sort_replicates(ensemble), (3, 20))
    for draw in (0, 559, 560, 599):
        assert_allclose(found.null[draw], reversed_slope(points, signs[draw], 3), atol=1e-9)
    assert len(np.unique(signs, axis=0)) == 600


# --- shuffling ---------------------------------------------------------------------------------


def test_shuffling_permutes_the_rounds_of_each_replicate_by_itself() -> None:
    ensemble = walks(3, 3, seed=8, rounds=6)
    points = ensemble[:, 2:5]
    orders = list(itertools.permutations(range(3)))
    null = []
    for choice in itertools.product(orders, repeat=3):
        moved = np.array([y[list(order)] for y, order in zip(points, choice, strict=True)])
        null.append(slow_slope(moved, (1, 3)))
    found = shuffle_test(ensemble, (3, 5), draws=4000)
    nearest = np.abs(found.null[:, None] - np.array(null)[None, :]).min(axis=1)
    assert nearest.max() < 1e-9
    assert len(np.unique(found.null.round(9))) == len(np.unique(np.round(null, 9)))
    exact = np.mean(np.abs(null) >= abs(slow_slope(ensemble, (3, 5))) - 1e-9)
    assert_allclose(found.p, exact, atol=0.03)
    assert_allclose(np.quantile(found.null, [0.1, 0.9]), np.quantile(null, [0.1, 0.9]), atol=0.05)
    assert found.method == "shuffle"


# --- both --------------------------------------------------------------------------------------


@pytest.mark.parametrize("test", [reversal_test, shuffle_test])
def test_equal_seeds_give_equal_values_and_others_do_not(test: object) -> None:
    ensemble = walks(8, 3, seed=1)
    first, again, other = (test(ensemble, draws=30, seed=s) for s in (1, 1, 2))  # type: ignore[operator]
    assert first == again
    assert_allclose(first.null, again.null, rtol=0, atol=0)
    assert not np.allclose(first.null, other.null)
