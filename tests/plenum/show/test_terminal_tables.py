"""Tables in a terminal: nothing is wider than it, and what belongs to a row stays in its line."""

import io
import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_conditions import CHOSEN, build, estimated, exponent, group, tracked
from rich.cells import cell_len
from rich.console import Console
from text_tables import of_cells

from plenum.reports import effects
from plenum.reports.rows import Row
from plenum.reports.tables.conditions import (
    tabulate_conditions,
    tabulate_decisions,
    tabulate_diagnostics,
)
from plenum.reports.tables.effects import tabulate_contrasts
from plenum.reports.tables.overview import MOST, overview
from plenum.show import terminal_tables
from plenum.show.markdown import format_markdown
from plenum.show.table import Table
from plenum.show.terminal_tables import (
    _in_one_piece,
    _table,
    shorten_warnings,
    show_framed,
    show_uncut,
    split_columns,
    terminal,
)

WIDTHS = [80, 100, 120, 160]
LEVELS = {
    **{"scenario": ("HL-01", "IM-01"), "roles": ("on", "ablate_chair"), "memory": ("k15", "k3")},
    "settings": ("default", "order=fixed quorum=3"),
}


def rows() -> list[Row]:
    """A 2x2 with the warnings of few replicates and of failed ones."""
    cells = itertools.product(("on", "off"), ("uniform", "mixed"))
    return build(
        [
            tracked(n, 0.02, replicates=8, failed=n % 2, roles=roles, model=model)
            for n, (roles, model) in enumerate(cells, start=11)
        ]
    )


def sheets() -> list[Table]:
    made = rows()
    compared = tabulate_contrasts(effects.contrasts(made, CHOSEN), made)
    return [tabulate_conditions(group(made)), tabulate_diagnostics(group(made)),
            tabulate_decisions(group(made)), *compared]  # fmt: skip


def printed(sheet: Table, width: int) -> list[list[str]]:
    """The lines of each table that a sheet becomes at a width, without its empty ones."""
    shown = []
    for table in terminal(shorten_warnings(sheet, width), width):
        console = Console(width=width, record=True, file=io.StringIO())
        console.print(table)
        shown.append([line for line in console.export_text().splitlines() if line.strip()])
    return shown


@pytest.mark.slow
@pytest.mark.parametrize("width", [60, *WIDTHS])
def test_no_line_is_wider_than_the_terminal_and_every_cell_stands_whole_in_its_line(
    width: int,
) -> None:
    for sheet in sheets():
        shown, parts = shorten_warnings(sheet, width), printed(sheet, width)
        assert max(cell_len(line) for lines in parts for line in lines) <= width
        if width not in WIDTHS:
            words = {
                word for cells in (shown.head, *shown.body) for c in cells for word in c.split()
            }
            assert words <= {word for lines in parts for line in lines for word in line.split()}
            continue
        bodies = [lines[[("─" in line) for line in lines].index(True) + 1 :] for lines in parts]
        assert {len(body) for body in bodies} == {len(sheet.body)}
        for at, cells in enumerate(shown.body):
            assert all(any(cell in body[at] for body in bodies) for cell in cells)


@pytest.mark.parametrize("width", WIDTHS)
def test_warnings_stand_in_the_line_of_the_estimate_that_they_are_about(width: int) -> None:
    sheet = tabulate_conditions(group(rows()))
    at, estimate = sheet.head.index("warnings"), sheet.head.index("λ̂")
    shown = shorten_warnings(sheet, width)
    (part,) = [part for part in printed(sheet, width) if any("λ̂" in line for line in part)]
    for line, before, after in zip(part[-len(sheet.body) :], sheet.body, shown.body, strict=True):
        assert before[estimate] in line
        assert line.rstrip().endswith(after[at])
        assert after[at] != "-"


def test_warnings_are_named_where_there_is_room_and_letters_with_a_legend_where_not() -> None:
    sheet = of_cells(
        "T",
        ("condition", "λ̂", "95 % CI", "warnings"),
        (("a", "0.1", "[0.0, 0.2]", "uneven\nfew_apart"), ("b", "-", "-", "identical")),
        ("a note",),
    )
    wide, narrow = shorten_warnings(sheet, 80), shorten_warnings(sheet, 40)
    assert [line[-1] for line in wide.body] == ["uneven few_apart", "identical"]
    assert wide.notes == sheet.notes
    assert [line[-1] for line in narrow.body] == ["ua", "identical"]
    assert narrow.notes == ("warnings: u uneven, a few_apart", "a note")


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_the_table_of_a_screen_is_one_piece_at_any_width(width: int) -> None:
    made = build(
        [
            tracked(n, 0.02, replicates=8, failed=n % 2, **dict(zip(LEVELS, factors, strict=True)))
            for n, factors in enumerate(itertools.product(*LEVELS.values()))
        ]
    )
    for rows in (made, made[:2], made[:1]):
        sheet = overview(group(rows))
        shown = show_uncut(sheet, width)
        columns = range(len(shown.columns))
        console = Console(width=width, record=True, file=io.StringIO())
        console.print(_table(shown, columns, _in_one_piece(shown, width), width))
        lines = [line for line in console.export_text().splitlines() if line.strip()]
        assert max(map(cell_len, lines)) <= width
        head, rule, *body = lines
        assert set(rule.strip()) == {"─"}  # one head, hence one piece
        assert all(name in head for name in ("decisions", "flip rate", "λ̂", "warnings"))
        text = " ".join(" ".join(body).split())
        assert text.count("A 8") == len(rows)
        for row in rows:
            e = exponent(row)
            assert f"{e.value:.4f} [{e.ci_low:.4f}, {e.ci_high:.4f}]" in text


def test_a_2x2_names_what_was_varied_and_has_no_column_for_no_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decided = ("C",) * 17 + ("NONE",) * 3
    cells = enumerate(itertools.product(("on", "off"), ("uniform", "mixed")))
    made = build(
        [
            tracked(n, 0.02, len(decided), decisions=decided, roles=roles, model=model)
            for n, (roles, model) in cells
        ]
    )
    made = [estimated(row, ci_low=-0.0123, value=0.0123, warnings=()) for row in made]
    written = io.StringIO()
    monkeypatch.setattr(terminal_tables, "_console", lambda: Console(width=80, file=written))
    terminal_tables.show_whole([overview(group(made))])
    lines = [line.rstrip() for line in written.getvalue().splitlines()]
    assert max(map(cell_len, lines)) <= 80
    (head,) = (line.split() for line in lines if "decisions  " in line)
    assert head == ["roles", "model", "decisions", "flip", "rate", "λ̂"]
    assert sum(line.startswith(("on ", "off ")) for line in lines) == 4


def test_more_conditions_than_fit_are_those_of_the_highest_flip_rate() -> None:
    made = build(
        [
            tracked(n, 0.02, 8, memory=f"k{n}", decisions="A" * (8 - n % 5) + "B" * (n % 5))
            for n in range(MOST + 4)
        ]
    )
    sheet = overview(group(made))
    assert len(sheet) == MOST
    assert sheet.frame["flip_rate"].is_monotonic_decreasing
    assert sheet.frame["flip_rate"].min() > 0
    assert sheet.notes[0].startswith(f"{MOST} of {MOST + 4} conditions, those of the highest flip")


def test_a_frame_keeps_numbers_with_their_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr(terminal_tables, "_console", lambda: Console(width=60, file=written))
    show_framed(["word " * 9 + "at most 17 % and p = 0.015 " * 3, "Second."], "What happened")
    lines = written.getvalue().splitlines()
    assert {cell_len(line) for line in lines} == {60}
    assert lines[0].startswith("╭─ What happened ")
    assert not any(re.search(r"(=|17) +│$|│ +(%|=)", line) for line in lines)


def test_markup_and_what_ends_a_cell_are_text() -> None:
    sheet = of_cells("T", ("a|b", "CI"), (("1|2", "[red]"), ("3\n4", "[0.01, 0.02]")), ("a note",))
    text = format_markdown(sheet)
    assert r"| a\|b | CI |" in text
    assert r"| 1\|2 | [red] |" in text
    assert "| 3<br>4 | [0.01, 0.02] |" in text
    assert "a note" in text
    shown = "\n".join(line for lines in printed(sheet, 80) for line in lines)
    assert "[red]" in shown
    assert "[0.01, 0.02]" in shown


def test_a_cell_wider_than_any_line_breaks_between_words() -> None:
    long = " ".join(["word"] * 40)
    sheet = of_cells("T", ("key", "text"), (("a", long),), ())
    lines = [line for table in printed(sheet, 60) for line in table]
    assert max(map(cell_len, lines)) <= 60
    assert " ".join(lines).split().count("word") == 40


@settings(deadline=None)
@given(
    st.integers(1, 3),
    st.lists(st.integers(1, 40), min_size=1, max_size=12),
    st.integers(20, 120),
    st.data(),
)
def test_columns_are_parted_without_loss(
    keys: int, rest: list[int], limit: int, data: st.DataObject
) -> None:
    widths = [5] * keys + rest
    columns = st.integers(keys, len(widths) - 1)
    pairs = st.tuples(columns, columns).filter(lambda pair: pair[0] < pair[1])
    beside = data.draw(st.one_of(st.none(), pairs) if len(rest) > 1 else st.none())
    parts = split_columns(keys, widths, limit, beside)
    first = list(range(keys))
    assert all(part[:keys] == first for part in parts)
    assert sorted(c for part in parts for c in part[keys:]) == list(range(keys, len(widths)))
    assert beside is None or any({*beside} <= {*part} for part in parts)
    for part in parts:
        alone = len(part) - keys - (beside is not None and beside[1] in part) <= 1
        assert alone or 2 + sum(widths[c] + 2 for c in part) <= limit
