"""Tables as plain text cells: for the terminal and for Markdown."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from plenum.reports.rows import Row


@dataclass(frozen=True)
class Sheet:
    """A table: its title, its cells, and the notes below it."""

    title: str
    head: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


def show(sheets: Sequence[Sheet]) -> None:
    """Print sheets to the terminal."""
    console = Console(width=None if Console().is_terminal else 140)
    for sheet in sheets:
        console.print(sheet.title, style="bold", markup=False, highlight=False, soft_wrap=True)
        console.print(terminal(sheet))
        for note in sheet.notes:
            console.print(note, markup=False, highlight=False, soft_wrap=True)
        console.print()


def terminal(sheet: Sheet) -> Table:
    """A table for the terminal; a narrow one breaks cells between words, never within a number."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name, *cells in zip(sheet.head, *sheet.body, strict=True):
        words = " ".join([name, *cells]).split()
        table.add_column(Text(name), min_width=max(map(len, words), default=1))
    for line in sheet.body:
        table.add_row(*map(Text, line))
    return table


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
    """Factors and their values, in words; settings at their defaults go without saying."""
    pairs = zip(names, values, strict=True)
    return ", ".join(f"{n}={v}" for n, v in pairs if (n, v) != ("settings", "default"))


def provenance(rows: Sequence[Row]) -> str:
    """Where the numbers come from: the backends, and whether agents were simulated."""
    backends = sorted({r.tracked.factors["backend"] for r in rows})
    line = f"backend: {', '.join(backends)}"
    if "simulated" in backends:
        line += "; simulated agents, no evidence about language models"
    return line
