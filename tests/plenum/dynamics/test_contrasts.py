"""Differences of λ̂: Welch's interval, the studentised permutation, pairs, and the interaction."""

import itertools
import math
from collections.abc import Iterator

import exact_processes
import generators
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy import stats
from slow_dynamics import (
    jackknife,
    slow_jackknife,
    slow_left_out,
    slow_level,
    slow_pairs,
    slow_slope,
    walks,
)

from plenum.dynamics.contrasts import REFUSAL, contrast, interaction
from plenum.dynamics.lyapunov import LyapunovEstimate, lyapunov

Ensemble = NDArray[np.float64]


def welch(variances: list[float], dfs: list[int]) -> float:
    """Degrees of freedom of a sum of independent estimates."""
    return sum(variances) ** 2 / sum(v**2 / df for v, df in zip(variances, dfs, strict=True))


def tensor(ensemble: Ensemble) -> Ensemble:
    """Distances over rounds 3 to 20, shape (R, R, rounds)."""
    count = len(ensemble)
    found = np.zeros((count, count, 18))
    found[np.triu_indices(count, 1)] = slow_pairs(ensemble[:, 2:20])
    return found + found.transpose(1, 0, 2)


def studentised(first: Ensemble, second: Ensemble, paired: bool) -> float:
    """Δλ̂ by its jackknife standard error, from the distances within both arms."""
    values, left_out = [], []
    for distances in (first, second):
        members = np.arange(len(distances))
        every = [members, *(np.delete(members, r) for r in members)]
        levels = [distances[np.ix_(kept, kept)].sum(axis=(0, 1)) for kept in every]
        used = levels[0] > 1e-12
        rounds, logs = np.arange(3, 21)[used], np.log([level[used] for level in levels])
        slopes = np.polyfit(rounds, logs.T, 1)[0]
        values.append(slopes[0])
        left_out.append(slopes[1:])
    if paired:
        se = jackknife(left_out[0] - left_out[1])
    else:
        se = math.hypot(jackknife(left_out[0]), jackknife(left_out[1]))
    return float((values[0] - values[1]) / se)


def prepared(arm: Ensemble) -> Ensemble:
    """Centred on the arm's mean, and scaled to a mean distance of 1 (geometric over rounds)."""
    level = slow_level(arm)[2:20]
    return np.asarray((arm - arm.mean(axis=0)) / np.exp(np.log(level[level > 0]).mean()))


def labellings(size: int, other: int, paired: bool) -> Iterator[tuple[list[int], list[int]]]:
    """Every way to label the pooled replicates."""
    if paired:
        for swapped in itertools.product([False, True], repeat=size):
            first = [r + size * swap for r, swap in enumerate(swapped)]
            yield first, [r + size * (not swap) for r, swap in enumerate(swapped)]
        return
    for first in itertools.combinations(range(size + other), size):
        yield list(first), [r for r in range(size + other) if r not in first]


def exact_p(first: Ensemble, second: Ensemble, paired: bool = False) -> float:
    """The permutation p over all labellings."""
    observed = abs(studentised(tensor(first), tensor(second), paired))
    both = tensor(np.concatenate([prepared(first), prepared(second)]))
    found = [
        abs(studentised(both[np.ix_(a, a)], both[np.ix_(b, b)], paired))
        for a, b in labellings(len(first), len(second), paired)
    ]
    return float(np.mean([value >= observed * (1 - 1e-6) for value in found]))


# --- two arms ----------------------------------------------------------------------------------


def test_the_contrast_is_a_difference_with_welchs_interval() -> None:
    first, second = walks(9, 3, seed=1), 3 * walks(6, 3, seed=2)
    found = contrast(first, second, draws=20)
    variances = [slow_jackknife(first) ** 2, slow_jackknife(second) ** 2]
    df, se = welch(variances, [8, 5]), math.sqrt(sum(variances))
    value = slow_slope(first) - slow_slope(second)
    half = stats.t(df).ppf(0.975) * se
    assert_allclose([found.value, found.se, found.df], [value, se, df], rtol=1e-7)
    assert_allclose([found.ci_low, found.ci_high], [value - half, value + half], rtol=1e-7)
    assert_allclose(found.p_wald, 2 * stats.t(df).sf(abs(value) / se), rtol=1e-7)
    assert found.cells == (lyapunov(first), lyapunov(second))


@pytest.mark.parametrize("seed", range(4))
def test_p_is_the_studentised_permutation(seed: int) -> None:
    # Arms of different drift, spread and size; all 462 labellings against a sample of them.
    first = generators.autoregressive(0.5, rate=0.03).sample(6, seed)
    second = 8 * generators.random_walk().sample(5, seed + 50)
    second += np.linspace(0, 1, 20)[:, None] * np.array([1, -1, 0])
    found = contrast(first, second, draws=4000)
    assert_allclose(found.p, exact_p(first, second), atol=0.03)


@pytest.mark.parametrize("seed", range(4))
def test_p_of_pairs_is_the_permutation_within_pairs(seed: int) -> None:
    first = generators.autoregressive(0.5).sample(8, seed)
    second = first + generators.autoregressive(0.5, sd=0.005).sample(8, seed + 50) - 1 / 3
    found = contrast(first, second, paired=True, draws=4000)
    assert_allclose(found.p, exact_p(first, second, paired=True), atol=0.03)


@pytest.mark.parametrize(("replicates", "paired"), [(3, False), (4, False), (4, True), (5, True)])
def test_p_of_few_replicates_counts_the_labelling_that_was_observed(
    replicates: int, paired: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LyapunovEstimate, "refused", False)  # a test of what isn't refused
    # The observed labelling and its mirror image are ties, not misses: p has a floor.
    for seed in range(3):
        first = generators.autoregressive(0.5).sample(replicates, seed)
        second = generators.autoregressive(0.5, rate=0.2).sample(replicates, seed + 100)
        exact = exact_p(first, second, paired)
        assert exact >= 2 / (2**replicates if paired else math.comb(2 * replicates, replicates))
        found = contrast(first, second, paired=paired, draws=4000)
        assert_allclose(found.p, exact, atol=0.035)


@pytest.mark.slow
@settings(max_examples=30)
@given(st.integers(4, 8), st.integers(0, 10_000), st.booleans())
def test_p_of_few_replicates_does_not_depend_on_the_last_bits(
    replicates: int, seed: int, paired: bool
) -> None:
    # Many labellings are the observed one or its mirror image: residue must not tell them apart.
    first = generators.autoregressive(0.5).sample(replicates, seed)
    second = generators.random_walk().sample(replicates, seed + 1)
    found = contrast(first, second, paired=paired, draws=500)
    assume(not any(cell.refused for cell in found.cells))
    again = contrast(first * (1 + 1e-12), second / 3 * 3, paired=paired, draws=500)
    assert found.p == again.p
    same = contrast(first, first[::-1], paired=paired, draws=500)
    assert paired or same.p == 1


def test_pairs_leave_both_arms_together() -> None:
    first = walks(8, 3, seed=1)
    second = first + 0.3 * walks(8, 3, seed=2)
    found = contrast(first, second, paired=True, draws=20)
    left_out = slow_left_out(first) - slow_left_out(second)
    se = jackknife(left_out)
    value = slow_slope(first) - slow_slope(second)
    half = stats.t(7).ppf(0.975) * se
    assert_allclose([found.value, found.se, found.df], [value, se, 7], rtol=1e-7)
    assert_allclose([found.ci_low, found.ci_high], [value - half, value + half], rtol=1e-7)
    assert found.se < contrast(first, second, draws=20).se / 2


def test_a_clear_difference_is_found_and_none_is_not() -> None:
    slow = generators.autoregressive(0.5).sample(20, 1)
    fast = generators.autoregressive(0.5, rate=0.1).sample(20, 2)
    assert contrast(fast, slow, draws=999).p == 1 / 1000
    assert contrast(fast, slow, draws=999).value > 0.05
    assert contrast(slow, slow, draws=199).p == 1


def test_zero_rounds_are_left_out_of_every_labelling() -> None:
    first, second = walks(5, 3, seed=1), walks(5, 3, seed=2)
    first[:, 6], second[:, 6] = first[0, 6], second[0, 6]
    found = contrast(first, second, draws=3000)
    assert_allclose(found.p, exact_p(first, second), atol=0.035)
    assert "zero_rounds" in found.warnings


def test_exact_separation_leaves_no_uncertainty() -> None:
    fast, slow = exact_processes.oracle(0.1).sample(12), exact_processes.oracle(0.05).sample(12)
    found = contrast(fast, slow, draws=99)
    assert_allclose([found.value, found.ci_low, found.ci_high], 0.05, atol=1e-9)
    assert found.p < 0.02


def test_decisions_of_another_number_are_refused() -> None:
    arms = [generators.random_walk().sample(12, seed) for seed in range(2)]
    with pytest.raises(ValueError, match="11 decisions for 12 replicates"):
        contrast(arms[0], arms[1], decisions=(["A"] * 11, None), draws=5)


@pytest.mark.parametrize("paired", [False, True])
def test_a_contrast_with_an_uneven_condition_has_neither_interval_nor_p(paired: bool) -> None:
    plain, uneven = generators.random_walk().sample(20, 1), generators.leaps(0.2).sample(20, 3)
    assert not contrast(plain, plain + 0, paired=paired, draws=20).cells[1].refused
    for arms in ((plain, uneven), (uneven, plain)):
        found = contrast(*arms, paired=paired, draws=20)
        assert np.isfinite([found.value, found.se]).all()
        assert np.isnan([found.ci_low, found.ci_high, found.p, found.p_wald]).all()
        assert (found.method, "uneven" in found.warnings) == (REFUSAL, True)
    whole = interaction(plain, plain, uneven, plain)
    assert np.isnan([whole.ci_low, whole.p]).all()
    assert whole.method == REFUSAL


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.sampled_from([(5, 5), (20, 8)]))
def test_a_contrast_is_shown_if_and_only_if_no_cell_is_refused(
    seed: int, sizes: tuple[int, int]
) -> None:
    process = generators.leaps(0.1, walks=True)
    found = contrast(process.sample(sizes[0], seed), process.sample(sizes[1], seed + 1), draws=20)
    assert math.isnan(found.p) == math.isnan(found.ci_low)
    assert math.isnan(found.p) == any(cell.refused for cell in found.cells)


# --- the interaction ---------------------------------------------------------------------------


def test_the_interaction_is_a_difference_of_differences_with_welchs_interval() -> None:
    cells = [walks(n, 3, seed=n) for n in (6, 7, 8, 9)]
    found = interaction(*cells)
    slopes, errors = [slow_slope(c) for c in cells], [slow_jackknife(c) for c in cells]
    value = (slopes[0] - slopes[1]) - (slopes[2] - slopes[3])
    variances = [e**2 for e in errors]
    df, se = welch(variances, [5, 6, 7, 8]), math.sqrt(sum(variances))
    half = stats.t(df).ppf(0.975) * se
    assert_allclose([found.value, found.se, found.df], [value, se, df], rtol=1e-7)
    assert_allclose([found.ci_low, found.ci_high], [value - half, value + half], rtol=1e-7)
    assert_allclose([found.p, found.p_wald], 2 * stats.t(df).sf(abs(value) / se), rtol=1e-7)
    assert found.cells == tuple(lyapunov(c) for c in cells)
    assert found.n == 30
