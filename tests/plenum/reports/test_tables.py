"""Tables of conditions: every column and every cell holds the number that its head promises."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from known_conditions import (
    CHOSEN,
    FACTORS,
    build,
    diagnostics,
    estimated,
    exponent,
    group,
    line,
    summary,
    tracked,
)
from numpy.testing import assert_equal

from plenum.dynamics import warnings
from plenum.dynamics.diagnostics import cap
from plenum.dynamics.divergence import divergence
from plenum.dynamics.lyapunov import lyapunov
from plenum.dynamics.nulls import reversal_test
from plenum.dynamics.summary import summarise
from plenum.reports.rows import COLUMNS, Row, make_frame
from plenum.reports.tables import blocks
from plenum.reports.tables.conditions import (
    tabulate_conditions,
    tabulate_decisions,
    tabulate_diagnostics,
)
from plenum.reports.tables.maps import tabulate_landscape, tabulate_matrices
from plenum.show.latex import format_latex
from plenum.show.markdown import format_markdown
from plenum.show.table import Table, format_csv


def square(**factors: str) -> list[Row]:
    """The four cells of a 2x2, with 11 to 14 replicates."""
    cells = itertools.product(("on", "off"), ("uniform", "mixed"))
    return build(
        [
            tracked(n, replicates=n, roles=roles, model=model, **factors)
            for n, (roles, model) in enumerate(cells, start=11)
        ]
    )


def cell(table: Table, name: str, column: str) -> str:
    (body,) = [body for body in table.body if body[0] == name]
    return body[table.head.index(column)]


# --- the CSV -----------------------------------------------------------------------------------


def test_every_detail_of_the_summary_has_its_column_behind_the_first_ones() -> None:
    condition = tracked(1, 0.05, decisions="AAAAAAAAABBB", failed=2, pending=3, memory="k3")
    condition.preferences[:, 9] = 1 / 3
    (row,) = build([condition])
    record, e = row.record(), lyapunov(condition.ensemble, decisions=condition.decisions)
    for part in summary(row).record().values():
        assert_equal({name: record[name] for name in part}, part)
    wanted = {
        **{"lambda": e.value, "ci_low": e.ci_low, "ci_high": e.ci_high, "se": e.se},
        **{"interval": "jackknife", "flip_rate": 0.25, "status": "ok"},
        **{"rounds_used": 17, "zero_rounds": 1, "study": "s1", "condition": "c1"},
        **{"target": 17, "completed": 12, "failed": 2, "pending": 3},
        "warnings": " ".join((*e.warnings, "pending", "attrition")),
        **{**FACTORS, "memory": "k3"},
    }
    assert_equal({name: record[name] for name in wanted}, wanted)
    assert list(make_frame([row]).columns[: len(COLUMNS)]) == COLUMNS


@pytest.mark.parametrize(
    "changes",
    [{"window": (5, 12)}, {"interval": "percentile"}, {"draws": 150}, {"seed": 3}],
    ids=str,
)
def test_estimates_are_made_as_the_settings_ask(changes: dict[str, object]) -> None:
    condition, chosen = tracked(1, 0.03), replace(CHOSEN, **changes)
    (row,), (usual,) = build([condition], chosen), build([condition])
    arguments = {name: getattr(chosen, name) for name in ("interval", "draws", "seed")}
    ensemble = (condition.preferences, condition.decisions)
    expected = summarise(*ensemble, chosen.window, **arguments)
    assert_equal(summary(row).record(), expected.record())
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
    assert found.ci_low < 6 < found.ci_high


def test_decisions_are_counted_and_no_majority_is_no_option() -> None:
    flipped = tracked(1, decisions=["C"] * 7 + ["NONE"] * 3 + ["A"] * 2, roles="on")
    alike = tracked(2, decisions="CCCCCCCCCCCC", roles="off")
    rows = build([flipped, alike])
    assert make_frame(rows)["decisions"].tolist() == ["C 7, none 3, A 2", "C 12"]
    assert make_frame(rows)["no_majority"].tolist() == [3, 0]
    for table in (tabulate_conditions(group(rows)), tabulate_decisions(group(rows))):
        assert line(table)["decisions"] == "C 7, none 3, A 2"
        assert "none 3" in format_markdown(table)
        assert "none 3" in format_latex([table], "tables")
    noted = replace(alike, decisions=(), tally={"C": 9, "NONE": 3})  # of a large study, unread
    assert Row(noted, None).record()["decisions"] == "C 9, none 3"
    unknown = replace(alike, decisions=())  # tracked by an earlier version
    assert Row(unknown, None).record()["decisions"] == ""


def test_conditions_without_estimates_stay_in_the_table_and_say_why() -> None:
    same = tracked(1)
    same.preferences[:] = same.preferences[:1]
    table = make_frame(build([tracked(2), tracked(3, replicates=0, failed=5), same]))
    assert table["status"].tolist() == ["ok", "no_replicates", "identical"]
    assert table["completed"].tolist() == [12, 0, 12]
    assert table["lambda"].isna().tolist() == [False, True, True]
    assert "no_replicates" in table["warnings"][1].split()
    interrupted = replace(build([tracked(2)])[0], summary=None)
    assert interrupted.status == "no_estimates"
    assert "no_estimates" in interrupted.warnings
    assert "few_replicates" in build([tracked(1, replicates=4)])[0].warnings


def test_conditions_stay_in_their_order() -> None:
    order = [("SP-01", "on"), ("AI-01", "off"), ("SP-01", "off"), ("AI-01", "on")]
    rows = build([tracked(n, scenario=s, roles=r) for n, (s, r) in enumerate(order)])
    assert [row.tracked.identity for row in rows] == ["c0", "c1", "c2", "c3"]


# --- the condition table -----------------------------------------------------------------------


def test_the_condition_table_shows_what_varies_and_names_what_does_not() -> None:
    table = tabulate_conditions(group(build([tracked(1, memory="k15"), tracked(2, memory="k3")])))
    assert "memory" in table.head
    assert "temperature" not in table.head
    assert "temperature=t0" in table.title


def test_conditions_that_differ_in_a_text_alone_are_told_apart_by_identity() -> None:
    table = tabulate_conditions(group(build([tracked(1), tracked(2)])))
    assert [body[table.head.index("condition")] for body in table.body] == ["c1", "c2"]


def test_the_condition_table_shows_estimate_interval_n_tests_and_warnings() -> None:
    condition = tracked(1, 0.03, preferences=majorities(), decisions="AAAAAAAAABBB", failed=2)
    (row,) = build([condition])
    row = estimated(
        row, warnings=("saturated", "quantised"), p_growth=0.004, p_diffusion=0.2, ci_low=-0.1,
        ci_high=0.2,
    )  # fmt: skip
    shown, e = line(tabulate_conditions(group([row]))), exponent(row)
    assert shown["λ̂"] == f"{e.value:.4f}"
    assert shown["95 % CI"] == f"[{e.ci_low:.4f}, {e.ci_high:.4f}]"
    assert (shown["n"], shown["failed"]) == ("12/14", "2")
    assert (shown["p growth"], shown["p diffusion"]) == ("0.0040", "0.200")
    assert (shown["flip rate"], shown["TTM"]) == ("0.250", "2")
    g = summary(row).growth
    low, value, high = (f"{100 * math.expm1(x):.1f}" for x in (g.ci_low, g.value, g.ci_high))
    assert shown["typical pair"] == f"{value} % [{low}, {high}]"
    assert shown["jumped"] == f"{g.jumped.count}/12 [28, 85 %]"
    assert shown["warnings"] == "saturated\nquantised\nattrition"


def test_what_never_comes_and_what_does_not_exist_are_told_so() -> None:
    split = replace(tracked(1), preferences=np.full((12, 20, 5, 3), 1 / 3))
    shown = line(tabulate_conditions(group(build([split]))))
    assert (shown["TTM"], shown["λ̂"]) == ("never", "identical")
    empty = line(tabulate_conditions(group(build([tracked(1, replicates=0, failed=5)]))))
    missing = ("λ̂", "95 % CI", "typical pair", "jumped", "flip rate", "TTM")
    assert {empty[name] for name in missing} == {"-"}


@pytest.mark.parametrize(("replicates", "noted"), [(5, True), (6, False), (0, False)])
def test_a_note_says_where_time_reversal_cannot_reject(replicates: int, noted: bool) -> None:
    """The least p is 2 / 2^R: the observed order, and all of it reversed."""
    rows = build([tracked(1, replicates=12), tracked(2, replicates=replicates, roles="on")])
    notes = tabulate_conditions(group(rows)).notes
    assert any("time reversal can't reject" in note for note in notes) is noted
    if replicates:
        found = reversal_test(tracked(1, 0.5, replicates).ensemble, draws=20_000)
        assert found.p == pytest.approx(2 / 2**replicates, rel=0.15)
        assert (2 / 2**replicates > 0.05) is noted


@pytest.mark.parametrize(
    ("rounds", "window", "told"),
    [((20,), (3, 30), "3-20"), ((20,), (5, 12), "5-12"), ((12, 15), (3, 20), "3-15")],
)
def test_the_notes_tell_the_rounds_of_the_fit_as_far_as_they_were_run(
    rounds: tuple[int, ...], window: tuple[int, int], told: str
) -> None:
    chosen = replace(CHOSEN, window=window)
    rows = build([tracked(n, rounds=n, seed=str(n)) for n in rounds], chosen)
    for table in (
        tabulate_conditions(group(rows, chosen)),
        tabulate_diagnostics(group(rows, chosen)),
    ):
        assert f"rounds {told};" in table.notes[0]


# --- diagnostics -------------------------------------------------------------------------------


@pytest.mark.parametrize("window", [(3, 20), (5, 12)])
def test_diagnostics_are_those_of_the_window(window: tuple[int, int]) -> None:
    condition, chosen = tracked(1, 0.05), replace(CHOSEN, window=window)
    (row,) = build([condition], chosen)
    shown, e, found = (
        line(tabulate_diagnostics(group([row], chosen))),
        exponent(row),
        diagnostics(row),
    )
    level = divergence(condition.ensemble)
    first, last = level[window[0] - 1], level[window[1] - 1]
    assert (shown["D first"], shown["D last"]) == (f"{first:.4f}", f"{last:.4f}")
    assert shown["cap"] == f"{cap(12, 3):.3f}"
    room = math.log(cap(12, 3) / first) / (window[1] - window[0])
    assert shown["headroom"] == f"{room:.3f}"
    assert shown["rounds fit"] == str(window[1] - window[0] + 1)
    rounds = np.arange(window[0], window[1] + 1)
    diffusion = np.polyfit(rounds, np.log(rounds) / 2, 1)[0]
    low, excess, high = (x - diffusion for x in (e.ci_low, e.value, e.ci_high))
    assert shown["λ̂ - diffusion"] == f"{excess:.3f} [{low:.3f}, {high:.3f}]"
    texts = [f"{v.value:.3f} ±{v.se:.3f}" for v in (found.rms, found.quenched)]
    assert texts[0] != texts[1]
    assert [shown["RMS λ̂"], shown["quenched λ̂"]] == texts


def test_full_is_the_first_round_at_half_the_cap() -> None:
    condition = tracked(1, 0.3)
    level = divergence(condition.ensemble)
    first = next(t for t in range(3, 21) if level[t - 1] >= cap(12, 3) / 2)
    assert 3 < first < 20
    assert line(tabulate_diagnostics(group(build([condition]))))["full"] == str(first)
    still = tracked(1)
    still.preferences[:, [4, 9]] = 1 / 3
    calm = line(tabulate_diagnostics(group(build([still]))))
    assert (calm["full"], calm["rounds fit"]) == ("-", "16+2")


def test_misfit_names_the_exponential_first_and_the_power_law_second() -> None:
    rounds = np.arange(1, 21)
    apart = np.linspace(-1, 1, 12)[:, None, None] * np.array([1.0, -1.0, 0.0])
    shown = {}
    for name, level in (("grown", np.exp(0.2 * rounds)), ("spread", rounds**1.0)):
        ensemble = 1 / 3 + 0.001 * apart * level[:, None]
        condition = tracked(1, preferences=np.repeat(ensemble[:, :, None], 5, axis=2))
        misfit = line(tabulate_diagnostics(group(build([condition]))))["misfit"]
        shown[name] = [float(part) for part in misfit.split(" / ")]
    assert shown["grown"][0] == 0 < 0.1 < shown["grown"][1]
    assert shown["spread"][1] == 0 < 0.1 < shown["spread"][0]


# --- decisions ---------------------------------------------------------------------------------


def majorities() -> np.ndarray:
    """Seats agree on A in round 2 alone, and on B from round 6 on in 8 of 12 replicates."""
    places = np.full((12, 20, 5, 3), 1 / 3)
    places[:, 1] = (0.6, 0.2, 0.2)
    places[:8, 5:] = (0.2, 0.6, 0.2)
    return places + np.random.default_rng(1).normal(0, 1e-3, (12, 20, 1, 1)) * (0, 1, -1) * (
        np.abs(places - 1 / 3) > 0.01
    )


def test_majorities_flip_rate_and_disagreement_have_their_own_columns_and_intervals() -> None:
    (row,) = build([tracked(1, preferences=majorities(), decisions="AAAAAAAAABBB")])
    shown, s = line(tabulate_decisions(group([row]))), summary(row)
    assert shown["first majority"] == "2 [2, 2], 12/12"
    assert shown["stable majority"].startswith("6 [6, ")
    assert shown["stable majority"].endswith("], 8/12")
    rate, pairs = s.flip_rate, s.disagreement
    assert shown["flip rate"] == f"0.250 [{rate.ci_low:.3f}, {rate.ci_high:.3f}]"
    unbiased = 12 / 11 * (1 - 0.75**2 - 0.25**2)
    assert shown["pairwise disagreement"] == (
        f"{unbiased:.3f} [{pairs.ci_low:.3f}, {pairs.ci_high:.3f}]"
    )


def test_switches_stand_by_the_name_of_the_seat_in_alphabetical_order() -> None:
    """The seats in their order switch 0 to 4 times, the last once more in two replicates of 12."""
    places = np.empty((12, 20, 5, 3))
    for seat in range(5):
        tops = np.minimum(np.arange(20), seat) % 2
        places[:, :, seat] = np.eye(3)[tops]
    places[:2, -1, 4] = np.eye(3)[2]
    rows = build([tracked(1, preferences=places)])
    switches = {
        h: c for h, c in line(tabulate_decisions(group(rows))).items() if h.startswith("switches")
    }
    assert list(switches.items()) == [
        *(("switches Chair", "0.0"), ("switches Equity", "3.0"), ("switches Rights", "2.0")),
        *(("switches Security", "4.2"), ("switches Welfare", "1.0")),
    ]
    assert "Chair:0.00 Equity:3.00 Rights:2.00 Security:4.17 Welfare:1.00" in format_csv(
        make_frame(rows)
    )
    other = replace(tracked(2, roles="on"), seats=("Chair", "Welfare", "Rights", "Equity", "Clown"))
    table = tabulate_decisions(group(build([tracked(1), other])))
    at = [table.head.index(f"switches {seat}") for seat in ("Clown", "Security")]
    lacks = [[body[column] == "-" for column in at] for body in table.body]
    assert lacks == [[True, False], [False, True]]


# --- the 2x2 -----------------------------------------------------------------------------------


def test_the_2x2_has_roles_down_and_models_across_with_estimate_interval_n_and_warnings() -> None:
    rows = square()
    rows[1] = estimated(rows[1], warnings=("few_apart", "saturated"))
    (table,) = tabulate_matrices(group(rows))
    assert table.head == ("", "uniform", "mixed")
    assert [body[0] for body in table.body] == ["roles on", "roles off"]
    e = exponent(rows[1])
    numbers = (f"{e.value:.4f}", f"[{e.ci_low:.4f}, {e.ci_high:.4f}]", "n = 12")
    expected = "\n".join((*numbers, "few_apart", "saturated"))
    assert cell(table, "roles on", "mixed") == expected
    (table,) = tabulate_matrices(group(rows[:3]))
    assert cell(table, "roles off", "mixed") == "-"


@pytest.mark.parametrize(
    "cells",
    [[("on", "uniform")], [("on", "uniform"), ("off", "uniform")], [("on", "a"), ("on", "b")]],
)
def test_without_two_roles_and_two_models_there_is_no_2x2(cells: list[tuple[str, str]]) -> None:
    rows = build([tracked(n, roles=r, model=m) for n, (r, m) in enumerate(cells)])
    assert tabulate_matrices(group(rows)) == []


@pytest.mark.parametrize(
    ("factor", "values"),
    [
        *(("scenario", ("HL-01", "IM-01")), ("memory", ("k15", "k3"))),
        *(("temperature", ("t0", "t0.1")), ("backend", ("simulated", "api"))),
        ("seed", ("0", "1")),
    ],
)
def test_every_value_of_another_factor_has_a_2x2_of_its_own(
    factor: str, values: tuple[str, str]
) -> None:
    found = tabulate_matrices(group([row for value in values for row in square(**{factor: value})]))
    assert len(found) == 2
    assert all(value in table.title for value, table in zip(values, found, strict=True))


# --- the landscape -----------------------------------------------------------------------------


def quiet(key: int, *, missing: dict[str, int] | None = None, **changes: object) -> Row:
    """A condition of a scenario of its own, without marks but for ``changes``."""
    (row,) = build([tracked(key, scenario=f"S-{key:02d}", **(missing or {}))])
    return estimated(row, **{"warnings": (), "p_diffusion": 0.5, **changes})


def landscape(rows: Sequence[Row]) -> list[str]:
    """The cells of a landscape of one column; another scenario makes it one."""
    (table,) = tabulate_landscape(group(rows))
    return [cells[1] for cells in table.body]


def test_the_landscape_has_a_line_a_scenario_and_a_column_a_cell() -> None:
    rows = build([row.tracked for s in ("HL-01", "IM-01") for row in square(scenario=s)])
    (table,) = tabulate_landscape(group(rows))
    assert [body[0] for body in table.body] == ["HL-01", "IM-01"]
    assert table.head[1:] == (
        *("roles=on model=uniform", "roles=on model=mixed"),
        *("roles=off model=uniform", "roles=off model=mixed"),
    )
    assert ["(11)" in text for text in table.body[1][1:]] == [True, False, False, False]
    assert tabulate_landscape(group(square())) == []


@pytest.mark.parametrize(
    ("row", "mark", "meaning"),
    [
        *(
            (lambda w=name: quiet(1, warnings=(w,)), f" {letter}", f"{letter} {name}")
            for name, letter in warnings.LETTERS.items()
            if name not in ("attrition", "pending", *warnings.OF_EFFECTS)
            and name not in ("environments", "repeated_wordings", "no_canonical")
        ),
        (lambda: quiet(1, missing={"failed": 2}), " x", "x attrition"),
        (lambda: quiet(1, missing={"pending": 2}), " p", "p pending"),
        (lambda: quiet(1, p_growth=1e-6), "*", "* growth"),
        (lambda: quiet(1, p_diffusion=1e-6), "†", "† other"),
        (lambda: quiet(1, p_growth=1e-6, p_diffusion=1e-6), "*†", ""),
        (lambda: quiet(1), "", ""),
    ],
)
def test_each_warning_and_test_has_its_mark_in_the_landscape(
    row: object, mark: str, meaning: str
) -> None:
    """A star is growth by time reversal, a dagger is no diffusion, by the jackknife."""
    assert callable(row)
    rows = [row(), quiet(2)]
    e = exponent(rows[0])
    error = "" if mark.strip() in ("u", "a") else f" ±{e.se:.3f}"  # λ̂ has no test with these
    assert landscape(rows)[0] == f"{e.value:.3f}{error}{mark} (12)"
    assert meaning in " ".join(tabulate_landscape(group(rows))[0].notes)


def test_the_documentation_has_every_warning_and_letters_differ(root: Path) -> None:
    page = (root / "docs" / "estimates.md").read_text()
    conditions = [name for name in warnings.LETTERS if name != "few_scenarios"]
    assert [name for name in conditions if f"| `{name}` |" not in page] == []
    assert len(set(warnings.LETTERS.values())) == len(warnings.LETTERS)


def test_the_marks_allow_five_percent_of_false_finds_over_the_map() -> None:
    """Of ten, p = 0.009 of the second stays below 2/10 of 5 %, p = 0.012 doesn't."""
    for p, marked in ((0.009, 2), (0.012, 1)):
        first = [quiet(1, p_growth=0.004), quiet(2, p_growth=p)]
        cells = landscape([*first, *(quiet(n) for n in range(3, 11))])
        assert sum("*" in text for text in cells) == marked


def test_a_scenario_without_a_rate_shows_its_status_and_n() -> None:
    still = tracked(1)
    still.preferences[:] = 1 / 3
    rows = build([still, tracked(2, scenario="S-02"), tracked(3, replicates=0, scenario="S-03")])
    cells = landscape(rows)
    assert (cells[0], cells[2]) == ("identical (12)", "no_replicates (0)")


# --- what every table says ---------------------------------------------------------------------


@pytest.mark.parametrize(("backend", "simulated"), [("simulated", True), ("api", False)])
def test_what_is_simulated_says_so_under_every_table(backend: str, simulated: bool) -> None:
    scenarios = [square(scenario=s, backend=backend) for s in ("HL-01", "IM-01")]
    rows = build([row.tracked for rows in scenarios for row in rows])
    found = [
        tabulate_conditions(group(rows)),
        *tabulate_matrices(group(rows)),
        *tabulate_landscape(group(rows)),
    ]
    assert len(found) == 4
    for table in found:
        notes = " ".join(table.notes)
        assert f"backend: {backend}" in notes
        assert ("no evidence about language models" in notes) is simulated
        lines = [text for text in format_markdown(table).splitlines() if text.startswith("|")]
        assert len(lines) == 2 + len(table.body)
        assert {text.replace(r"\|", "").count("|") for text in lines} == {len(table.head) + 1}


def test_days_that_decide_otherwise_are_told_and_a_single_day_is_not() -> None:
    days = {"day": ("2026-11-28",) * 6 + ("2026-11-29",) * 6}
    conditions = [
        replace(tracked(1, decisions="AAAAAABBBBBB"), answerers=days),
        replace(tracked(2, decisions="ABABABABABAB", roles="off"), answerers=days),
        replace(tracked(3, model="mixed"), answerers={"day": ("2026-11-28",) * 12}),
    ]
    rows = build(conditions)
    frame = blocks.compare_blocks(rows, draws=999, seed=0)
    assert frame["condition"].tolist() == ["c1", "c2"]
    assert frame["within"].tolist() == [0.0, pytest.approx(0.6)]
    assert frame["between"].tolist() == [1.0, 0.5]
    assert frame["p_holm"][0] < 0.05 < frame["p_holm"][1]
    (table,) = blocks.tabulate_blocks(frame, rows)
    assert table.body[0][table.head.index("differ within")] == "0.0 %"
    assert blocks.tabulate_blocks(frame[:0], rows) == []
