"""Tables of cells that are text already, until their builders give frames."""

from collections.abc import Sequence

import pandas as pd

from plenum.reports.formats import interval as limits
from plenum.reports.formats import number
from plenum.reports.formats import p_value as probability
from plenum.reports.rows import Row
from plenum.reports.table import Column, Table

__all__ = ["Sheet", "limits", "number", "of_cells", "probability", "provenance", "told"]

Sheet = Table


def of_cells(
    title: str,
    head: Sequence[str],
    body: Sequence[Sequence[str]],
    notes: Sequence[str],
    keys: int = 1,
) -> Table:
    """A table of cells."""
    columns = tuple(Column(str(at), label, key=at < keys) for at, label in enumerate(head))
    frame = pd.DataFrame([list(line) for line in body], columns=[c.names[0] for c in columns])
    return Table("", title, frame, columns, tuple(notes))


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
