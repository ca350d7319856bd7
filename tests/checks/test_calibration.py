"""The calibration measures what it says: known truths, and every column what its name says."""

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_equal
from numpy.typing import NDArray

from plenum.checks import calibration
from plenum.checks.calibration import CALIBRATED, CONTRASTS, NULLS, PROCESSES, sample
from plenum.dynamics import (
    INTERVALS,
    bootstrap,
    contrast,
    divergence,
    generators,
    lyapunov,
    mixed_model,
    pooled,
    reversal_test,
    shuffle_test,
)
from plenum.dynamics.generators import Process

ROUNDS = np.arange(1, 21, dtype=float)
WINDOW = np.arange(3, 21)
MAKE = dict(PROCESSES)
Floats = NDArray[np.float64]


def slope(level: Floats) -> float:
    """The slope of log D over rounds 3 to 20, by a general solver."""
    return float(np.polyfit(WINDOW, np.log(level[2:20]), 1)[0])


def flips(hazard: float) -> Floats:
    """The share of pairs that stand at different points, of three."""
    q = 1 - (1 - hazard) ** ROUNDS
    return np.asarray(1 - (1 - q) ** 2 - q**2 / 2)


STATED = {
    "AR(1), ρ = 0": 0.0,
    "AR(1), ρ = 0.5": 0.0,
    "AR(1), ρ = 0.9": 0.0,
    "committee, settled": 0.0,
    "unequal spread, ρ = 0.9": 0.0,
    "random walk": slope(np.sqrt(ROUNDS)),
    "contraction": slope(np.sqrt(0.01**2 + (0.1**2 - 0.01**2) * 0.64 ** (ROUNDS - 1))),
    "committee, gain 1.05": slope(np.sqrt(np.cumsum(1.05 ** (2 * (ROUNDS - 1))))),
    "AR(1), ρ = 0.9, rate 0.03": 0.03,
    "plateau": slope(np.exp(0.1 * np.minimum(ROUNDS, 10))),
    "logistic": slope(0.9 / (1 + (0.9 / 0.02 - 1) * np.exp(-0.3 * (ROUNDS - 1)))),
    "flips, hazard 0.03, no noise": slope(flips(0.03)),
}


def apart(process: Process, pairs: int = 8000) -> Floats:
    """Distances of independent pairs, shape (pairs, rounds)."""
    ensemble = process.sample(2 * pairs, seed=3)
    return np.asarray(np.linalg.norm(ensemble[::2] - ensemble[1::2], axis=-1))


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cheap draws."""
    for name in ("REVERSALS", "PERMUTATIONS"):
        monkeypatch.setattr(calibration, name, 150)
    monkeypatch.setattr(calibration, "SHUFFLES", 40)
    monkeypatch.setattr(calibration, "SHUFFLED", 6)
    monkeypatch.setattr(calibration, "BOOTSTRAPS", 700)  # the papers' 500 are but a part


# --- the truths --------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "truth"), STATED.items())
def test_a_process_has_the_exponent_that_its_name_states(name: str, truth: float) -> None:
    assert_allclose(MAKE[name]().exponent(), truth, atol=1e-9)


@pytest.mark.parametrize("name", MAKE)
def test_the_draws_of_a_process_part_at_its_exponent(name: str) -> None:
    """The law of a Gaussian distance keeps its shape, so that its mean log grows as D does."""
    process = MAKE[name]()
    distances = apart(process)
    level = np.exp(np.log(distances).mean(axis=0)) if process.unbiased else distances.mean(axis=0)
    assert_allclose(slope(level), process.exponent(), atol=0.002 if process.unbiased else 0.006)


@pytest.mark.parametrize("hazard", [0.03, 0.005])
def test_flips_with_noise_part_as_their_hazard_says(hazard: float) -> None:
    process = MAKE[f"flips, hazard {hazard:g}"]()
    near, far = 0.01 * math.sqrt(math.pi), 0.5 + 0.01**2 / (2 * 0.5)
    share = flips(hazard)
    assert_allclose(process.divergence, share * far + (1 - share) * near, rtol=1e-3)


@pytest.mark.parametrize("name", NULLS)
def test_the_null_processes_have_no_growth_in_any_round(name: str) -> None:
    process = MAKE[name]()
    assert abs(process.exponent()) < 1e-3
    assert_allclose(process.divergence, process.divergence.mean(), rtol=1e-3)
    level = apart(process).mean(axis=0)
    assert_allclose(level, process.divergence, rtol=0.03)


def test_a_settled_committee_no_longer_grows_but_one_that_begins_does() -> None:
    settled, young = calibration.settled(), generators.committee(0.8)
    assert settled.divergence.shape == (20,)
    assert settled.sample(4).shape == (4, 20, 3)
    assert young.exponent() > 1e-3 > abs(settled.exponent())


def test_unequal_replicates_spread_over_orders_of_magnitude() -> None:
    ensemble = calibration.unequal().sample(4000)
    spread = np.linalg.norm(ensemble - 1 / 3, axis=-1).mean(axis=1)
    equal = np.linalg.norm(generators.autoregressive(0.9).sample(4000) - 1 / 3, axis=-1).mean(
        axis=1
    )
    extra = np.log(spread).var() - np.log(equal).var()
    assert_allclose(math.sqrt(extra), 2, rtol=0.05)


def test_drift_moves_all_replicates_and_parts_none() -> None:
    drift, still = calibration.drifting().sample(20), generators.autoregressive(0.9).sample(20)
    assert_allclose(divergence(drift), divergence(still))
    moved = np.linalg.norm(drift.mean(axis=0)[-1] - drift.mean(axis=0)[0])
    assert moved > 10 * divergence(still).mean()


def test_named_processes_exist_once() -> None:
    names = [name for name, _ in PROCESSES]
    assert len(set(names)) == len(names)
    assert {*NULLS, *CALIBRATED, *STATED} <= set(names)
    assert set(names) - set(STATED) == {"flips, hazard 0.03", "flips, hazard 0.005"}


@pytest.mark.parametrize(
    ("name", "null", "treated", "control"), CONTRASTS, ids=[row[0] for row in CONTRASTS]
)
def test_a_contrast_measures_size_without_a_difference_and_power_with_one(
    name: str, null: bool, treated: Callable[[], Process], control: Callable[[], Process]
) -> None:
    difference = treated().exponent() - control().exponent()
    assert_allclose(difference, 0 if null else 0.03, atol=1e-12)
    assert ("Δλ" in name) is not null


def test_the_arms_of_unequal_spread_differ_tenfold() -> None:
    (arms,) = [row[2:] for row in CONTRASTS if row[0].startswith("spread tenfold")]
    first, second = (divergence(arm().sample(50)).mean() for arm in arms)
    assert_allclose(second / first, 10, rtol=1e-9)


# --- draws -------------------------------------------------------------------------------------


def test_a_draw_depends_on_its_key_alone() -> None:
    process = generators.autoregressive(0.5)
    first = sample(process, 1, 2, 3)
    assert first.shape == (20, 20, 3)
    assert_equal(sample(process, 1, 2, 3), first)
    for key in ((1, 2, 4), (1, 3, 3), (4, 2, 3)):
        assert (sample(process, *key) != first).any()


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("number", [1, 5, 11])
def test_a_row_of_estimates_holds_the_estimate_every_interval_every_p_and_the_warning(
    number: int,
) -> None:
    for draw in (5, 6):
        row = calibration.estimates(number, draw)
        ensemble = sample(PROCESSES[number][1](), 1, number, draw)
        found = lyapunov(ensemble)
        resampled = bootstrap(ensemble, draws=700, seed=draw)
        limits = [found.ci_low, found.ci_high]
        for method in ("percentile", "bca", "bootstrap_t", "seed_compatible"):
            interval = resampled.interval(method)
            limits += [interval.low, interval.high]
        p = [
            reversal_test(ensemble, draws=150, seed=draw).p,
            reversal_test(ensemble, centre="mean", draws=150, seed=draw).p,
            found.p_zero,
            found.p_diffusion,
            shuffle_test(ensemble, draws=40, seed=draw).p if draw == 5 else math.nan,
        ]
        assert_allclose(row[0], found.value, rtol=1e-12)
        assert_allclose(row[1:11], limits, rtol=1e-9)
        assert_equal(row[11:16], p)
        assert row[16] == float("flip_dominated" in found.warnings)
        assert len(row) == 17
        assert number == 11 or len(set(limits)) == 10  # no two columns could change places
    assert INTERVALS == ("jackknife", "percentile", "bca", "bootstrap_t", "seed_compatible")


@pytest.mark.usefixtures("few")
def test_draws_that_flips_dominate_are_marked() -> None:
    index = [name for name, _ in PROCESSES].index("flips, hazard 0.03")
    assert [calibration.estimates(index, draw)[16] for draw in range(4)].count(1.0) >= 3
    assert [calibration.estimates(0, draw)[16] for draw in range(4)].count(1.0) <= 1


def test_a_row_of_jackknives_holds_the_estimate_and_its_default_interval() -> None:
    for draw in (7, 8, 9):
        found = lyapunov(sample(PROCESSES[2][1](), 4, 2, draw))
        row = calibration.jackknives(2, draw)
        assert_allclose(row, [found.value, found.ci_low, found.ci_high], rtol=1e-12)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("number", [2, 7])
def test_a_row_of_contrasts_holds_permutation_p_welch_p_and_the_interval(number: int) -> None:
    _, _, treated, control = CONTRASTS[number]
    for draw in (3, 4):
        row = calibration.contrasts(number, draw)
        arms = sample(treated(), 2, number, draw, 0), sample(control(), 2, number, draw, 1)
        found = contrast(*arms, draws=150, seed=draw)
        assert row == [found.p, found.p_wald, found.ci_low, found.ci_high]
        assert found.p != found.p_wald
        assert (arms[0] != arms[1]).any()


def test_batches_are_measured_as_their_kind_says() -> None:
    assert list(calibration.KINDS.values()) == [
        getattr(calibration, name) for name in calibration.KINDS
    ]
    task = ("jackknives", 1, 4, 2)
    assert calibration.work(task) == (task, [calibration.jackknives(1, n) for n in (4, 5)])


# --- pooled effects ----------------------------------------------------------------------------


class Recorded:
    """Stands in for the estimators of pooled effects, and keeps what they were given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rates: list[float] = []
        self.effects: list[list[float]] = []
        self.errors: list[list[float]] = []
        self.cells: list[Any] = []
        self._autoregressive = generators.autoregressive
        monkeypatch.setattr(generators, "autoregressive", self.process)
        monkeypatch.setattr(calibration, "pooled", self.pooled)
        monkeypatch.setattr(calibration, "mixed_model", self.mixed_model)

    def process(self, rho: float = 0.5, rate: float = 0.0, **more: Any) -> Process:
        self.rates.append(rate)
        return self._autoregressive(rho, rate=rate, **more)

    def pooled(self, effects: list[float], errors: list[float]) -> Any:
        self.effects.append(effects)
        self.errors.append(errors)
        return pooled(effects, errors)

    def mixed_model(self, cells: list[Any]) -> Any:
        self.cells.append(cells)
        return mixed_model(cells)


def test_the_pooled_interaction_is_minus_three_percent_on_average(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The truth that the page holds the intervals to, and the spread that it tells."""
    kept = Recorded(monkeypatch)
    fixed = lyapunov(generators.random_walk().sample(6))
    terms = type("Terms", (), {"effects": {"roles x mixed": pooled([0.0, 0.1], [1.0, 1.0])}})
    monkeypatch.setattr(calibration, "REPLICATES", 2)
    monkeypatch.setattr(calibration, "lyapunov", lambda ensemble: fixed)
    monkeypatch.setattr(calibration, "mixed_model", lambda cells: terms)
    monkeypatch.setattr(calibration, "pooled", lambda y, se: terms.effects["roles x mixed"])
    for draw in range(60):
        calibration.pools(0, draw)
    rates = np.array(kept.rates).reshape(-1, 4)
    interactions = rates[:, 0] - rates[:, 1] - rates[:, 2] + rates[:, 3]
    assert len(interactions) == 60 * 12
    assert_allclose(interactions.mean(), -0.03, atol=0.003)
    assert_allclose(interactions.std(), 0.02, rtol=0.1)


def test_a_row_of_pools_holds_the_intervals_of_the_mean_the_model_and_the_fixed_effect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = Recorded(monkeypatch)
    row = calibration.pools(0, 3)
    (cells,), (effects,), (errors,) = kept.cells, kept.effects, kept.errors
    assert len(cells) == 48
    by_scenario: dict[str, dict[tuple[bool, bool], Floats]] = {}
    for scenario, roles, mixed, ensemble in cells:
        by_scenario.setdefault(scenario, {})[roles, mixed] = ensemble
    for square, effect, error in zip(by_scenario.values(), effects, errors, strict=True):
        found = {key: lyapunov(ensemble) for key, ensemble in square.items()}
        roles = found[True, False].value - found[False, False].value
        both = found[True, True].value - found[False, True].value
        assert_allclose(effect, both - roles)
        assert_allclose(error, math.sqrt(sum(e.se**2 for e in found.values())))
    rates = dict(zip([c[:3] for c in cells], kept.rates, strict=True))
    assert cast(float, rates["0", True, True]) == kept.rates[0]
    mean, model = pooled(effects, errors), mixed_model(cells).effects["roles x mixed"]
    weights = 1 / np.square(errors)
    fixed = (weights * effects).sum() / weights.sum()
    half = 1.959964 / math.sqrt(weights.sum())
    limits = [mean.ci_low, mean.ci_high, model.ci_low, model.ci_high, fixed - half, fixed + half]
    assert_allclose(row, limits, rtol=1e-3)
