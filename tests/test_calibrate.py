"""The calibration measures what it says: known truths, and every column what its name says."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import calibrate
import numpy as np
import pandas as pd
import pytest
import suite_draws
from calibrate import CALIBRATED, CONTRASTS, KINDS, MIXTURES, NULLS, PROCESSES, VERDICTS
from command_line import Run
from generators import Process
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose

from plenum.dynamics.divergence import divergence
from plenum.dynamics.estimate import margin
from plenum.dynamics.fit import Floats
from plenum.dynamics.lyapunov import lyapunov
from plenum.dynamics.nulls import reversal_test
from plenum.dynamics.resampling import bootstrap
from plenum.show.style import PAGE

ROUNDS = np.arange(1, 21, dtype=float)
WINDOW = np.arange(3, 21)


def slope(level: Floats) -> float:
    """The slope of log D over rounds 3 to 20, by a general solver."""
    return float(np.polyfit(WINDOW, np.log(level[2:20]), 1)[0])


STATED = {
    **dict.fromkeys(("AR(1), ρ = 0", "AR(1), ρ = 0.5", "AR(1), ρ = 0.9"), 0.0),
    **dict.fromkeys(("committee, settled", "unequal spread, ρ = 0.9"), 0.0),
    "random walk": slope(np.sqrt(ROUNDS)),
    "contraction": slope(np.sqrt(0.01**2 + (0.1**2 - 0.01**2) * 0.64 ** (ROUNDS - 1))),
    "committee, gain 1.05": slope(np.sqrt(np.cumsum(1.05 ** (2 * (ROUNDS - 1))))),
    "AR(1), ρ = 0.9, rate 0.03": 0.03,
    "plateau": slope(np.exp(0.1 * np.minimum(ROUNDS, 10))),
    "logistic": slope(0.9 / (1 + (0.9 / 0.02 - 1) * np.exp(-0.3 * (ROUNDS - 1)))),
}


def test_a_process_has_the_exponent_that_its_name_states() -> None:
    assert {*NULLS, *CALIBRATED} <= STATED.keys() < PROCESSES.keys()
    for name, truth in STATED.items():
        assert_allclose(PROCESSES[name]().exponent(), truth, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("name", PROCESSES)
def test_the_draws_of_a_process_part_at_its_exponent(name: str) -> None:
    """The law of a Gaussian distance keeps its shape, so that its mean log grows as D does."""
    process = PROCESSES[name]()
    ensemble = process.sample(16_000, seed=3)
    distances = np.linalg.norm(ensemble[::2] - ensemble[1::2], axis=-1)
    level = np.exp(np.log(distances).mean(axis=0)) if process.unbiased else distances.mean(axis=0)
    assert_allclose(slope(level), process.exponent(), atol=0.002 if process.unbiased else 0.006)
    if name in NULLS:  # no growth in any round
        assert_allclose(process.divergence, process.divergence.mean(), rtol=1e-3)


def test_drift_moves_all_replicates_and_parts_none() -> None:
    drift, still = calibrate.build_drifting().sample(20), PROCESSES["AR(1), ρ = 0.9"]().sample(20)
    assert_allclose(divergence(drift), divergence(still))
    moved = np.linalg.norm(drift.mean(axis=0)[-1] - drift.mean(axis=0)[0])
    assert moved > 10 * divergence(still).mean()


@pytest.mark.parametrize("name", CONTRASTS)
def test_a_contrast_measures_size_without_a_difference_and_power_with_one(name: str) -> None:
    arms: tuple[Callable[[], Process], ...] = CONTRASTS[name]
    difference = arms[0]().exponent() - arms[1]().exponent()
    assert_allclose(difference, 0.03 if name.startswith("power") else 0, atol=1e-12)


@pytest.mark.parametrize("name", VERDICTS)
def test_a_suite_disagrees_as_often_as_its_name_states(name: str) -> None:
    _, chance, share = VERDICTS[name]
    stated = float(name.partition(": ")[2].partition(" %")[0]) / 100
    assert_allclose(share * 2 * chance * (1 - chance), stated, atol=1e-12)


def test_the_truth_about_cases_and_acts_follows_from_their_chances() -> None:
    shares = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.2, 0.5, 0.3]])
    truth = suite_draws.describe_cases(shares)
    assert_allclose(
        [truth["disagreement"], truth["score"], truth["unsteady cases"]],
        [(0 + 0.5 + 1 - 0.04 - 0.25 - 0.09) / 3, 1.7 / 3, 2 / 3],
    )
    names = [*MIXTURES]
    assert_allclose(suite_draws.find_risk(names.index("all at .95"), 1), 0.05)
    assert_allclose(suite_draws.find_risk(names.index("all coins"), 7), 0.5)
    wrong = suite_draws.find_risk(names.index("95 % right, rest wrong"), 7)
    assert_allclose(wrong, 0.05, atol=0.002)  # however many runs agree


def test_a_row_of_estimates_holds_what_its_names_say(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BOOTSTRAPS", "REVERSALS"):
        monkeypatch.setattr(calibrate, name, 700)  # the papers' 500 are but a part
    monkeypatch.setattr(calibrate, "SHUFFLED", 6)
    process = PROCESSES["AR(1), ρ = 0.5"]()
    for draw in (5, 6):
        row = calibrate.draw_estimates(1, draw)
        ensemble = process.draw(calibrate.seed(1, 1, draw), 20)
        found, half = lyapunov(ensemble), margin(lyapunov(ensemble).se, 19)
        percentile = bootstrap(ensemble, draws=700, seed=draw).interval("percentile")
        assert_allclose([row["bias"], row["width"]], [found.value, 2 * half])
        assert row["jackknife"] == (abs(found.value) <= half)
        assert row["percentile"] == (percentile.low <= 0 <= percentile.high)
        assert row["reversal"] == (reversal_test(ensemble, draws=700, seed=draw).p < 0.05)
        assert row["Wald, λ = 0"] == (abs(found.value) > half)  # the same t as the interval
        assert math.isnan(row["shuffle (papers)"]) == (draw == 6)


def test_the_tables_have_means_with_their_number_and_error() -> None:
    measured = {}
    for kind, (row, _, names, *_) in KINDS.items():
        columns = row(0, 0) if kind in ("suites", "acting") else {}
        columns = columns or {"estimates": dict.fromkeys(ESTIMATES, 0.0)}.get(
            kind, {"jackknife": 1}
        )
        rows = [
            {"number": n, "draw": d, **{name: float(d < n) for name in columns}}
            for n in range(len(names))
            for d in range(20)
        ]
        measured[kind] = pd.DataFrame(rows)
    measured["acting"].loc[measured["acting"]["draw"] < 10, "runs"] = math.nan
    tables = calibrate.tabulate(measured)
    assert_allclose(tables["tests"]["reversal"], np.arange(14) / 20)
    assert_allclose(tables["intervals"]["jackknife, 10 times the draws"], np.arange(14) / 20)
    assert_allclose(tables["intervals"]["sd of λ̂"].iloc[7], math.sqrt(0.35 * 0.65))
    assert_allclose(tables["acting"]["runs"], 0)  # the mean of those that there are
    assert (tables["suites"]["draws"] == 20).all()
    assert_allclose(tables["suites"]["±"], math.sqrt(0.95 * 0.05 / 20))
    text = calibrate.format_table(tables["suites"])
    assert "| all coins | 5.0 |" in text
    assert "draws" not in text.splitlines()[0]
    assert text.endswith("\n\n20 draws each, ± 4.9.")  # the same in all lines
    other = tables["suites"].assign(draws=range(20, 20 + len(tables["suites"])))
    assert calibrate.format_table(other).splitlines()[0].endswith("| draws | ± |")


ESTIMATES = ("bias", *calibrate.INTERVALS, "width", "`uneven`", *calibrate.TESTS)


@pytest.mark.long
def test_the_calibration_is_the_same_for_any_number_of_workers(run: Run, tmp_path: Path) -> None:
    reached = []
    for workers in (1, 2):
        given = ("draws=2", f"workers={workers}", f"out=w{workers}")
        done = run(*given, script="scripts/calibrate.py")
        reached.append(json.loads(done.stdout.splitlines()[-1]))
    pages = [(tmp_path / f"w{workers}/calibration.md").read_text() for workers in (1, 2)]
    assert pages[0] == pages[1]
    assert reached[0] == reached[1]
    limits = {"coverage_min", "coverage_max", "reversal_size_min", "reversal_size_max"}
    assert limits <= reached[0].keys()
    for name in (*PROCESSES, *CONTRASTS, *MIXTURES, *VERDICTS, *calibrate.GATES):
        assert f"| {name} |" in pages[0]
    picture = plt.imread(tmp_path / "w1/images/calibration.png")
    assert picture.shape[1] == round(300 * PAGE)
    assert picture.shape[0] > 300 * 0.2 * len(PROCESSES)  # a line a process
