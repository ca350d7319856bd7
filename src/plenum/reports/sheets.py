"""Tables as plain text cells, and as Markdown."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plenum.reports.rows import Row


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
