"""λ̂: the slope of log D(t), its jackknife, and what it says where there is no slope."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy import stats

from plenum.dynamics import LyapunovEstimate, divergence, lyapunov
from plenum.dynamics.summary import summarise

Ensemble = NDArray[np.float64]
ROUNDS = np.arange(1, 21, dtype=float)


def directions(replicates: int, options: int, seed: int = 7) -> NDArray[np.float64]:
    """Points in the plane of the simplex."""
    points = np.random.default_rng(seed).normal(size=(replicates, options))
    return np.asarray(points - points.mean(axis=1, keepdims=True))


def separating(
    level: NDArray[np.float64], replicates: int = 4, options: int = 3, seed: int = 7
) -> Ensemble:
    """Replicates whose pairwise distances are all proportional to ``level``."""
    points = directions(replicates, options, seed)
    return np.asarray(1 / options + level[None, :, None] * points[:, None, :])


def walks(replicates: int, options: int, seed: int, rounds: int = 20) -> Ensemble:
    """Independent random walks."""
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(0, 0.01, (replicates, rounds, options)).cumsum(axis=1))


def slow_slope(ensemble: Ensemble, first: int, last: int) -> float:
    """λ̂ by loops and a general least-squares solver."""
    level = []
    for t in range(first - 1, last):
        points = ensemble[:, t]
        pairs = [(i, j) for i in range(len(points)) for j in range(i)]
        level.append(np.mean([np.sqrt(((points[i] - points[j]) ** 2).sum()) for i, j in pairs]))
    kept = [(t, np.log(d)) for t, d in enumerate(level, start=first) if d > 0]
    rounds, logs = np.array(kept).T
    design = np.column_stack([np.ones_like(rounds), rounds])
    return float(np.linalg.lstsq(design, logs, rcond=None)[0][1])


def slow_jackknife(ensemble: Ensemble, first: int, last: int) -> float:
    """The delete-one standard error, from the definition."""
    count = len(ensemble)
    left_out = [slow_slope(np.delete(ensemble, r, axis=0), first, last) for r in range(count)]
    mean = sum(left_out) / count
    return float(np.sqrt((count - 1) / count * sum((v - mean) ** 2 for v in left_out)))


# --- the slope ---------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.05, -0.12, 0.0])
@pytest.mark.parametrize(("replicates", "options"), [(2, 2), (2, 3), (6, 3), (5, 5)])
def test_exponential_separation_has_its_rate(rate: float, replicates: int, options: int) -> None:
    ensemble = separating(0.01 * np.exp(rate * ROUNDS), replicates, options)
    assert_allclose(lyapunov(ensemble).value, rate, atol=1e-10)


@pytest.mark.parametrize("window", [(1, 20), (3, 20), (5, 9), (19, 20)])
def test_only_the_rounds_of_the_window_count(window: tuple[int, int]) -> None:
    first, last = window
    inside = (first <= ROUNDS) & (last >= ROUNDS)
    level = np.where(inside, 0.01 * np.exp(0.05 * ROUNDS), 0.5 / ROUNDS)
    found = lyapunov(separating(level), window)
    assert_allclose(found.value, 0.05, atol=1e-10)
    assert found.rounds_used == last - first + 1


def test_the_default_window_is_rounds_3_to_20() -> None:
    ensemble = walks(5, 3, seed=1, rounds=25)
    assert lyapunov(ensemble) == lyapunov(ensemble, (3, 20))


def test_rounds_beyond_the_last_are_ignored() -> None:
    found = lyapunov(separating(np.exp(0.05 * ROUNDS[:8])))
    assert found.rounds_used == 6
    assert_allclose(found.value, 0.05, atol=1e-10)


@given(st.integers(2, 8), st.integers(2, 6), st.integers(0, 10_000))
def test_the_slope_agrees_with_a_slow_reference(replicates: int, options: int, seed: int) -> None:
    ensemble = walks(replicates, options, seed)
    assert_allclose(lyapunov(ensemble).value, slow_slope(ensemble, 3, 20), rtol=1e-9, atol=1e-12)


@given(
    st.integers(3, 8), st.integers(2, 6), st.integers(0, 10_000), st.floats(1e-2, 1e2), st.data()
)
def test_order_of_replicates_and_options_and_scale_say_nothing(
    replicates: int, options: int, seed: int, scale: float, data: st.DataObject
) -> None:
    ensemble = walks(replicates, options, seed)
    rows = data.draw(st.permutations(range(replicates)))
    columns = data.draw(st.permutations(range(options)))
    base, changed = lyapunov(ensemble), lyapunov(scale * ensemble[rows][:, :, columns] + 0.3)
    assert_allclose(changed.value, base.value, rtol=1e-6, atol=1e-9)
    assert_allclose(changed.se, base.se, rtol=1e-6, atol=1e-9)


def test_random_walks_average_near_the_diffusion_value_of_00509() -> None:
    # D of Gaussian walks is sqrt(t) times a variable whose law doesn't depend on t, so the mean
    # of λ̂ is exactly the slope of ½ log t. Over 400 ensembles the standard error of the mean is
    # about 0.001; four of them are allowed.
    values = np.array([lyapunov(walks(20, 3, seed)).value for seed in range(400)])
    diffusion = np.polyfit(ROUNDS[2:], 0.5 * np.log(ROUNDS[2:]), 1)[0]
    assert_allclose(diffusion, 0.0509, atol=5e-5)
    error = values.std(ddof=1) / np.sqrt(len(values))
    assert error < 0.002
    assert abs(values.mean() - diffusion) < 4 * error


# --- uncertainty -------------------------------------------------------------------------------


@given(st.integers(3, 8), st.integers(2, 6), st.integers(0, 10_000))
def test_the_jackknife_agrees_with_a_slow_reference(
    replicates: int, options: int, seed: int
) -> None:
    ensemble = walks(replicates, options, seed)
    assert_allclose(lyapunov(ensemble).se, slow_jackknife(ensemble, 3, 20), rtol=1e-6)


def test_the_jackknife_holds_where_one_replicate_alone_makes_the_difference() -> None:
    ensemble = walks(5, 3, seed=3)
    ensemble[:4, :8] = ensemble[0, :8]  # without the fifth, rounds 3 to 8 have D = 0
    assert_allclose(lyapunov(ensemble).se, slow_jackknife(ensemble, 3, 20), rtol=1e-6)


def test_the_interval_has_t_quantiles_of_one_degree_less_than_replicates() -> None:
    found = lyapunov(walks(7, 3, seed=5))
    margin = stats.t(6).ppf(0.975) * found.se
    assert_allclose([found.ci_low, found.ci_high], [found.value - margin, found.value + margin])


def test_exact_separation_leaves_no_uncertainty() -> None:
    found = lyapunov(separating(np.exp(0.05 * ROUNDS), replicates=5))
    assert_allclose(found.se, 0, atol=1e-10)


def test_two_replicates_give_a_value_without_an_interval() -> None:
    found = lyapunov(walks(2, 3, seed=2))
    assert np.isfinite(found.value)
    assert np.isnan([found.se, found.ci_low, found.ci_high]).all()
    assert "no_interval" in found.warnings


@pytest.mark.parametrize(("replicates", "warned"), [(9, True), (10, False), (20, False)])
def test_few_replicates_are_warned_of(replicates: int, warned: bool) -> None:
    assert ("few_replicates" in lyapunov(walks(replicates, 3, seed=4)).warnings) == warned


def test_an_estimate_tells_its_n() -> None:
    assert lyapunov(walks(6, 3, seed=1)).replicates == 6


# --- zeros and nothings ------------------------------------------------------------------------


def test_rounds_without_divergence_are_left_out_and_counted() -> None:
    level = 0.01 * np.exp(0.05 * ROUNDS)
    level[[4, 5, 11]] = 0.0
    found = lyapunov(separating(level))
    assert_allclose(found.value, 0.05, atol=1e-10)
    assert (found.rounds_used, found.zero_rounds) == (15, 3)
    assert "zero_rounds" in found.warnings
    assert found.status == "ok"


def test_zero_rounds_outside_the_window_are_not_counted() -> None:
    level = 0.01 * np.exp(0.05 * ROUNDS)
    level[:2] = 0.0
    found = lyapunov(separating(level))
    assert (found.rounds_used, found.zero_rounds) == (18, 0)
    assert "zero_rounds" not in found.warnings


@pytest.mark.parametrize("noise", [0.0, 1e-12])
def test_identical_replicates_have_no_exponent(noise: float) -> None:
    one = walks(1, 3, seed=1)
    ensemble = np.repeat(one, 5, axis=0) + noise * directions(5, 3)[:, None, :]
    found = lyapunov(ensemble)
    assert found.status == "identical"
    assert np.isnan([found.value, found.se, found.ci_low, found.ci_high]).all()
    assert (found.rounds_used, found.zero_rounds, found.replicates) == (0, 18, 5)


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_too_few_rounds_for_a_slope_are_short(rounds: int) -> None:
    found = lyapunov(walks(5, 3, seed=1)[:, :rounds])
    assert (found.status, found.rounds_used) == ("short", max(rounds - 2, 0))
    assert np.isnan(found.value)


def test_one_round_with_divergence_is_too_short_for_a_slope() -> None:
    level = np.zeros(20)
    level[10] = 0.1
    found = lyapunov(separating(level))
    assert (found.status, found.rounds_used, found.zero_rounds) == ("short", 1, 17)


@pytest.mark.parametrize("replicates", [0, 1])
def test_fewer_than_two_replicates_have_no_exponent(replicates: int) -> None:
    found = lyapunov(walks(replicates, 3, seed=1))
    assert (found.status, found.replicates) == ("single", replicates)
    assert np.isnan(found.value)


@pytest.mark.parametrize("status", ["identical", "single", "short"])
def test_an_estimate_without_a_value_carries_its_status_as_a_warning(status: str) -> None:
    one = walks(1, 3, seed=1)
    ensembles = {
        "identical": np.repeat(one, 3, axis=0),
        "single": one,
        "short": walks(3, 3, seed=1)[:, :2],
    }
    assert status in lyapunov(ensembles[status]).warnings


# --- input errors ------------------------------------------------------------------------------


@pytest.mark.parametrize("window", [(0, 20), (-1, 5), (3, 3), (9, 3)])
def test_a_window_needs_a_first_round_before_its_last(window: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="a window is"):
        lyapunov(walks(3, 3, seed=1), window)


@pytest.mark.parametrize(
    "ensemble", [np.zeros((4, 3)), np.zeros((2, 4, 1)), np.full((2, 4, 3), np.nan)]
)
def test_what_is_no_ensemble_is_refused(ensemble: Ensemble) -> None:
    with pytest.raises(ValueError, match="an ensemble"):
        lyapunov(ensemble)


# --- everything at once ------------------------------------------------------------------------


def test_a_summary_holds_the_estimates_of_the_committee_mean() -> None:
    rng = np.random.default_rng(3)
    seats = rng.dirichlet(np.ones(3), (6, 20, 5))
    found = summarise(seats, list("AABBBC"))
    mean = seats.mean(axis=2)
    assert isinstance(found.lyapunov, LyapunovEstimate)
    assert found.lyapunov == lyapunov(mean)
    assert_allclose(found.divergence, divergence(mean))
    assert_allclose(found.flip_rate, 0.5)


def test_a_summary_takes_the_window_it_is_given() -> None:
    seats = np.random.default_rng(3).dirichlet(np.ones(3), (6, 20, 5))
    found = summarise(seats, list("AABBBC"), (5, 12))
    assert found.lyapunov == lyapunov(seats.mean(axis=2), (5, 12))
