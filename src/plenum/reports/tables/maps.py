"""Maps of λ̂: roles by model (Fig. 1B), and scenarios by everything else (Table S8, Fig. 4)."""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from plenum.design.factors import FACTORS
from plenum.dynamics.warnings import LETTERS, OF_EFFECTS
from plenum.reports.formats import NONE, exponent, interval
from plenum.reports.labels import label, provenance
from plenum.reports.marks import DIFFERENT, different, explained, letters
from plenum.reports.rows import Row, frame, grouped, symbol, varying_in
from plenum.reports.table import Column, Table, keys
from plenum.reports.tables.effects import of_wordings

_ROLES = ("off", "on")

LEGEND = (
    "* growth or contraction, † other than diffusion: random time reversal and jackknife test, "
    f"each at a false discovery rate of {DIFFERENT:.0%} over this map (Benjamini-Hochberg)"
)
"""What the marks of a map mean."""


def matrices(rows: Sequence[Row]) -> list[Table]:
    """Roles by model for every scenario that has at least two of each (Fig. 1B's layout)."""
    tables = []
    others = [n for n in FACTORS if n not in ("roles", "model")]
    for key, group in grouped(rows, others).items():
        roles = _order({r.tracked.factors["roles"] for r in group}, _ROLES)
        models = _order({r.tracked.factors["model"] for r in group}, ("uniform", "mixed"))
        if len(roles) < 2 or len(models) < 2:
            continue
        found = grouped(group, ("roles", "model"))
        lines = [
            {"roles": role, **{model: cell(found.get((role, model), [])) for model in models}}
            for role in roles
        ]
        columns = (
            Column("roles", "", lambda role: f"roles {role}", key=True),
            *(Column(model, model, _square) for model in models),
        )
        held = label(dict(zip(others, key, strict=True)), others)
        title = f"{symbol(group)} by roles and model: {held}"
        notes = (*of_wordings(group), provenance(group))
        tables.append(Table("square", title, pd.DataFrame(lines), columns, notes))
    return tables


def landscape(rows: Sequence[Row]) -> list[Table]:
    """λ̂ of every scenario in every cell (Table S8's layout), from two scenarios on."""
    if len({r.tracked.factors["scenario"] for r in rows}) < 2:
        return []
    marks = marked(rows)
    across = [n for n in varying_in(rows) if n != "scenario"]
    every = list(grouped(rows, across))
    lines = []
    for (scenario,), group in grouped(rows, ("scenario",)).items():
        found = grouped(group, across)
        cells = {str(at): cell(found.get(key, []), marks) for at, key in enumerate(every)}
        lines.append({"scenario": scenario, **cells})
    heads = [" ".join(f"{n}={v}" for n, v in zip(across, key, strict=True)) for key in every]
    columns = (
        *keys(["scenario"]),
        *(Column(str(at), head, brief) for at, head in enumerate(heads)),
    )
    notes = (
        LEGEND,
        f"±: jackknife standard error; {legend()}",
        *of_wordings(rows),
        provenance(rows),
    )
    title = f"Landscape: {symbol(rows)} (n) by scenario"
    return [Table("landscape", title, pd.DataFrame(lines), columns, notes)]


Cell = tuple[dict[Hashable, Any], ...]
"""The conditions that share a cell of a map, since they differ in a text alone."""


def cell(rows: Sequence[Row], marks: Mapping[str, str] | None = None) -> Cell:
    """The conditions of a cell as records of the condition table, with their marks."""
    records = frame(rows).to_dict("records")
    given = [(marks or {}).get(row.tracked.run_id, "") for row in rows]
    return tuple(record | {"marks": mark} for record, mark in zip(records, given, strict=True))


def _square(found: Cell) -> str:
    """λ̂, interval, n and warnings, a line each."""
    lines = [
        line
        for one in found
        for line in (
            exponent(one["lambda"], one["status"]),
            interval(one["ci_low"], one["ci_high"]),
            f"n = {one['completed']}",
            *one["warnings"].split(),
        )
    ]
    return "\n".join(lines) or NONE


def brief(found: Cell) -> str:
    """λ̂ with its standard error, marks and n."""
    return " / ".join(map(_brief, found)) or NONE


def _brief(one: Mapping[Hashable, Any]) -> str:
    if pd.isna(one["lambda"]):
        return f"{one['status']} ({one['completed']})"
    error = f" ±{one['se']:.3f}" if math.isfinite(one["se"]) else ""
    return f"{one['lambda']:.3f}{error}{one['marks']} ({one['completed']})"


def marked(rows: Sequence[Row]) -> dict[str, str]:
    """What a map says of each condition beside λ̂, by run."""
    found = different(rows)
    return {
        row.tracked.run_id: f"{found[row.tracked.run_id]} {letters(row.warnings)}".rstrip()
        for row in rows
        if row.tracked.run_id in found
    }


def legend() -> str:
    """What the letters of warnings mean, in a line."""
    return explained(name for name in LETTERS if name not in OF_EFFECTS)


def _order(values: set[str], first: Sequence[str]) -> list[str]:
    return sorted(values, key=lambda v: (first.index(v) if v in first else len(first), v))
