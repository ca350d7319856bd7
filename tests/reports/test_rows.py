"""The CSV: every column is the estimate of its name, made as the settings ask."""

from dataclasses import replace

import numpy as np
import pytest
from known_conditions import CHOSEN, FACTORS, build, diagnostics, exponent, summary, tracked
from numpy.testing import assert_equal

from plenum.dynamics import bootstrap, lyapunov, reversal_test, summarise
from plenum.reports.rows import COLUMNS, frame
from plenum.reports.settings import Settings


def test_every_detail_of_the_summary_has_its_column() -> None:
    (row,) = build([tracked(1, 0.05, decisions="AAAAAAAAABBB")])
    record = row.record()
    groups = summary(row).record()
    for name, value in ((n, v) for group in groups.values() for n, v in group.items()):
        assert_equal(record[name], value)
    assert {"estimates", "intervals", "tests", "diagnostics", "decisions"} == set(groups)


def test_the_first_columns_are_the_estimate_and_its_interval() -> None:
    condition = tracked(1, 0.05, decisions="AAAAAAAAABBB")
    condition.preferences[:, 9] = 1 / 3
    (row,) = build([condition])
    record, e = row.record(), lyapunov(condition.ensemble, decisions=condition.decisions)
    wanted = {
        **{"lambda": e.value, "ci_low": e.ci_low, "ci_high": e.ci_high, "se": e.se},
        **{"interval": "jackknife", "flip_rate": 0.25, "status": "ok"},
        **{"rounds_used": 17, "zero_rounds": 1, "warnings": " ".join(e.warnings)},
        "time_to_majority": summary(row).time_to_majority.median,
    }
    assert_equal({name: record[name] for name in wanted}, wanted)


def test_tests_intervals_and_diagnostics_are_those_of_dynamics() -> None:
    condition = tracked(1, 0.05)
    (row,) = build([condition])
    record, e, d = row.record(), exponent(row), diagnostics(row)
    ensemble, draws = condition.ensemble, CHOSEN.draws
    assert record["p_reversal"] == reversal_test(ensemble, draws=draws).p
    assert (record["p_zero"], record["p_diffusion"]) == (e.p_zero, e.p_diffusion)
    resampled = bootstrap(ensemble, draws=draws)
    for method in ("percentile", "bca", "bootstrap_t", "seed_compatible"):
        interval = resampled.interval(method)
        limits = [record[f"{method}_low"], record[f"{method}_high"]]
        assert_equal(limits, [interval.low, interval.high])
    assert_equal(
        [record[n] for n in ("d_first", "d_last", "d_cap", "headroom", "excess", "grid")],
        [d.d_first, d.d_last, d.cap, d.headroom, d.excess, d.grid],
    )
    assert [record[f"lambda_{n}"] for n in ("rms", "rms_se", "quenched", "quenched_se")] == [
        *(d.rms.value, d.rms.se, d.quenched.value, d.quenched.se)
    ]
    assert record["quenched_pairs"] == 66


@pytest.mark.parametrize(
    "chosen",
    [
        replace(CHOSEN, window=(5, 12)),
        replace(CHOSEN, interval="bca"),
        replace(CHOSEN, draws=150),
        replace(CHOSEN, seed=3),
    ],
    ids=["window", "interval", "draws", "seed"],
)
def test_estimates_are_made_as_the_settings_ask(chosen: Settings) -> None:
    condition = tracked(1, 0.03)
    (row,), (usual,) = build([condition], chosen), build([condition])
    expected = summarise(
        condition.preferences,
        condition.decisions,
        chosen.window,
        interval=chosen.interval,
        draws=chosen.draws,
        seed=chosen.seed,
    )
    assert_equal(summary(row).record(), expected.record())
    assert exponent(row) == expected.lyapunov
    values = [(s.lyapunov.ci_low, s.reversal.p) for s in (summary(row), summary(usual))]
    assert values[0] != values[1]


def test_the_time_to_majority_is_the_median_and_its_interval() -> None:
    """Replicate r has its first majority in round r, from 1 to 12."""
    places = np.full((12, 20, 5, 3), 1 / 3)
    for replicate in range(12):
        places[replicate, replicate:] = (0.6, 0.2, 0.2)
    (row,) = build([tracked(1, preferences=places)])
    record, found = row.record(), summary(row).time_to_majority
    assert record["time_to_majority"] == found.median == 6
    limits = record["time_to_majority_ci_low"], record["time_to_majority_ci_high"]
    assert limits == (found.ci_low, found.ci_high)
    assert found.ci_low < 6 < found.ci_high


def test_counts_and_factors_stand_in_their_columns() -> None:
    (row,) = build([tracked(1, failed=2, pending=3, memory="k3")])
    record = row.record()
    assert [record[n] for n in ("target", "completed", "failed", "pending")] == [17, 12, 2, 3]
    assert {n: record[n] for n in FACTORS} == {**FACTORS, "memory": "k3"}
    assert (record["study"], record["condition"]) == ("s1", "c1")
    assert str(record["warnings"]).split()[-2:] == ["pending", "attrition"]


def test_switches_stand_by_the_name_of_the_seat() -> None:
    places = np.empty((12, 20, 5, 3))
    for seat in range(5):
        places[:, :, seat] = np.eye(3)[np.minimum(np.arange(20), seat) % 2]
    (row,) = build([tracked(1, preferences=places)])
    assert row.record()["switches"] == (
        "Chair:0.00 Equity:3.00 Rights:2.00 Security:4.00 Welfare:1.00"
    )


def test_an_interrupted_condition_says_so() -> None:
    (row,) = build([tracked(1)])
    assert replace(row, summary=None).status == "no_estimates"
    assert "no_estimates" in replace(row, summary=None).warnings


def test_the_columns_of_the_csv_come_in_their_order() -> None:
    table = frame(build([tracked(1)]))
    assert list(table.columns[: len(COLUMNS)]) == COLUMNS
    assert list(table.columns).count("lambda") == 1
