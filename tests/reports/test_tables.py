"""Tables from tracked conditions: the CSV, the 2x2, the landscape, and what they must say."""

import csv
import io
import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console
from text_tables import of_cells

from plenum.reports import rows as reports_rows
from plenum.reports import tables
from plenum.reports.markdown import markdown
from plenum.reports.printing import terminal
from plenum.reports.rows import Row, frame
from plenum.reports.settings import Settings
from plenum.reports.table import Table
from plenum.tracking.conditions import TrackedCondition

CHOSEN = Settings("s1", "sqlite:///unused.db", Path("unused"), draws=200)

PROMISED = [
    *("study", "scenario", "roles", "model", "memory", "temperature", "backend", "perturbation"),
    *("target", "completed", "failed", "lambda", "ci_low", "ci_high", "flip_rate"),
    *("time_to_majority", "warnings"),
]


def tracked(
    replicates: int = 12, *, target: int | None = None, failed: int = 0, **factors: str
) -> TrackedCondition:
    """A condition whose replicates are random committees; ``factors`` replace the defaults."""
    rng = np.random.default_rng(replicates)
    named = {
        **{"scenario": "HL-01", "roles": "on", "model": "uniform", "memory": "k15"},
        **{
            "temperature": "t0",
            "backend": "simulated",
            "perturbation": "none",
            "protocol": "deliberation",
            "settings": "default",
        },
        **{"rounds": "20", "seed": "0"},
        **factors,
    }
    return TrackedCondition(
        study="s1",
        identity="-".join(named.values()),
        run_id="r",
        factors=named,
        target=replicates + failed if target is None else target,
        completed=replicates,
        failures={"parse": failed} if failed else {},
        preferences=rng.dirichlet(np.ones(3), (replicates, 20, 5)),
        decisions=tuple(rng.choice(["A", "B"], replicates)),
        seats=("Chair", "Welfare", "Rights", "Equity", "Security"),
    )


def build(conditions: Sequence[TrackedCondition]) -> list[Row]:
    """Rows with few draws: the numbers of the tests don't depend on them."""
    return reports_rows.build(conditions, CHOSEN)


def square(**factors: str) -> list[Row]:
    """The four cells of a 2x2, with 11 to 14 replicates."""
    cells = itertools.product(("on", "off"), ("uniform", "mixed"))
    return build(
        [tracked(n, roles=r, model=m, **factors) for n, (r, m) in enumerate(cells, start=11)]
    )


def cell(sheet: Table, line: str, column: str) -> str:
    (body,) = [body for body in sheet.body if body[0] == line]
    return body[sheet.head.index(column)]


# --- the CSV -----------------------------------------------------------------------------------


def test_the_csv_has_the_promised_columns_and_one_row_a_condition() -> None:
    lines = list(csv.DictReader(io.StringIO(frame(square()).to_csv(index=False))))
    assert [name for name in PROMISED if name not in lines[0]] == []
    assert [(line["roles"], line["model"], line["completed"]) for line in lines] == [
        ("on", "uniform", "11"),
        ("on", "mixed", "12"),
        ("off", "uniform", "13"),
        ("off", "mixed", "14"),
    ]


def test_target_is_completed_failed_and_pending() -> None:
    table = frame(build([tracked(11, target=20, failed=3), tracked(12, failed=2), tracked(13)]))
    assert table["pending"].tolist() == [6, 0, 0]
    assert (table["target"] == table["completed"] + table["failed"] + table["pending"]).all()


def test_the_estimates_are_those_of_dynamics() -> None:
    (row,) = build([tracked(12)])
    assert row.summary is not None
    record = frame([row]).iloc[0]
    assert record["lambda"] == row.summary.lyapunov.value
    assert record["ci_low"] < record["lambda"] < record["ci_high"]
    assert record["flip_rate"] == row.summary.flip_rate.value


@pytest.mark.parametrize(
    ("condition", "warning"),
    [
        (tracked(4), "few_replicates"),
        (tracked(12, failed=1), "attrition"),
        (tracked(12, target=15), "pending"),
        (tracked(0, target=5, failed=5), "no_replicates"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_missing_is_warned_of(condition: TrackedCondition, warning: str) -> None:
    assert warning in frame(build([condition]))["warnings"][0].split()


def test_a_condition_without_replicates_stays_in_the_table() -> None:
    table = frame(build([tracked(12), tracked(0, target=5, failed=5, roles="off")]))
    assert table["completed"].tolist() == [12, 0]
    assert table["status"].tolist() == ["ok", "no_replicates"]
    assert np.isnan(float(table["lambda"][1]))


def test_identical_replicates_have_no_exponent_but_a_status() -> None:
    one = tracked(12)
    same = replace(one, preferences=np.repeat(one.preferences[:1], 12, axis=0))
    record = frame(build([same])).iloc[0]
    assert np.isnan(record["lambda"])
    assert record["status"] == "identical"


def test_conditions_are_ordered_by_scenario_then_as_they_were_run() -> None:
    order = [("SP-01", "on"), ("AI-01", "off"), ("SP-01", "off"), ("AI-01", "on")]
    rows = build([tracked(scenario=scenario, roles=roles) for scenario, roles in order])
    assert [(r.tracked.factors["scenario"], r.tracked.factors["roles"]) for r in rows] == [
        *(("AI-01", "off"), ("AI-01", "on"), ("SP-01", "on"), ("SP-01", "off"))
    ]


# --- the condition table -----------------------------------------------------------------------


def test_the_condition_table_shows_what_varies_and_names_what_does_not() -> None:
    rows = build([tracked(memory="k15"), tracked(memory="k3")])
    sheet = tables.conditions(rows, CHOSEN)
    assert "memory" in sheet.head
    assert "temperature" not in sheet.head
    assert "temperature=t0" in sheet.title


def test_the_condition_table_shows_an_estimate_with_its_interval_and_n() -> None:
    (row,) = rows = build([tracked(12)])
    assert row.summary is not None
    sheet, exponent = tables.conditions(rows, CHOSEN), row.summary.lyapunov
    assert cell(sheet, "HL-01", "λ̂") == f"{exponent.value:.4f}"
    assert cell(sheet, "HL-01", "95 % CI") == f"[{exponent.ci_low:.4f}, {exponent.ci_high:.4f}]"
    assert cell(sheet, "HL-01", "n") == "12/12"


def test_a_majority_that_half_of_the_replicates_never_reach_is_told_so() -> None:
    split = replace(tracked(12), preferences=np.full((12, 20, 5, 3), 1 / 3))
    sheet = tables.conditions(build([split]), CHOSEN)
    assert cell(sheet, "HL-01", "TTM") == "never"
    assert cell(sheet, "HL-01", "λ̂") == "identical"


def test_a_condition_without_replicates_has_no_numbers() -> None:
    sheet = tables.conditions(build([tracked(0, target=5, failed=5)]), CHOSEN)
    assert [cell(sheet, "HL-01", name) for name in ("λ̂", "95 % CI", "flip rate", "TTM")] == [
        "-"
    ] * 4
    assert cell(sheet, "HL-01", "failed") == "5"


def test_the_legend_names_the_window_of_the_fit() -> None:
    chosen = replace(CHOSEN, window=(5, 12))
    rows = reports_rows.build([tracked()], chosen)
    assert any("rounds 5-12" in note for note in tables.conditions(rows, chosen).notes)


# --- the 2x2 and the landscape -----------------------------------------------------------------


def test_the_2x2_has_roles_down_and_models_across() -> None:
    (sheet,) = tables.matrices(square())
    assert sheet.head == ("", "uniform", "mixed")
    assert [line[0] for line in sheet.body] == ["roles off", "roles on"]


def test_a_cell_of_the_2x2_holds_estimate_interval_and_realised_n() -> None:
    rows = square()
    (sheet,) = tables.matrices(rows)
    summary = rows[1].summary
    assert summary is not None
    e = summary.lyapunov
    numbers = (f"{e.value:.4f}", f"[{e.ci_low:.4f}, {e.ci_high:.4f}]", "n = 12")
    expected = "\n".join((*numbers, *rows[1].warnings))
    assert cell(sheet, "roles on", "mixed") == expected


def test_a_cell_that_was_not_run_stays_empty() -> None:
    (sheet,) = tables.matrices(square()[:3])
    assert cell(sheet, "roles off", "mixed") == "-"


@pytest.mark.parametrize(
    "cells",
    [[("on", "uniform")], [("on", "uniform"), ("off", "uniform")], [("on", "a"), ("on", "b")]],
)
def test_without_two_roles_and_two_models_there_is_no_2x2(cells: list[tuple[str, str]]) -> None:
    assert tables.matrices(build([tracked(roles=r, model=m) for r, m in cells])) == []


@pytest.mark.parametrize(
    ("factor", "values"),
    [
        ("scenario", ("HL-01", "IM-01")),
        ("memory", ("k15", "k3")),
        ("temperature", ("t0", "t0.1")),
        ("backend", ("simulated", "api")),
        ("rounds", ("10", "20")),
        ("seed", ("0", "1")),
    ],
)
def test_every_value_of_another_factor_has_a_2x2_of_its_own(
    factor: str, values: tuple[str, str]
) -> None:
    rows = [row for value in values for row in square(**{factor: value})]
    sheets = tables.matrices(rows)
    assert len(sheets) == 2
    assert all(value in sheet.title for value, sheet in zip(values, sheets, strict=True))


@pytest.mark.parametrize("factor", ["memory", "temperature", "rounds", "seed"])
def test_the_landscape_shows_every_condition(factor: str) -> None:
    counts = iter(range(11, 19))
    rows = build(
        [
            tracked(next(counts), scenario=scenario, **{factor: value})
            for scenario in ("HL-01", "IM-01")
            for value in ("1", "2")
        ]
    )
    (sheet,) = tables.landscape(rows)
    shown = " ".join(text for line in sheet.body for text in line)
    assert [n for n in range(11, 15) if f"({n})" not in shown] == []


def test_the_landscape_has_a_line_a_scenario_and_a_column_a_cell() -> None:
    rows = build([row.tracked for s in ("HL-01", "IM-01") for row in square(scenario=s)])
    (sheet,) = tables.landscape(rows)
    assert [line[0] for line in sheet.body] == ["HL-01", "IM-01"]
    assert sheet.head[1:] == (
        *("roles=on model=uniform", "roles=on model=mixed"),
        *("roles=off model=uniform", "roles=off model=mixed"),
    )


def test_one_scenario_is_no_landscape() -> None:
    assert tables.landscape(square()) == []


# --- what every table says ---------------------------------------------------------------------


def sheets(backend: str) -> list[Table]:
    rows = build(
        [row.tracked for s in ("HL-01", "IM-01") for row in square(scenario=s, backend=backend)]
    )
    return [tables.conditions(rows, CHOSEN), *tables.matrices(rows), *tables.landscape(rows)]


def test_what_is_simulated_says_so_under_every_table() -> None:
    notes = [" ".join(sheet.notes) for sheet in sheets("simulated")]
    assert len(notes) == 4
    assert all(
        "backend: simulated" in n and "no evidence about language models" in n for n in notes
    )


def test_what_is_not_simulated_does_not_say_so() -> None:
    notes = [" ".join(sheet.notes) for sheet in sheets("api")]
    assert all("backend: api" in note and "simulated" not in note for note in notes)


def test_markdown_escapes_bars_and_line_breaks() -> None:
    text = markdown(of_cells("T", ("a|b", "c"), (("1|2", "3\n4"),), ("a note",)))
    assert r"| a\|b | c |" in text
    assert r"| 1\|2 | 3<br>4 |" in text
    assert "a note" in text


def test_every_line_of_a_markdown_table_has_as_many_cells() -> None:
    for sheet in sheets("simulated"):
        lines = [line for line in markdown(sheet).splitlines() if line.startswith("|")]
        assert len(lines) == 2 + len(sheet.body)
        assert {line.replace(r"\|", "").count("|") for line in lines} == {len(sheet.head) + 1}


def test_the_terminal_shows_cells_as_they_are() -> None:
    console = Console(width=100, record=True, file=io.StringIO())
    for table in terminal(
        of_cells("T", ("x", "CI"), (("1", "[0.01, 0.02]"), ("2", "[red]")), ()), 100
    ):
        console.print(table)
    shown = console.export_text()
    assert "[0.01, 0.02]" in shown
    assert "[red]" in shown


def test_conditions_that_differ_in_a_text_alone_are_told_apart_by_identity() -> None:
    first, second = square()[0].tracked, replace(square()[0].tracked, identity="fedcba")
    sheet = tables.conditions(build([first, second]), CHOSEN)
    column = sheet.head.index("condition")
    assert {line[column] for line in sheet.body} == {first.identity, "fedcba"}


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_word_is_cut_and_no_column_lost_however_narrow_the_terminal(width: int) -> None:
    rows = build([tracked(12), tracked(13, failed=2, memory="k3")])
    for sheet in (tables.conditions(rows, CHOSEN), tables.diagnostics(rows, CHOSEN),
                  tables.decisions(rows)):  # fmt: skip
        console = Console(width=width, record=True, file=io.StringIO())
        for table in terminal(sheet, width):
            console.print(table)
        shown = console.export_text()
        assert max(map(cell_len, shown.splitlines())) <= width
        words = {word for cells in (sheet.head, *sheet.body) for c in cells for word in c.split()}
        assert [word for word in words if word not in shown.split()] == []
