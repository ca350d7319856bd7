"""Growth of a typical pair: a second, slow implementation, known answers, and properties."""

import math
import random

import generators
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy import stats
from slow_dynamics import walks

from plenum.dynamics.growth import estimate_typical_growth

Floats = NDArray[np.float64]
Pairs = dict[tuple[int, int], float]
PROCESSES = [
    generators.random_walk(),
    generators.autoregressive(0.9, rate=0.05),
    generators.contraction(),
    generators.leaps(0.2, walks=True),
]


# --- a second implementation ---------------------------------------------------------------------


def slow_growth(ensemble: Floats) -> Pairs:
    """Growth of every pair per round, from rounds 3 to 8 to rounds 15 to 20."""
    growth = {}
    for i in range(len(ensemble)):
        for j in range(i + 1, len(ensemble)):
            early = late = 0.0
            for t in range(6):
                early += math.dist(ensemble[i, 2 + t], ensemble[j, 2 + t])
                late += math.dist(ensemble[i, 14 + t], ensemble[j, 14 + t])
            growth[i, j] = math.log(late / early) / 12
    return growth


def slow_limits(shares: Pairs, replicates: int) -> tuple[float, float, float]:
    """Mean over pairs; Wilson limits of as many pairs as have the jackknife's variance."""
    share = sum(shares.values()) / len(shares)
    without = []
    for r in range(replicates):
        rest = [value for pair, value in shares.items() if r not in pair]
        without.append(sum(rest) / len(rest))
    middle = sum(without) / replicates
    variance = (replicates - 1) / replicates * sum((each - middle) ** 2 for each in without)
    if variance < 1e-12 or share * (1 - share) < 1e-12:
        count = replicates / 2
    else:
        count = share * (1 - share) / variance
    t = stats.t.ppf(0.975, replicates - 1)
    # Wilson: shares p that are at most t standard errors, of p itself, away from the observed one.
    a, b, c = 1 + t**2 / count, -(2 * share + t**2 / count), share**2
    root = math.sqrt(b**2 - 4 * a * c)
    return share, (-b - root) / (2 * a), (-b + root) / (2 * a)


def slow_interval(growth: Pairs, replicates: int) -> tuple[float, float]:
    """Limits of the median: outwards from it, the first growth whose θ(x) excludes 1/2."""
    values = sorted(growth.values())

    def limits(x: float) -> tuple[float, float, float]:
        return slow_limits({pair: float(g > x) for pair, g in growth.items()}, replicates)

    low, high = -math.inf, math.inf
    below = [-math.inf, *values]  # between x and the next value as many pairs grow by more than x
    for at in range(len(values) - 1, -1, -1):
        share, least, _ = limits(below[at])
        if share >= 0.5 and least > 0.5:
            low = values[at]
            break
    for x in values:
        share, _, most = limits(x)
        if share < 0.5 and most < 0.5:
            high = x
            break
    return low, high


@pytest.mark.parametrize("process", PROCESSES, ids=lambda process: process.name)
@pytest.mark.parametrize("replicates", [5, 8, 12])
def test_numbers_agree_with_their_definition(process: generators.Process, replicates: int) -> None:
    for seed in range(4):
        ensemble = process.sample(replicates, seed)
        found, growth = estimate_typical_growth(ensemble), slow_growth(ensemble)
        assert_allclose(found.value, np.median(list(growth.values())))
        theta = slow_limits({pair: float(g > 0) for pair, g in growth.items()}, replicates)
        assert_allclose([found.farther.value, found.farther.ci_low, found.farther.ci_high], theta)
        interval = slow_interval(growth, replicates)
        assert_allclose([found.ci_low, found.ci_high], interval)
        jumps = stats.binomtest(found.jumped.count or 0, replicates).proportion_ci()
        assert_allclose([found.jumped.ci_low, found.jumped.ci_high], [jumps.low, jumps.high])


# --- known answers -------------------------------------------------------------------------------


def test_pairs_that_grow_alike_have_that_growth_whoever_jumps() -> None:
    apart = np.random.default_rng(1).normal(0, 0.001, (20, 1, 3))
    ensemble = 1 / 3 + apart * np.exp(0.05 * np.arange(20))[:, None]
    found = estimate_typical_growth(ensemble)
    assert_allclose([found.value, found.ci_low, found.ci_high], 0.05)
    assert (found.farther.value, found.jumped.count, found.shown) == (1, 0, 1)
    ensemble[3, 12:] += [0.3, -0.3, 0]
    found = estimate_typical_growth(ensemble)
    assert_allclose([found.value, found.ci_low], 0.05)
    assert found.jumped.count == 1


@pytest.mark.parametrize("replicates", [0, 1, 2])
def test_two_replicates_tell_nothing(replicates: int) -> None:
    found = estimate_typical_growth(walks(replicates, 3, seed=1))
    unknown = [found.value, found.ci_low, found.farther.value, found.jumped.value]
    assert np.isnan(unknown).all()
    assert not found.shown


@pytest.mark.parametrize("replicates", [3, 4, 5])
def test_few_replicates_have_a_value_without_limits(replicates: int) -> None:
    for process in PROCESSES:
        found = estimate_typical_growth(process.sample(replicates, seed=2))
        assert math.isfinite(found.value)
        assert (found.ci_low, found.ci_high, found.shown) == (-math.inf, math.inf, 0)
        assert 0 <= found.farther.ci_low <= found.farther.value <= found.farther.ci_high <= 1


def test_the_interval_of_a_walk_holds() -> None:
    # Pairs of walks: their own median, of many independent ones.
    many = generators.random_walk().sample(8_000, seed=1)[:, 2:]
    lengths = np.linalg.norm(many[::2] - many[1::2], axis=2)
    true = np.median(np.log(lengths[:, 12:].mean(axis=1) / lengths[:, :6].mean(axis=1))) / 12
    found = [estimate_typical_growth(generators.random_walk().sample(20, n)) for n in range(60)]
    assert sum(each.ci_low <= true <= each.ci_high for each in found) >= 51


# --- properties ----------------------------------------------------------------------------------

ANY = (st.integers(3, 14), st.integers(0, 10_000), st.sampled_from(PROCESSES))


def numbers(ensemble: Floats) -> Floats:
    """All numbers of an ensemble's growth; infinite limits are as they are."""
    found = estimate_typical_growth(ensemble)
    every = (found, found.farther, found.jumped)
    return np.array(
        [number for part in every for number in (part.value, part.ci_low, part.ci_high)]
    )


@settings(max_examples=40, deadline=None)
@given(*ANY, st.randoms(use_true_random=False), st.floats(0.01, 10))
def test_neither_order_nor_scale_matters(
    replicates: int, seed: int, process: generators.Process, shuffling: random.Random, scale: float
) -> None:
    ensemble = process.sample(replicates, seed)
    runs, options = list(range(replicates)), list(range(3))
    shuffling.shuffle(runs)
    shuffling.shuffle(options)
    known = numbers(ensemble)
    assert_allclose(numbers(ensemble[runs]), known, atol=1e-9)
    assert_allclose(numbers(ensemble[..., options]), known, atol=1e-9)
    assert_allclose(numbers(ensemble * scale), known, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(*ANY)
def test_time_reversed_changes_the_sign(
    replicates: int, seed: int, process: generators.Process
) -> None:
    ensemble = process.sample(replicates, seed)
    backwards = ensemble.copy()
    backwards[:, 2:20] = ensemble[:, 2:20][:, ::-1]
    value, low, high, farther, farther_low, farther_high, *_ = numbers(ensemble)
    turned = [-value, -high, -low, 1 - farther, 1 - farther_high, 1 - farther_low]
    assert_allclose(numbers(backwards)[:6], turned, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(3, 20), st.integers(2, 20), st.integers(0, 100))
def test_replicates_that_are_the_same_do_not_grow(replicates: int, rounds: int, seed: int) -> None:
    ensemble = np.repeat(walks(1, 3, seed=seed)[:, :rounds], replicates, axis=0)
    found = estimate_typical_growth(ensemble)
    assert found.shown == 0
    if rounds > 3:
        assert (found.value, found.farther.value, found.jumped.count) == (0, 0.5, 0)
    else:
        assert np.isnan(found.value)


def test_pairs_that_part_from_nothing_grow_without_bound() -> None:
    ensemble = np.repeat(walks(1, 3, seed=1), 12, axis=0)
    ensemble[:, 14:] += np.random.default_rng(1).normal(0, 0.01, (12, 6, 3))
    found = estimate_typical_growth(ensemble)
    assert (found.value, found.farther.value, found.shown) == (math.inf, 1, 0)


def test_hundreds_of_replicates_take_memory_of_their_pairs_alone() -> None:
    # A mark of each pair by each value of growth would be 2 GB.
    found = estimate_typical_growth(walks(300, 3, seed=2))
    assert found.ci_low < found.value < found.ci_high
    assert found.shown == 1
