"""Tables S6 and S8: λ̂ by model, and by scenario, with roles, temperature and the rest across."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from plenum.reports.formats import NONE
from plenum.reports.labels import shared_label
from plenum.reports.numbered.common import notes, record, reported_of
from plenum.reports.numbered.exponents import temperature
from plenum.reports.numbered.source import Made, Source
from plenum.reports.rows import Row, grouped, symbol, varying_in
from plenum.reports.table import Column, Table, keys
from plenum.reports.tables.effects import of_wordings
from plenum.reports.tables.maps import LEGEND, Cell, brief, cell, legend, marked

_MODELS = ("table-s6", "table-s5")
_SCENARIOS = ("fig-1", "table-s8")
_FIRST = ("on", "off", "uniform", "mixed")
_THIS, _THEIRS = "this run", "published"


def models(source: Source) -> Made | None:
    """λ̂ of every model, roles by temperature across (Table S6), from two models on."""
    rows = [row for row in source.deliberated if not row.tracked.perturbed]
    if len({row.tracked.factors["model"] for row in rows}) < 2:
        return None
    across = [n for n in varying_in(rows) if n in ("roles", "temperature")]
    down = ["model", *(n for n in varying_in(rows) if n not in ("model", *across))]
    table = _grid("Table S6: λ̂ by model", rows, down, across, _MODELS)
    return Made((table,), pd.DataFrame([record(row, _MODELS) for row in rows]))


def landscape(source: Source) -> Made | None:
    """λ̂ of every scenario, all other factors across (Table S8), from two scenarios on."""
    parts = [
        [row for row in source.deliberated if row.tracked.perturbed is wanted]
        for wanted in (False, True)
    ]
    parts = [own for own in parts if len({r.tracked.factors["scenario"] for r in own}) > 1]
    if not parts:
        return None
    tables = []
    for own in parts:
        across = [n for n in varying_in(own) if n != "scenario"]
        title = f"Table S8: {symbol(own)} by scenario"
        tables.append(_grid(title, own, ["scenario"], across, _SCENARIOS))
    return Made(
        tuple(tables), pd.DataFrame([record(row, _SCENARIOS) for own in parts for row in own])
    )


def _grid(
    title: str, rows: Sequence[Row], down: list[str], across: list[str], files: Sequence[str]
) -> Table:
    """λ̂ with some factors down and others across; published values on lines of their own."""
    marks = marked(rows)
    every = sorted(grouped(rows, across), key=lambda key: _place(across, key))
    known = any(reported_of(row, files) for row in rows)
    lines: list[dict[str, Any]] = []
    for line, own in grouped(rows, down).items():
        found = grouped(own, across)
        at = [found.get(key, []) for key in every]
        named = dict(zip(down, line, strict=True))
        lines.append(named | {"source": _THIS} | _numbered([cell(part, marks) for part in at]))
        published = [_published(part, files) for part in at]
        if any(text != NONE for text in published):
            lines.append(named | {"source": _THEIRS} | _numbered(published))
    columns = (
        *keys([*down, *["source"] * known]),
        *(Column(str(at), _named(across, key), _either) for at, key in enumerate(every)),
    )
    shared = shared_label(rows[0].tracked.factors, varying_in(rows))
    notes_ = (
        *(LEGEND, f"±: jackknife standard error; (n); {legend()}"),
        *of_wordings(rows),
        *notes(rows, files),
    )
    return Table("", f"{title} ({shared})", pd.DataFrame(lines), columns, notes_)


def _numbered(cells: Sequence[Cell | str]) -> dict[str, Cell | str]:
    return {str(at): one for at, one in enumerate(cells)}


def _either(found: Cell | str) -> str:
    """A cell of this run, or a published one as it is printed."""
    return found if isinstance(found, str) else brief(found)


def _published(rows: Sequence[Row], files: Sequence[str]) -> str:
    """Published λ̂ (n) of a cell."""
    found = {
        f"{one['lambda']}{f' ({n})' if (n := one.values.get('n')) else ''}"
        for row in rows
        if (one := reported_of(row, files))
    }
    return " / ".join(sorted(found)) or NONE


def _place(names: Sequence[str], key: Sequence[str]) -> list[tuple[float, str]]:
    """On comes before off, uniform before mixed, lower temperatures before higher ones."""
    order = []
    for name, value in zip(names, key, strict=True):
        if name == "temperature":
            order.append((temperature(value), ""))
        elif value in _FIRST:
            order.append((_FIRST.index(value), ""))
        else:
            order.append((len(_FIRST), value))
    return order


def _named(names: Sequence[str], key: Sequence[str]) -> str:
    return "\n".join(f"{n}={v}" for n, v in zip(names, key, strict=True)) or "λ̂"
