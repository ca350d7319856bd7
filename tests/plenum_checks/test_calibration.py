"""The calibration measures what it says: known truths, and every column what its name says."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_equal
from numpy.typing import NDArray

from plenum.dynamics import (
    INTERVALS,
    bootstrap,
    contrast,
    divergence,
    fit_mixed_model,
    lyapunov,
    margin,
    pool,
    reversal_test,
    shuffle_test,
    two_sided_p,
)
from plenum_checks import calibration, generators
from plenum_checks.calibration import CALIBRATED, CONTRASTS, NULLS, POOLING, PROCESSES, sample
from plenum_checks.generators import Process

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
    draws = {"REVERSALS": 150, "PERMUTATIONS": 150, "SHUFFLES": 40, "SHUFFLED": 6}
    for name, number in {**draws, "BOOTSTRAPS": 700}.items():  # the papers' 500 are but a part
        monkeypatch.setattr(calibration, name, number)


# --- the truths --------------------------------------------------------------------------------


def test_a_process_has_the_exponent_that_its_name_states() -> None:
    assert len(MAKE) == len(PROCESSES)
    assert {*NULLS, *CALIBRATED, *STATED} <= set(MAKE)
    for name, truth in STATED.items():
        assert_allclose(MAKE[name]().exponent(), truth, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("name", MAKE)
def test_the_draws_of_a_process_part_at_its_exponent(name: str) -> None:
    """The law of a Gaussian distance keeps its shape, so that its mean log grows as D does."""
    process = MAKE[name]()
    distances = apart(process)
    level = np.exp(np.log(distances).mean(axis=0)) if process.unbiased else distances.mean(axis=0)
    assert_allclose(slope(level), process.exponent(), atol=0.002 if process.unbiased else 0.006)
    if name in NULLS:  # no growth in any round
        assert_allclose(process.divergence, process.divergence.mean(), rtol=1e-3)


def test_unequal_replicates_spread_over_orders_of_magnitude() -> None:
    draws = [p.sample(4000) for p in (calibration.unequal(), generators.autoregressive(0.9))]
    spreads = [np.linalg.norm(draw - 1 / 3, axis=-1).mean(axis=1) for draw in draws]
    extra = np.log(spreads[0]).var() - np.log(spreads[1]).var()
    assert_allclose(math.sqrt(extra), 2, rtol=0.05)


def test_drift_moves_all_replicates_and_parts_none() -> None:
    drift, still = (
        calibration.build_drifting().sample(20),
        generators.autoregressive(0.9).sample(20),
    )
    assert_allclose(divergence(drift), divergence(still))
    moved = np.linalg.norm(drift.mean(axis=0)[-1] - drift.mean(axis=0)[0])
    assert moved > 10 * divergence(still).mean()


@pytest.mark.parametrize(
    ("name", "null", "treated", "control"), CONTRASTS, ids=[row[0] for row in CONTRASTS]
)
def test_a_contrast_measures_size_without_a_difference_and_power_with_one(
    name: str, null: bool, treated: Callable[[], Process], control: Callable[[], Process]
) -> None:
    difference = treated().exponent() - control().exponent()
    assert_allclose(difference, 0 if null else 0.03, atol=1e-12)
    assert ("Δλ" in name) is not null


# --- draws -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("number", [1, 11])
def test_a_row_of_estimates_holds_what_its_names_say(number: int) -> None:
    for draw in (5, 6):
        row = calibration.estimates(number, draw)
        ensemble = sample(PROCESSES[number][1](), 1, number, draw)
        found, resampled = lyapunov(ensemble), bootstrap(ensemble, draws=700, seed=draw)
        assert found.diagnostics is not None
        half = margin(found.se, 19)  # also where it isn't shown
        expected = {"value": found.value, "jackknife low": found.value - half}
        expected |= {"jackknife high": found.value + half}
        for method in INTERVALS[1:]:
            interval = resampled.interval(method)
            expected |= {f"{method} low": interval.low, f"{method} high": interval.high}
        expected |= {
            "reversal": reversal_test(ensemble, draws=150, seed=draw).p,
            "reversal on the mean": reversal_test(ensemble, centre="mean", draws=150, seed=draw).p,
            "Wald, λ = 0": two_sided_p(found.value, found.se, 19),
            "Wald, diffusion": two_sided_p(found.value - found.diagnostics.diffusion, found.se, 19),
            "shuffle (papers)": math.nan,
            "uneven": float("uneven" in found.warnings),
        }
        if draw == 5:
            expected["shuffle (papers)"] = shuffle_test(ensemble, draws=40, seed=draw).p
        assert row.keys() == expected.keys()
        assert_allclose([*row.values()], [*expected.values()], rtol=1e-9)


def test_a_row_of_jackknives_holds_the_default_interval_and_batches_their_draws() -> None:
    rows = calibration.work(("jackknives", 2, 7, 2))
    assert [(row["number"], row["draw"]) for row in rows] == [(2, 7), (2, 8)]
    for row in rows:
        found = lyapunov(sample(PROCESSES[2][1](), 4, 2, int(row["draw"])))
        limits = row["jackknife low"], row["jackknife high"]
        assert_allclose(limits, [found.ci_low, found.ci_high], rtol=1e-12)


@pytest.mark.usefixtures("few")
def test_a_row_of_contrasts_compares_two_arms() -> None:
    _, _, treated, control = CONTRASTS[7]
    row = calibration.contrasts(7, 3)
    arms = sample(treated(), 2, 7, 3, 0), sample(control(), 2, 7, 3, 1)
    found = contrast(*arms, draws=150, seed=3)
    p = {"permutation": found.p, "Welch": found.p_wald}
    assert row == {**p, "low": found.ci_low, "high": found.ci_high}
    assert (arms[0] != arms[1]).any()


# --- pooled effects ----------------------------------------------------------------------------


def test_a_row_of_pools_holds_the_intervals_of_the_mean_the_model_and_the_fixed_effect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Over twelve scenarios, whose rates differ by the interaction of the page."""
    kept: dict[str, Any] = {}
    rates: list[float] = []
    autoregressive = generators.autoregressive

    def process(rho: float = 0.5, rate: float = 0.0, **more: Any) -> Process:
        rates.append(rate)
        return autoregressive(rho, rate=rate, **more)

    def mean(effects: list[float], errors: list[float]) -> Any:
        kept.update(effects=effects, errors=errors)
        return pool(effects, errors)

    def model(cells: list[Any]) -> Any:
        kept.update(cells=cells)
        return fit_mixed_model(cells)

    monkeypatch.setattr(generators, "autoregressive", process)
    monkeypatch.setattr(calibration, "pool", mean)
    monkeypatch.setattr(calibration, "fit_mixed_model", model)
    row = calibration.pools(0, 3)
    squares = np.array(rates).reshape(12, 4) @ [1, -1, -1, 1]
    assert_allclose(squares.mean(), -0.03, atol=3 * 0.02 / math.sqrt(12))
    cells, effects, errors = kept["cells"], kept["effects"], kept["errors"]
    found = [lyapunov(ensemble) for *_, ensemble in cells]
    labels = [(True, True), (True, False), (False, True), (False, False)] * 12
    assert_equal([tuple(cell[1:3]) for cell in cells], labels)
    values = np.array([[e.value, e.se] for e in found]).reshape(12, 4, 2)
    assert_allclose(effects, values[..., 0] @ [1, -1, -1, 1])
    assert_allclose(errors, np.sqrt((values[..., 1] ** 2).sum(axis=1)))
    pools, terms = pool(effects, errors), fit_mixed_model(cells).effects["roles x mixed"]
    weights = 1 / np.square(errors)
    fixed, half = np.average(effects, weights=weights), 1.959964 / math.sqrt(weights.sum())
    limits = [pools.ci_low, pools.ci_high, terms.ci_low, terms.ci_high, fixed - half, fixed + half]
    assert_allclose([*row.values()], limits, rtol=1e-3)
    assert list(row) == [f"{method} {end}" for method in POOLING for end in ("low", "high")]
