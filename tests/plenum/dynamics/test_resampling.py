"""The bootstrap of λ̂: draws, intervals, and draws that are made again."""

import math
import random

import exact_processes
import generators
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import DTypeLike, NDArray
from slow_dynamics import Window, separating, slow_slope, walks

from plenum.dynamics import pair_weights
from plenum.dynamics.divergence import sort_replicates
from plenum.dynamics.nulls import reversal_test
from plenum.dynamics.resampling import Bootstrap, bootstrap

METHODS = ("percentile", "seed_compatible")
PROCESSES = [
    generators.autoregressive(0.5),
    generators.random_walk(),
    generators.contraction(),
    generators.logistic(),
    generators.decision_flips(0.1, sd=0.01),
    exact_processes.chaotic_map(),
]


def counts_of(replicates: int, draws: int, seed: int) -> NDArray[np.int_]:
    """How often each replicate is drawn, shape (draws, replicates)."""
    return np.asarray(pair_weights.draw_counts(replicates, draws, seed, 0).T)


def resampled(ensemble: NDArray[np.float64], counts: NDArray[np.int_], window: Window) -> float:
    """λ̂ of a resampled ensemble, the copies of a replicate a distance of zero apart."""
    return slow_slope(np.repeat(ensemble, counts, axis=0), window)


# --- draws -------------------------------------------------------------------------------------


@settings(max_examples=20)
@given(st.integers(5, 9), st.integers(2, 6), st.sampled_from([(3, 20), (1, 8), (5, 30)]))
def test_draws_are_estimates_of_resampled_ensembles(
    replicates: int, options: int, window: Window
) -> None:
    ensemble = walks(replicates, options, seed=replicates)
    counts = counts_of(replicates, 12, seed=4)
    alive = (counts > 0).sum(axis=1) > 1  # the others are drawn again
    slow = [resampled(sort_replicates(ensemble), row, window) for row in counts[alive]]
    for dtype, atol in ((np.float32, 1e-6), (np.float64, 1e-10)):
        found = bootstrap(ensemble, window, draws=12, seed=4, dtype=dtype)
        assert_allclose(found.slopes[alive], slow, rtol=0, atol=atol)


def test_counts_are_those_of_a_bootstrap() -> None:
    counts = counts_of(6, 20_000, seed=1)
    assert (counts.sum(axis=1) == 6).all()
    assert_allclose(counts.mean(axis=0), 1, atol=0.04)
    assert_allclose(counts.var(axis=0), 1 - 1 / 6, atol=0.06)
    assert_allclose(np.corrcoef(counts.T)[0, 1], -1 / 5, atol=0.04)


@pytest.mark.parametrize("process", PROCESSES, ids=lambda process: process.name)
def test_float32_agrees_with_float64(process: generators.Process) -> None:
    ensemble = process.sample(20, seed=5)
    single, double = (
        bootstrap(ensemble, draws=400, dtype=dtype) for dtype in (np.float32, np.float64)
    )
    assert_allclose(single.slopes, double.slopes, rtol=0, atol=1e-6)
    for method in METHODS:
        a, b = single.interval(method), double.interval(method)
        assert_allclose([a.low, a.high], [b.low, b.high], rtol=0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_replicates_go_in_blocks_with_the_same_result(
    dtype: DTypeLike, monkeypatch: pytest.MonkeyPatch
) -> None:
    ensemble = generators.random_walk().sample(60, seed=1)
    monkeypatch.setattr(pair_weights, "_AT_ONCE", 250)  # three blocks
    pair_weights.forget()
    kept = bootstrap(ensemble, draws=600, dtype=dtype)
    monkeypatch.setattr(pair_weights, "_KEPT", 0)
    blocks = bootstrap(ensemble, draws=600, dtype=dtype)
    assert_allclose(kept.slopes, blocks.slopes, rtol=0, atol=0)
    monkeypatch.setattr(pair_weights, "_AT_ONCE", 10**9)
    whole = bootstrap(ensemble, draws=600, dtype=dtype)
    assert_allclose(blocks.slopes, whole.slopes, rtol=0, atol=1e-6)


def test_few_replicates_are_drawn_in_few_ways() -> None:
    found = bootstrap(walks(4, 3, seed=1), draws=5000)
    counts = counts_of(4, 5000, seed=0)
    once = (counts == 1).all(axis=1)
    assert_allclose(once.mean(), math.factorial(4) / 4**4, atol=0.015)
    assert_allclose(found.slopes[once], found.value, rtol=0, atol=1e-12)
    drawn = counts[counts.max(axis=1) < 4]  # the others are drawn again
    assert len(np.unique(found.slopes)) <= len(np.unique(drawn, axis=0))


def test_equal_seeds_give_equal_draws_and_others_do_not() -> None:
    ensemble = walks(8, 3, seed=1)
    first, again, other = (bootstrap(ensemble, draws=50, seed=seed) for seed in (1, 1, 2))
    assert_allclose(first.slopes, again.slopes, rtol=0, atol=0)
    assert (first.slopes != other.slopes).mean() > 0.9


# --- intervals ---------------------------------------------------------------------------------


def test_the_percentile_interval_is_the_middle_95_percent_of_draws() -> None:
    found = bootstrap(walks(12, 3, seed=1), draws=1500)
    chosen = found.interval("percentile")
    assert_allclose([chosen.low, chosen.high], np.percentile(found.slopes, [2.5, 97.5]))
    assert ((found.slopes >= chosen.low) & (found.slopes <= chosen.high)).mean() > 0.948


def test_the_seed_compatible_interval_uses_the_papers_500_draws() -> None:
    found = bootstrap(walks(12, 3, seed=1), draws=1500)
    chosen = found.interval("seed_compatible")
    assert_allclose([chosen.low, chosen.high], np.percentile(found.slopes[:500], [2.5, 97.5]))
    few = bootstrap(walks(12, 3, seed=1), draws=500).interval("seed_compatible")
    assert_allclose([few.low, few.high], [chosen.low, chosen.high], atol=1e-12)


FEW = st.integers(4, 8)
SAMPLED = st.sampled_from(PROCESSES[:4])


def moved(first: Bootstrap, second: Bootstrap) -> float:
    """How far the limits of the two are apart, in widths of the interval: the largest."""
    apart: list[float] = []
    for method in METHODS:
        a, b = first.interval(method), second.interval(method)
        gaps = np.abs([a.low - b.low, a.high - b.high])
        apart += [] if np.isnan(gaps).all() else (gaps / (a.high - a.low)).tolist()
    return float(max(apart))


@settings(max_examples=40)
@given(FEW, st.integers(0, 10_000), SAMPLED, st.randoms(use_true_random=False))
def test_limits_do_not_depend_on_the_order_of_replicates(
    replicates: int, seed: int, process: generators.Process, shuffling: random.Random
) -> None:
    ensemble = process.sample(replicates, seed)
    order = list(range(replicates))
    shuffling.shuffle(order)
    before, after = bootstrap(ensemble, draws=1000), bootstrap(ensemble[order], draws=1000)
    assert_array_equal(before.slopes, after.slopes)
    turned = reversal_test(ensemble, draws=200).null, reversal_test(ensemble[order], draws=200).null
    assert_array_equal(*turned)


# --- zeros -------------------------------------------------------------------------------------


def test_draws_without_divergence_are_made_again_and_counted() -> None:
    ensemble = np.repeat(walks(1, 3, seed=1), 4, axis=0)
    ensemble[3] += walks(1, 3, seed=2)[0]  # three are the same: D* = 0 in 32 % of draws
    found = bootstrap(ensemble, draws=1000)
    assert len(found.slopes) == 1000
    assert np.isfinite(found.slopes).all()
    assert_allclose(found.slopes, found.value, atol=1e-6)
    share = (3**4 + 1) / 4**4
    assert_allclose(found.redrawn, 1000 * share / (1 - share), rtol=0.15)
    again = bootstrap(ensemble, draws=1000)
    assert again.redrawn == found.redrawn


def test_draws_that_stay_without_divergence_are_given_up() -> None:
    ensemble = np.repeat(walks(1, 3, seed=1), 18, axis=0)
    for t in range(18):
        ensemble[t, t + 2] += 0.1  # each round needs a replicate of its own
    found = bootstrap(ensemble, draws=100)
    assert np.isfinite(found.value)
    assert not len(found.slopes)
    assert found.redrawn == 50 * 100
    assert all(np.isnan(found.interval(method).low) for method in METHODS)
    assert np.isnan(found.se)


def test_rounds_without_divergence_are_left_out_of_all_draws() -> None:
    level = 0.01 * np.exp(0.05 * np.arange(1, 21))
    level[[4, 9]] = 0.0
    found = bootstrap(separating(level, replicates=6), draws=100)
    assert found.redrawn < 5
    assert_allclose(found.slopes, 0.05, atol=1e-6)


def test_a_replicate_without_which_nothing_differs_leaves_no_interval() -> None:
    ensemble = np.repeat(walks(1, 3, seed=1), 8, axis=0)
    ensemble[3] += walks(1, 3, seed=2)[0]  # all draws that are kept agree on its λ̂
    for drawn in (ensemble, walks(2, 3, seed=1)):  # nor do two, that are in every draw
        found = bootstrap(drawn, draws=200)
        for method in METHODS:
            assert np.isnan([found.interval(method).low, found.interval(method).high]).all()
