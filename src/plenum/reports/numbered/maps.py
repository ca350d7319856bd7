"""Tables S6 and S8: λ̂ by model, and by scenario, with roles, temperature and the rest across."""

from collections.abc import Sequence

import pandas as pd

from plenum.reports.effect_tables import of_wordings
from plenum.reports.numbered.common import notes, record, told
from plenum.reports.numbered.exponents import temperature
from plenum.reports.numbered.source import Made, Source
from plenum.reports.rows import FACTORS, Row, grouped, symbol, varying_in
from plenum.reports.sheets import Sheet, of_cells
from plenum.reports.sheets import told as in_words
from plenum.reports.tables.maps import LEGEND, legend, marked, short

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
    sheet = _grid("Table S6: λ̂ by model", rows, down, across, _MODELS)
    return Made((sheet,), pd.DataFrame([record(row, _MODELS) for row in rows]))


def landscape(source: Source) -> Made | None:
    """λ̂ of every scenario, all other factors across (Table S8), from two scenarios on."""
    parts = [
        [row for row in source.deliberated if row.tracked.perturbed is wanted]
        for wanted in (False, True)
    ]
    parts = [own for own in parts if len({r.tracked.factors["scenario"] for r in own}) > 1]
    if not parts:
        return None
    sheets = []
    for own in parts:
        across = [n for n in varying_in(own) if n != "scenario"]
        title = f"Table S8: {symbol(own)} by scenario"
        sheets.append(_grid(title, own, ["scenario"], across, _SCENARIOS))
    return Made(
        tuple(sheets), pd.DataFrame([record(row, _SCENARIOS) for own in parts for row in own])
    )


def _grid(
    title: str, rows: Sequence[Row], down: list[str], across: list[str], files: Sequence[str]
) -> Sheet:
    """λ̂ with some factors down and others across; published values on lines of their own."""
    found = marked(rows)
    columns = sorted(grouped(rows, across), key=lambda key: _place(across, key))
    known = any(told(row, files) for row in rows)
    body = []
    for line, own in grouped(rows, down).items():
        cells = grouped(own, across)
        at = [cells.get(column, []) for column in columns]
        body.append((*line, *[_THIS] * known, *(short(cell, found) for cell in at)))
        theirs = [_theirs(cell, files) for cell in at]
        if any(text != "-" for text in theirs):
            body.append((*line, _THEIRS, *theirs))
    fixed = [n for n in FACTORS if n not in varying_in(rows)]
    head = (*down, *["source"] * known, *(_named(across, column) for column in columns))
    how = (LEGEND, f"±: jackknife standard error; (n); {legend()}", *of_wordings(rows))
    told_ = in_words(fixed, [rows[0].tracked.factors[n] for n in fixed])
    return of_cells(
        f"{title} ({told_})", head, tuple(body), (*how, *notes(rows, files)), len(down) + known
    )


def _theirs(rows: Sequence[Row], files: Sequence[str]) -> str:
    """Published λ̂ (n) of a cell."""
    found = {
        f"{one['lambda']}{f' ({n})' if (n := one.values.get('n')) else ''}"
        for row in rows
        if (one := told(row, files))
    }
    return " / ".join(sorted(found)) or "-"


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
