"""Tables and sentences in a terminal, wrapped to its width.

Tables that are too wide are split by groups of columns, which rich can't do.
"""

import os
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text

from plenum.base.terminal import make_safe
from plenum.base.text import make_printable
from plenum.show.formats import format_text
from plenum.show.table import Column, Format, Table
from plenum.show.warning_letters import abbreviate_warnings, explain_letters

WARNINGS = "warnings"
"""The head of the column of warnings, which stays next to the estimates."""

INTERVAL = "95 % CI"
"""The head of an interval; the first one of a table belongs to its estimate."""

PROSE = 100
"""The maximum width of sentences, even in a wider terminal."""

_PIPE = 140
"""The width of output that doesn't go to a terminal."""

_EDGE = 4
"""Columns that a table's edge takes: a space on the left; on the right one more, and padding."""

_GAP = re.compile(r"(?<!±)\s+(?!±)")
_SIGNED, _FIXED = re.compile(r" (?=[=%<])|(?<=[=<]) "), "\u00a0"
"""The signs that stay next to the number before them, and the space at which no line breaks."""

Split = Callable[[str], list[str]]


def _words(text: str) -> list[str]:
    """Split a text into words; a number and its error are one."""
    return _GAP.split(text.strip())


def _lines(text: str) -> list[str]:
    return text.split("\n")


def show_tables(tables: Sequence[Table]) -> None:
    """Print tables to the terminal; a note that several share is printed once, below all."""
    console = _console()
    shared = list_shared_notes(tables)
    for table in tables:
        own = replace(table, notes=tuple(note for note in table.notes if note not in shared))
        fitted = shorten_warnings(_printable(own), console.width)
        show_text(fitted.title, console, style="bold")
        for part in terminal(fitted, console.width):
            console.print(part)
        for note in fitted.notes:
            show_text(note, console)
        console.print()
    for note in shared:
        show_text(note, console)


def list_shared_notes(tables: Sequence[Table]) -> list[str]:
    """Return the notes that all of several tables have."""
    notes = [table.notes for table in tables]
    return [n for n in notes[0] if all(n in other for other in notes)] if notes[1:] else []


def show_whole(tables: Sequence[Table]) -> None:
    """Print tables in one piece, even in a narrow terminal: without an edge."""
    console = _console()
    width = console.width + _EDGE
    for table in tables:
        fitted = show_uncut(_printable(table), width)
        console.print(fitted.title, style="bold", markup=False, highlight=False)
        grid = _table(fitted, range(len(fitted.columns)), _in_one_piece(fitted, width), width)
        grid.show_edge = grid.pad_edge = False
        console.print(Padding(grid, (1, 0), expand=False))
        show_sentences(fitted.notes)


def count_lines(table: Table) -> int:
    """Count the lines that :func:`show_tables` takes for a table, without notes of others."""
    console = _console()
    fitted = shorten_warnings(_printable(table), console.width)
    parts = sum(len(console.render_lines(part)) for part in terminal(fitted, console.width))
    return parts + sum(len(line) // console.width + 1 for line in fitted.title.splitlines()) + 1


def prose_width() -> int:
    """Return the width to which sentences are wrapped."""
    return min(_console().width, PROSE)


def show_framed(paragraphs: Sequence[str], title: str) -> None:
    """Print sentences in a frame, an empty line between paragraphs; the first is bold."""
    console = _console()
    width = prose_width()
    texts = [_wrap(make_safe(text), width - 4) for text in paragraphs]
    words = [Text(text, "bold" if not at else "") for at, text in enumerate(texts)]
    console.print(Panel(Text("\n\n").join(words), title=title, title_align="left", width=width))


def _wrap(text: str, width: int) -> str:
    """Wrap a text to a width; a number stays with its sign."""
    kept = _SIGNED.sub(_FIXED, text)
    return textwrap.fill(kept, max(width, 20), break_on_hyphens=False).replace(_FIXED, " ")


def show_steps(steps: Sequence[tuple[str, str]]) -> None:
    """Print next steps: a name and a command a line; a long command isn't broken."""
    wide, console = max((cell_len(name) for name, _ in steps), default=0), _console()
    for name, command in steps:  # a line end of ours in it would be copied along
        text = make_safe(f"  {name:<{wide}}  {command}")
        console.print(text, markup=False, highlight=False, soft_wrap=True)


def show_text(text: str, console: Console | None = None, style: str = "") -> None:
    """Print a line of text: broken between words in a terminal, and left whole in a pipe."""
    console = console or _console()
    soft = not console.is_terminal
    console.print(make_safe(text), style=style, markup=False, highlight=False, soft_wrap=soft)


def show_sentences(paragraphs: Sequence[str]) -> None:
    """Print sentences, broken between words wherever they go."""
    console, width = _console(), prose_width()
    for paragraph in paragraphs:
        console.print(make_safe(paragraph), width=width, markup=False, highlight=False)


def _printable(table: Table) -> Table:
    """Remove characters from a table that a terminal would obey; names may be a provider's."""
    columns = [
        replace(column, label=make_printable(column.head), format=_make_printable(column.format))
        for column in table.columns
    ]
    return table.with_columns(columns)


def _make_printable(format: Format) -> Format:
    return lambda *values: make_printable(format(*values))


def _console() -> Console:
    """Return the console for tables: as wide as the terminal, else as ``COLUMNS`` says."""
    plain = Console()
    return plain if plain.is_terminal or "COLUMNS" in os.environ else Console(width=_PIPE)


def shorten_warnings(table: Table, width: int) -> Table:
    """Fit the warnings of a table into one line a row.

    They are named if the estimate, its interval and their names fit side by side; else they are
    letters, which a further note explains.
    """
    if WARNINGS not in table.head[table.keys :]:
        return table
    at = table.head.index(WARNINGS)
    by_name = _with(table, at, " ".join)
    beside = [*range(table.keys), _estimate(table), _estimate(table) + 1, at]
    if _wide(sorted(set(beside)), widths(by_name, _words)) <= width:
        return by_name
    return _format_letters(table)


def show_uncut(table: Table, width: int) -> Table:
    """Fit a table to a width in one piece, with as few abbreviations as possible.

    If it is too wide, warnings become letters, and then the columns that name a line become one.
    """
    at = table.head.index(WARNINGS) if WARNINGS in table.head[table.keys :] else None
    named = table if at is None else _with(table, at, " ".join)
    if _wide(range(len(table.columns)), widths(named)) <= width:
        return named
    brief = _format_letters(table)
    if _wide(range(len(table.columns)), widths(brief, _words)) <= width or table.keys < 2:
        return brief
    names = tuple(name for column in brief.columns[: table.keys] for name in column.names)
    one = Column(names, "condition", lambda *values: _in_a_row(names, values), key=True)
    return brief.with_columns([one, *brief.columns[table.keys :]])


def _in_a_row(names: Sequence[str], values: Sequence[object]) -> str:
    """Join the values that name a line in one cell; a bare number has its name before it."""
    texts = [format_text(value) for value in values]
    return " ".join(
        f"{name}={value}" if value.replace(".", "").isdigit() else value
        for name, value in zip(names, texts, strict=True)
    )


def _in_one_piece(table: Table, width: int) -> list[int]:
    """Compute the width of each column next to all others; names of lines break first."""
    least, words = widths(table, _words), widths(table, _words, _words)
    every = range(len(least))
    for column in [*every[: table.keys], *sorted(every[table.keys :], key=lambda c: least[c])]:
        if _wide(every, least) <= width:
            break
        least[column] = words[column]
    return least


def _format_letters(table: Table) -> Table:
    """Write a table's warnings as letters, which a further note explains."""
    if WARNINGS not in table.head[table.keys :]:
        return table
    at = table.head.index(WARNINGS)
    given = [line[at].split() for line in table.body]
    notes = table.notes
    if legend := explain_letters(name for names in given for name in names):
        notes = (f"{WARNINGS}: {legend}", *notes)
    return replace(_with(table, at, abbreviate_warnings), notes=notes)


def _with(table: Table, at: int, shown: Callable[[Sequence[str]], str]) -> Table:
    """Change the format of a table's column of warnings."""
    warned = table.columns[at]
    brief = replace(warned, format=lambda *names: shown(warned.format(*names).split()))
    return table.with_columns([*table.columns[:at], brief, *table.columns[at + 1 :]])


def terminal(table: Table, width: int) -> list[Grid]:
    """Split a table into as few tables as fit the terminal's width, one below another.

    Each has the columns that name a line; warnings stand with the estimate. A cell takes one line;
    one that is too wide for any terminal of this width breaks between words, never within a number.
    """
    least = _least(table, width)
    warned = WARNINGS in table.head[table.keys :]
    beside = (_estimate(table), table.head.index(WARNINGS)) if warned else None
    parts = split_columns(table.keys, least, width, beside)
    return [_table(table, part, least, width) for part in parts]


def split_columns(
    keys: int, widths: Sequence[int], limit: int, beside: tuple[int, int] | None = None
) -> list[list[int]]:
    """Split columns into as few tables as fit a width; each has the first ``keys``, and some more.

    Parameters
    ----------
    widths
        Of every column, in characters.
    beside
        A column, and a later one that stands in the same table.
    """
    first = list(range(keys))
    parts: list[list[int]] = [[]]
    for column in (c for c in range(keys, len(widths)) if not beside or c != beside[1]):
        added = beside if beside and column == beside[0] else (column,)
        if parts[-1] and _wide([*first, *parts[-1], *added], widths) > limit:
            parts.append([])
        parts[-1] += added
    return [[*first, *sorted(part)] for part in parts]


def _estimate(table: Table) -> int:
    """Return the column before the first interval, or the first that doesn't name a line."""
    return next((at - 1 for at, head in enumerate(table.head) if head == INTERVAL), table.keys)


def _wide(columns: Sequence[int], widths: Sequence[int]) -> int:
    """Compute the least width of a table: a space at the edge, one after each column."""
    return 2 + sum(widths[column] + 2 for column in columns)


def _least(table: Table, width: int) -> list[int]:
    """Compute the least width of each column: its cells whole, if that leaves room."""
    unbroken, words = widths(table, _words), widths(table, _words, _words)
    keys, rest = list(range(table.keys)), range(table.keys, len(unbroken))
    widest = max((words[column] + 2 for column in rest), default=0)
    named = unbroken if _wide(keys, unbroken) + widest <= width else words
    start = [named[key] for key in keys]
    fits = [_wide(keys, start) + unbroken[column] + 2 <= width for column in rest]
    return [*start, *(unbroken[c] if fit else words[c] for c, fit in zip(rest, fits, strict=True))]


def widths(table: Table, heads: Split = _lines, cells: Split = _lines) -> list[int]:
    """Compute the width of each column, whose head and cells may break; here by lines."""
    columns = zip(table.head, *table.body, strict=True)
    return [
        max(map(cell_len, [*heads(head), *(part for cell in body for part in cells(cell))]))
        for head, *body in columns
    ]


def _table(table: Table, columns: Sequence[int], least: Sequence[int], width: int) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    grown = _widen(columns, least, widths(table), width)
    for column in columns:
        grid.add_column(Text(table.head[column]), width=grown[column])
    for line in table.body:
        grid.add_row(*(Text(line[column]) for column in columns))
    return grid


def _widen(
    columns: Sequence[int], least: Sequence[int], full: Sequence[int], width: int
) -> dict[int, int]:
    """Widen columns to their full width, as far as there is room; the narrowest gaps first."""
    widths = {column: least[column] for column in columns}
    room = max(width - _wide(columns, least), 0)
    for column in sorted(columns, key=lambda c: full[c] - widths[c]):
        more = min(room, full[column] - widths[column])
        widths[column] += more
        room -= more
    return widths
