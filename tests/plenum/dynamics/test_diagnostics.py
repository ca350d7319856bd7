"""What stands beside λ̂: caps, headroom, residuals, variants, pairs, and the split of D²."""

import itertools
import math

import exact_processes
import generators
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from slow_dynamics import (
    jackknife,
    separating,
    slow_fit,
    slow_jackknife,
    slow_level,
    slow_pairs,
    slow_slope,
    walks,
)

from plenum.dynamics.diagnostics import Diagnostics, cap
from plenum.dynamics.lyapunov import lyapunov

Ensemble = NDArray[np.float64]
ROUNDS = np.arange(1, 21, dtype=float)
WITHIN = range(3, 21)


def diagnosed(ensemble: Ensemble, decisions: list[str] | None = None) -> Diagnostics:
    """The diagnostics of an ensemble that has a λ̂."""
    found = lyapunov(ensemble, decisions=decisions).diagnostics
    assert found is not None
    return found


def slow_rms(ensemble: Ensemble) -> float:
    """The slope of ½ log of the mean squared distance."""
    pairs = slow_pairs(ensemble[:, 2:20])
    return slow_fit(WITHIN, list(np.mean(np.square(pairs), axis=0))) / 2


def slow_quenched(ensemble: Ensemble) -> float:
    """The slope of the mean of log d over pairs that are apart in every round with D > 0."""
    pairs = np.array(slow_pairs(ensemble[:, 2:20])).reshape(-1, 18)
    used = slow_level(ensemble)[2:20] > 0
    apart = pairs[(pairs[:, used] > 0).all(axis=1)][:, used]
    if not len(apart):
        return float("nan")
    return float(np.polyfit(np.array(WITHIN)[used], np.log(apart).mean(axis=0), 1)[0])


# --- the cap -----------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("replicates", [2, 3, 5, 7])
def test_the_cap_is_the_largest_divergence_of_points_at_the_vertices(
    replicates: int, options: int
) -> None:
    largest = 0.0
    for corners in itertools.combinations_with_replacement(range(options), replicates):
        points = np.eye(options)[list(corners)]
        largest = max(largest, slow_level(points[:, None])[0])
    assert_allclose(cap(replicates, options), largest, rtol=1e-12)


def test_known_caps() -> None:
    assert_allclose(cap(20, 3), 0.990, atol=5e-4)
    assert_allclose(cap(20, 3), math.sqrt(2) * (7 * 7 + 7 * 6 + 7 * 6) / 190)
    assert_allclose(cap(10**6, 3), 0.943, atol=5e-4)
    assert_allclose(cap(2, 2), math.sqrt(2))


# --- levels and fits ---------------------------------------------------------------------------


@settings(max_examples=30)
@given(st.integers(3, 8), st.integers(2, 6), st.integers(0, 1000))
def test_diagnostics_agree_with_their_definitions(replicates: int, options: int, seed: int) -> None:
    ensemble = walks(replicates, options, seed)
    found = diagnosed(ensemble)
    level = slow_level(ensemble)
    assert found.within.shape == found.between.shape == (18,)  # and NaN without decisions
    assert np.isnan([found.within, found.between]).all()
    assert_allclose([found.d_first, found.d_last], [level[2], level[19]], rtol=1e-9)
    assert_allclose(found.headroom, math.log(cap(replicates, options) / level[2]) / 17, rtol=1e-9)
    logs, t = np.log(level[2:]), ROUNDS[2:]
    for residual, x in ((found.exponential_residual, t), (found.power_residual, np.log(t))):
        rest = logs - np.polyval(np.polyfit(x, logs, 1), x)
        assert_allclose(residual, math.sqrt((rest**2).mean()), rtol=1e-6)
    assert_allclose(found.diffusion, np.polyfit(t, np.log(t) / 2, 1)[0], atol=1e-12)
    assert_allclose(found.excess, slow_slope(ensemble) - found.diffusion, atol=1e-10)
    exponents = [slow_fit(WITHIN, list(d)) for d in slow_pairs(ensemble[:, 2:])]
    assert_allclose(found.pair_exponents, exponents, atol=1e-9)


@settings(max_examples=20)
@given(st.integers(3, 7), st.integers(2, 6), st.integers(0, 1000))
def test_variants_agree_with_their_definitions(replicates: int, options: int, seed: int) -> None:
    ensemble = walks(replicates, options, seed)
    found = diagnosed(ensemble)
    parts = [np.delete(ensemble, r, axis=0) for r in range(replicates)]
    for variant, slow in ((found.rms, slow_rms), (found.quenched, slow_quenched)):
        assert_allclose(variant.value, slow(ensemble), atol=1e-9)
        assert_allclose(variant.se, jackknife(np.array([slow(p) for p in parts])), rtol=1e-6)
        assert variant.pairs == replicates * (replicates - 1) // 2


def test_the_quenched_variant_keeps_to_pairs_that_are_always_apart() -> None:
    ensemble = walks(7, 3, seed=1)
    ensemble[1, 8] = ensemble[0, 8]
    ensemble[3, :12] = ensemble[2, :12]
    ensemble[:, 5] = ensemble[0, 5]  # a zero round counts for nobody
    found = diagnosed(ensemble).quenched
    assert found.pairs == 21 - 2
    assert_allclose(found.value, slow_quenched(ensemble), atol=1e-9)


def test_the_better_fit_tells_diffusion_from_exponential_growth() -> None:
    walk = diagnosed(separating(0.01 * np.sqrt(ROUNDS), replicates=9))
    assert_allclose(walk.power_residual, 0, atol=1e-10)
    assert walk.exponential_residual > 0.05
    assert_allclose(walk.excess, 0, atol=1e-10)


def test_the_excess_over_diffusion_has_the_interval_of_the_estimate() -> None:
    ensemble = walks(9, 3, seed=1)
    whole, found = lyapunov(ensemble), diagnosed(ensemble)
    assert_allclose(
        [found.excess_ci_low, found.excess_ci_high],
        np.array([whole.ci_low, whole.ci_high]) - found.diffusion,
        atol=1e-12,
    )
    assert_allclose(found.excess_ci_high - found.excess, whole.ci_high - whole.value)
    assert_allclose(whole.se, slow_jackknife(ensemble), rtol=1e-7)


def test_diffusion_is_that_of_the_rounds_used() -> None:
    level = 0.01 * np.sqrt(ROUNDS)
    level[[4, 9, 10]] = 0
    found = diagnosed(separating(level, replicates=9))
    kept = level > 0
    kept[:2] = False
    expected = np.polyfit(ROUNDS[kept], np.log(ROUNDS[kept]) / 2, 1)[0]
    assert_allclose(found.diffusion, expected, atol=1e-12)
    assert_allclose(found.excess, 0, atol=1e-10)


def test_a_first_round_without_divergence_has_no_bound_on_growth() -> None:
    level = 0.01 * np.sqrt(ROUNDS)
    level[2] = 0
    found = diagnosed(separating(level, replicates=9))
    assert (found.d_first, found.headroom) == (0, math.inf)
    ensemble = walks(9, 3, seed=1)[:, :11]  # headroom counts the rounds that there are
    rate = math.log(cap(9, 3) / slow_level(ensemble)[2]) / 8
    assert_allclose(diagnosed(ensemble).headroom, rate)


# --- the split of D² ---------------------------------------------------------------------------


@given(st.lists(st.sampled_from("ABN"), min_size=3, max_size=9), st.integers(2, 6))
def test_within_and_between_add_up_to_the_mean_squared_distance(
    decisions: list[str], options: int
) -> None:
    ensemble = walks(len(decisions), options, seed=options)
    found = diagnosed(ensemble, decisions)
    squares = np.mean(np.square(slow_pairs(ensemble[:, 2:])), axis=0)
    assert_allclose(found.within + found.between, squares, rtol=1e-9)
    assert (found.within >= 0).all()
    assert (found.between >= -1e-15).all()


def test_the_split_is_that_of_the_analysis_of_variance() -> None:
    decisions = list("AABBBC")
    ensemble = walks(6, 3, seed=1)
    found = diagnosed(ensemble, decisions)
    for t in range(18):
        points = ensemble[:, t + 2]
        within = sum(
            sum(((p - np.mean(group, axis=0)) ** 2).sum() for p in group)
            for name in "ABC"
            for group in [[p for p, d in zip(points, decisions, strict=True) if d == name]]
        )
        assert_allclose(found.within[t], 2 * within / 5, rtol=1e-9)


def test_one_decision_has_nothing_between_and_decisions_that_stand_still_nothing_within() -> None:
    ensemble = walks(6, 3, seed=1)
    assert_allclose(diagnosed(ensemble, ["A"] * 6).between, 0, atol=1e-15)
    ensemble[1:3], ensemble[4:] = ensemble[0], ensemble[3]
    assert_allclose(diagnosed(ensemble, list("AAABBB")).within, 0, atol=1e-15)


# --- grids -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("decimals", "seats"), [(2, 1), (2, 5), (1, 3), (2, 4)])
def test_the_grid_of_rounded_preferences_is_found(decimals: int, seats: int) -> None:
    rng = np.random.default_rng(1)
    preferences = rng.normal(0.4, 0.05, (12, 20, seats, 3)).round(decimals)
    found = diagnosed(preferences.mean(axis=2))
    assert_allclose(found.grid, 10.0**-decimals / seats, rtol=1e-6)


@pytest.mark.parametrize(
    "process",
    [generators.random_walk(), generators.committee(), exact_processes.oracle()],
    ids=lambda process: process.name,
)
def test_preferences_that_lie_on_no_grid_have_none(process: generators.Process) -> None:
    for seed in range(20):
        assert diagnosed(process.sample(20, seed)).grid == 0


def quantised(spread: str) -> bool:
    """Return whether twenty replicates on a grid are quantised, with these places in one round.

    In all other rounds they are ten times as far apart.
    """
    step, places = 0.004, np.array([int(place) for place in spread], dtype=float)
    steps = np.tile(10 * places[:, None], (1, 20))
    steps[:, 9] = places
    ensemble = 0.2 + step * steps[..., None] * np.array([1.0, 0.0, 0.0])
    found = lyapunov(ensemble)
    assert found.diagnostics is not None
    assert_allclose(found.diagnostics.grid, step)
    return "quantised" in found.warnings


def test_three_steps_of_the_grid_in_the_narrowest_round_are_enough() -> None:
    """The mean distance of these places is 569 / 190 and 571 / 190 steps: 2.995 and 3.005."""
    assert quantised("00111122355555556689")
    assert not quantised("01122223455566667789")


@pytest.mark.parametrize(("kept", "found"), [(80, False), (81, True)])
def test_a_grid_holds_more_than_80_percent_of_the_steps(kept: int, found: bool) -> None:
    """Of 100 gaps between neighbouring values, the kept are one step, or two, and others 1.3."""
    gaps = np.full(100, 1.0)
    gaps[::10] = 2.0
    strays = [n for n in range(100) if n % 10][: 100 - kept]
    gaps[strays] = 1.3 + 0.001 * np.arange(len(strays))
    values = np.resize(0.001 * np.r_[0.0, gaps.cumsum()], 6 * 18 * 3)
    ensemble = np.full((6, 20, 3), 1 / 3)
    ensemble[:, 2:] = np.random.default_rng(1).permutation(values).reshape(6, 18, 3)
    assert_allclose(diagnosed(ensemble).grid, 0.001 if found else 0)


# --- thresholds of the warnings ----------------------------------------------------------------


def test_half_of_the_pairs_must_be_apart_in_every_round() -> None:
    """Of 28 pairs 14 meet in some round, and then one more."""
    ensemble = walks(8, 3, seed=1)
    for t, together in ((6, [0, 1, 2, 3, 4]), (8, [5, 6, 7]), (9, [0, 5])):
        ensemble[together, t] = ensemble[together[0], t]
    assert diagnosed(ensemble).quenched.pairs == 14
    assert "few_apart" not in lyapunov(ensemble).warnings
    ensemble[6, 10] = ensemble[1, 10]
    assert diagnosed(ensemble).quenched.pairs == 13
    assert "few_apart" in lyapunov(ensemble).warnings


@pytest.mark.parametrize(("rounds", "warned"), [(6, True), (7, False), (20, False)])
def test_fewer_than_five_rounds_say_little(rounds: int, warned: bool) -> None:
    found = lyapunov(walks(12, 3, seed=1, rounds=rounds))
    assert found.rounds_used == rounds - 2
    assert ("few_rounds" in found.warnings) == warned


@pytest.mark.parametrize(("zeros", "warned"), [(13, False), (14, True)])
def test_rounds_without_divergence_are_no_rounds(zeros: int, warned: bool) -> None:
    ensemble = walks(12, 3, seed=1)
    ensemble[:, 3 : 3 + zeros] = 1 / 3
    found = lyapunov(ensemble)
    assert (found.rounds_used, found.zero_rounds) == (18 - zeros, zeros)
    assert ("few_rounds" in found.warnings) == warned
