"""Tables as plain text cells: for the terminal and for Markdown."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from plenum.reports.rows import Row
from plenum.text import printable


@dataclass(frozen=True)
class Sheet:
    """A table: its title, its cells, and the notes below it.

    The first ``keys`` columns name a line; they are repeated where a terminal is too narrow for
    all columns side by side.
    """

    title: str
    head: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    keys: int = 1


def show(sheets: Sequence[Sheet]) -> None:
    """Print sheets to the terminal."""
    console = Console(width=None if Console().is_terminal else 140)
    for sheet in sheets:
        title = printable(sheet.title)
        console.print(title, style="bold", markup=False, highlight=False, soft_wrap=True)
        for table in terminal(sheet, console.width):
            console.print(table)
        for note in sheet.notes:
            console.print(printable(note), markup=False, highlight=False, soft_wrap=True)
        console.print()


def terminal(sheet: Sheet, width: int) -> list[Table]:
    """A sheet for a terminal: as few tables as fit its width, one below another.

    Cells break between words, never within a number.
    """
    words = [_longest(cells) for cells in zip(sheet.head, *sheet.body, strict=True)]
    return [_table(sheet, own, words, width) for own in parted(sheet.keys, words, width)]


def parted(keys: int, widths: Sequence[int], limit: int) -> list[list[int]]:
    """The columns of as few tables as fit a width: each has the first ``keys``, and some more.

    Parameters
    ----------
    widths
        Of every column, in characters.
    """
    first = list(range(keys))
    parts: list[list[int]] = [[]]
    for column in range(keys, len(widths)):
        if parts[-1] and _wide([*first, *parts[-1], column], widths) > limit:
            parts.append([])
        parts[-1].append(column)
    return [[*first, *part] for part in parts]


def _wide(columns: Sequence[int], words: Sequence[int]) -> int:
    """The least width of a table of some columns: a space at the edge, one after each column."""
    return 2 + sum(words[column] + 2 for column in columns)


def _longest(cells: Sequence[str]) -> int:
    """The width of the longest word; a number and its error are one."""
    return max((cell_len(word) for cell in cells for word in _GAP.split(cell.strip())), default=1)


_GAP = re.compile(r"(?<!±)\s+(?!±)")


def _table(sheet: Sheet, columns: Sequence[int], words: Sequence[int], width: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    widths = _widths(sheet, columns, words, width)
    for column in columns:
        table.add_column(Text(printable(sheet.head[column])), width=widths[column])
    for line in sheet.body:
        table.add_row(*(Text(printable(line[column])) for column in columns))
    return table


def _widths(
    sheet: Sheet, columns: Sequence[int], words: Sequence[int], width: int
) -> dict[int, int]:
    """Every column as wide as its longest word; what room is left goes to those that lack least."""
    full = {
        column: max(
            cell_len(line)
            for cell in (sheet.head[column], *(row[column] for row in sheet.body))
            for line in cell.split("\n")
        )
        for column in columns
    }
    widths = {column: words[column] for column in columns}
    room = max(width - _wide(columns, words), 0)
    for column in sorted(columns, key=lambda c: full[c] - widths[c]):
        more = min(room, full[column] - widths[column])
        widths[column] += more
        room -= more
    return widths


def markdown(sheet: Sheet) -> str:
    """A table as Markdown."""
    lines = [f"## {sheet.title}", "", _pipe(sheet.head), _pipe(["---"] * len(sheet.head))]
    lines += [_pipe(line) for line in sheet.body]
    lines += ["", *(f"{note}  " for note in sheet.notes), ""]
    return "\n".join(lines)


def _pipe(cells: Sequence[str]) -> str:
    escaped = (cell.replace("|", "\\|").replace("\n", "<br>") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def number(value: float, digits: int) -> str:
    """A number, or a dash where there is none."""
    if math.isnan(value):
        return "-"
    return "never" if math.isinf(value) else f"{value:.{digits}f}"


def limits(low: float, high: float, digits: int = 4) -> str:
    """An interval, or a dash where there is none."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return "-"
    return f"[{low:.{digits}f}, {high:.{digits}f}]"


def probability(p: float) -> str:
    """A p-value with three decimals, four where it is small."""
    if math.isnan(p):
        return "-"
    return "<.0001" if p < 1e-4 else f"{p:.4f}" if p < 0.0095 else f"{p:.3f}"


def told(names: Sequence[str], values: Sequence[str]) -> str:
    """Factors and their values, in words; what is usual goes without saying."""
    usual = {("settings", "default"), ("perturbation", "none"), ("protocol", "deliberation")}
    pairs = zip(names, values, strict=True)
    return ", ".join(f"{n}={v}" for n, v in pairs if (n, v) not in usual)


def provenance(rows: Sequence[Row]) -> str:
    """Where the numbers come from: the backends, and whether these are evidence of anything."""
    backends = sorted({r.tracked.factors["backend"] for r in rows})
    line = f"backend: {', '.join(backends)}"
    if any(r.tracked.simulated for r in rows) or "simulated" in backends:
        line += "; simulated agents, no evidence about language models"
    if any(r.tracked.tiny for r in rows):
        line += "; the tiny model shows that the hosted path works and stands for no real model"
    return line
