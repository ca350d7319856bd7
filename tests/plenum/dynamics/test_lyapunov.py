"""λ̂: the slope of log D(t), its jackknife, and what it says where there is no slope."""

import exact_processes
import generators
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from slow_dynamics import separating, slow_jackknife, slow_level, slow_slope, walks

from plenum.dynamics.fit import Floats
from plenum.dynamics.lyapunov import lyapunov
from plenum.dynamics.warnings import read_warnings

ROUNDS = np.arange(1, 21, dtype=float)
INTERVALS = ("jackknife", "percentile", "seed_compatible")


# --- the slope ---------------------------------------------------------------------------------


@pytest.mark.parametrize("window", [(1, 20), (3, 20), (5, 9), (19, 20)])
def test_only_the_rounds_of_the_window_count(window: tuple[int, int]) -> None:
    first, last = window
    inside = (first <= ROUNDS) & (last >= ROUNDS)
    level = np.where(inside, 0.01 * np.exp(0.05 * ROUNDS), 0.5 / ROUNDS)
    found = lyapunov(separating(level), window)
    assert_allclose(found.value, 0.05, atol=1e-10)
    assert found.rounds_used == last - first + 1


def test_rounds_beyond_the_last_are_ignored() -> None:
    found = lyapunov(separating(np.exp(0.05 * ROUNDS[:8])))
    assert found.rounds_used == 6
    assert_allclose(found.value, 0.05, atol=1e-10)


@pytest.mark.parametrize("replicates", [2, 3, 7, 20, 21, 60])
def test_exact_processes_have_their_rate_whatever_the_replicates_and_options(
    replicates: int,
) -> None:
    for options in range(2, 7):
        for rate in (-0.3, 0.0, 0.05, 0.4):
            oracle = lyapunov(exact_processes.oracle(rate, options=options).sample(replicates))
            assert_allclose(oracle.value, rate, atol=1e-10)
            assert replicates == 2 or oracle.se < 1e-9
        for rounds in (20, 22):
            doubling = exact_processes.chaotic_map(rounds, options).sample(replicates, seed=1)
            assert_allclose(lyapunov(doubling).value, np.log(2), atol=1e-10)


@given(st.integers(2, 8), st.integers(2, 6), st.integers(0, 10_000))
def test_slope_and_jackknife_agree_with_a_slow_reference(
    replicates: int, options: int, seed: int
) -> None:
    ensemble = walks(replicates, options, seed)
    found = lyapunov(ensemble)
    assert_allclose(found.value, slow_slope(ensemble), rtol=1e-9, atol=1e-12)
    if replicates > 2:
        assert_allclose(found.se, slow_jackknife(ensemble), rtol=1e-6)


# --- uncertainty -------------------------------------------------------------------------------


def test_the_jackknife_holds_where_one_replicate_alone_makes_the_difference() -> None:
    ensemble = walks(5, 3, seed=3)
    ensemble[:4, :8] = ensemble[0, :8]  # without the fifth, rounds 3 to 8 have D = 0
    assert_allclose(lyapunov(ensemble).se, slow_jackknife(ensemble), rtol=1e-6)


def test_the_interval_has_t_quantiles_of_one_degree_less_than_replicates() -> None:
    found = lyapunov(walks(7, 3, seed=5))
    margin = stats.t(6).ppf(0.975) * found.se
    assert_allclose([found.ci_low, found.ci_high], [found.value - margin, found.value + margin])


@pytest.mark.parametrize("interval", INTERVALS)
def test_two_replicates_give_a_value_without_an_interval(interval: str) -> None:
    found = lyapunov(walks(2, 3, seed=2), interval=interval, draws=100)
    assert np.isfinite(found.value)
    assert np.isnan([found.se, found.ci_low, found.ci_high]).all()
    assert np.isnan([found.p_zero, found.p_diffusion]).all()
    assert "no_interval" in found.warnings


def test_a_replicate_without_which_nothing_differs_leaves_no_interval() -> None:
    ensemble = np.repeat(walks(1, 3, seed=1), 12, axis=0)
    ensemble[5] += walks(1, 3, seed=2)[0]
    found = lyapunov(ensemble)
    assert np.isfinite(found.value)
    assert np.isnan([found.se, found.ci_low, found.ci_high, found.p_zero]).all()
    assert "no_interval" in found.warnings


def test_the_wald_tests_are_t_tests_against_0_diffusion_and_jumps() -> None:
    ensemble = walks(7, 3, seed=5)
    found, se = lyapunov(ensemble), slow_jackknife(ensemble)
    diffusion = np.polyfit(ROUNDS[2:], 0.5 * np.log(ROUNDS[2:]), 1)[0]
    zero = 2 * stats.t(6).sf(abs(found.value) / se)
    walk = 2 * stats.t(6).sf(abs(found.value - diffusion) / se)
    jumps = 2 * stats.t(6).sf(abs(found.value - 2 * diffusion) / se)
    p = [found.p_zero, found.p_diffusion, found.p_jumps]
    assert_allclose(p, [zero, walk, jumps], rtol=1e-8)


def test_rare_jumps_at_a_constant_hazard_grow_as_their_comparator_says() -> None:
    # D is the probability that one of two has jumped, which grows as t while jumps are rare.
    rare = generators.decision_flips(1e-6)
    found = lyapunov(walks(12, 3, seed=5)).diagnostics
    assert found is not None
    assert_allclose([found.jumps, rare.exponent()], 0.1018, atol=5e-5)
    assert_allclose(found.jumps, 2 * found.diffusion)
    early = lyapunov(walks(12, 3, seed=5), (2, 9)).diagnostics
    assert early is not None
    assert_allclose(early.jumps, rare.exponent((2, 9)), atol=1e-5)


@pytest.mark.parametrize("interval", INTERVALS)
def test_every_interval_is_named_and_holds_the_estimate_of_a_plain_ensemble(interval: str) -> None:
    found = lyapunov(walks(12, 3, seed=5), interval=interval, draws=500)
    assert found.interval == interval
    assert found.ci_low < found.value < found.ci_high
    assert_allclose(found.ci_high - found.ci_low, 4 * found.se, rtol=0.5)


# --- warnings ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "process",
    [
        generators.autoregressive(0.9),
        generators.random_walk(),
        generators.contraction(),
        generators.committee(),
        generators.plateau(),
    ],
    ids=lambda process: process.name,
)
def test_twenty_plain_replicates_carry_no_warning(process: generators.Process) -> None:
    for seed in range(20):
        assert lyapunov(process.sample(20, seed), decisions=["A"] * 20).warnings == ()


def test_rare_jumps_are_uneven() -> None:
    for seed in range(10):
        ensemble = generators.decision_flips(sd=0.001).sample(20, seed)
        assert "uneven" in lyapunov(ensemble).warnings


def one_jumps(ensemble: Floats) -> bool:
    """The third rule of `uneven`, written out: a step far above those that are usual then."""
    middle = np.median(ensemble, axis=0)
    lengths = np.array(
        [
            [np.linalg.norm(path[t] - middle[t] - path[t - 1] + middle[t - 1]) for path in ensemble]
            for t in range(3, 20)  # steps within rounds 3 to 20
        ]
    )
    usual = np.median(lengths, axis=1)
    moved = [t for t in range(17) if usual[t] > 1e-9]
    growth = stats.linregress(moved, np.log(usual[moved])).slope
    level = np.median([np.log(x) - growth * t for t in range(17) for x in lengths[t] if x > 0])
    lines = [max(np.exp(level + growth * t), usual[t]) for t in range(17)]
    return any(max(lengths[t]) > 5 * lines[t] + 1e-9 for t in range(17))


@pytest.mark.parametrize("replicates", [4, 5, 10, 20])
def test_a_replicate_that_jumps_makes_them_uneven(replicates: int) -> None:
    jumped = 0
    for seed in range(8):
        for process in (generators.leaps(0.3), generators.leaps(0.1, jump=0.2, walks=True)):
            ensemble = process.sample(replicates, seed)
            jumps = one_jumps(ensemble)
            jumped += jumps
            assert not jumps or "uneven" in lyapunov(ensemble).warnings
    assert jumped >= 5


@pytest.mark.parametrize("replicates", [5, 10, 20])
@pytest.mark.parametrize(
    "process",
    [
        generators.random_walk(),
        generators.autoregressive(0.5, 0.1),
        generators.autoregressive(0.9, -0.1),
        generators.logistic(),
        generators.contraction(),
    ],
)
def test_steps_that_grow_or_shrink_with_all_others_are_no_jumps(
    process: generators.Process, replicates: int
) -> None:
    shown = sum("uneven" not in lyapunov(process.sample(replicates, s)).warnings for s in range(20))
    assert shown >= 17


@pytest.mark.parametrize("rate", [-0.15, 0.0, 0.15])
def test_a_round_in_which_all_stand_still_or_leap_together_has_no_jump(rate: float) -> None:
    for seed in range(5):
        frozen = generators.autoregressive(0.5, rate).sample(20, seed)
        frozen[:, 9] = frozen[:, 8]
        assert "uneven" not in lyapunov(frozen).warnings
        frozen[0, 12:] += 0.5 * generators.PLANE[0]
        assert "uneven" in lyapunov(frozen).warnings
        wide = generators.random_walk().sample(20, seed)
        wide[:, 19] += 5 * (wide[:, 19] - wide[:, 18])  # as where the last round's prompt names it
        assert "uneven" not in lyapunov(wide).warnings
        wide[0, 19] += 0.5 * generators.PLANE[0]
        assert "uneven" in lyapunov(wide).warnings


def test_a_window_of_one_step_has_a_usual_step_too() -> None:
    ensemble = generators.random_walk().sample(20, 1)
    assert "uneven" not in lyapunov(ensemble, window=(3, 4)).warnings
    ensemble[0, 3] += 0.5 * generators.PLANE[0]
    assert "uneven" in lyapunov(ensemble, window=(3, 4)).warnings


@pytest.mark.parametrize("interval", INTERVALS)
def test_where_few_replicates_carry_the_slope_neither_interval_nor_t_test_is_shown(
    interval: str,
) -> None:
    for ensemble in (
        generators.leaps(0.2).sample(20, 3),
        generators.decision_flips().sample(20, 1),
    ):
        found = lyapunov(ensemble, interval=interval, draws=200)
        assert found.refused
        assert np.isfinite([found.value, found.se]).all()
        shown = [found.ci_low, found.ci_high, found.p_zero, found.p_diffusion, found.p_jumps]
        assert found.diagnostics is not None
        assert np.isnan([*shown, found.diagnostics.excess_ci_low]).all()
        assert "no_interval" not in found.warnings
    assert not lyapunov(walks(12, 3, seed=5)).refused


def test_a_warning_that_an_earlier_version_stored_is_read_under_its_name_of_today() -> None:
    assert read_warnings("flip_dominated few_apart uneven") == ("uneven", "few_apart")
    assert read_warnings("") == ()


def test_decisions_alone_make_nothing_uneven() -> None:
    divided = lyapunov(walks(20, 3, seed=1), decisions=["A"] * 10 + ["B"] * 10)
    assert divided.warnings == lyapunov(walks(20, 3, seed=1)).warnings
    assert np.isfinite([divided.ci_low, divided.ci_high]).all()


def test_divergence_at_half_the_cap_is_saturated() -> None:
    ensemble = separating(np.exp(0.05 * ROUNDS), replicates=20) - 1 / 3
    d = slow_level(ensemble)
    half = np.sqrt(2) * (7 * 7 + 7 * 6 + 7 * 6) / 190 / 2
    for share, first in ((0.99 / d[19], None), (1.01 / d[19], 20), (1.01 / d[9], 10)):
        found = lyapunov(ensemble * half * share)
        assert found.diagnostics is not None
        assert found.diagnostics.saturated_round == first
        assert ("saturated" in found.warnings) == (first is not None)


@pytest.mark.parametrize(("sd", "warned"), [(0.002, True), (0.05, False)])
def test_divergence_of_a_few_steps_of_a_grid_is_quantised(sd: float, warned: bool) -> None:
    seats = np.random.default_rng(0).normal(0.4, sd, (20, 20, 5, 2)).round(2)
    third = 1 - seats.sum(axis=-1, keepdims=True)
    ensemble = np.concatenate([seats, third], axis=-1).mean(axis=2)
    found = lyapunov(ensemble)
    assert found.diagnostics is not None
    assert_allclose(found.diagnostics.grid, 0.002, rtol=1e-6)
    assert ("quantised" in found.warnings) == warned


@pytest.mark.parametrize(("replicates", "warned"), [(9, True), (10, False), (20, False)])
def test_few_replicates_are_warned_of(replicates: int, warned: bool) -> None:
    assert ("few_replicates" in lyapunov(walks(replicates, 3, seed=4)).warnings) == warned


# --- zeros and nothings ------------------------------------------------------------------------


def test_rounds_without_divergence_are_left_out_and_counted() -> None:
    level = 0.01 * np.exp(0.05 * ROUNDS)
    level[[4, 5, 11]] = 0.0
    found = lyapunov(separating(level))
    assert_allclose(found.value, 0.05, atol=1e-10)
    assert (found.rounds_used, found.zero_rounds) == (15, 3)
    assert "zero_rounds" in found.warnings
    assert found.status == "ok"


# --- input errors ------------------------------------------------------------------------------
