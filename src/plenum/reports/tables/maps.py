"""Maps of λ̂: roles by model (Fig. 1B), and scenarios by everything else (Table S8, Fig. 4)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from plenum.base.shares import percent
from plenum.design.factors import FACTORS
from plenum.dynamics.diagnostics import REFUSED
from plenum.dynamics.warnings import LETTERS, OF_EFFECTS
from plenum.reports.groups import RowGroup
from plenum.reports.labels import label
from plenum.reports.marks import DIFFERENT, different
from plenum.reports.notes import write_notes
from plenum.reports.rows import COLUMNS, Row, group_rows, list_levels
from plenum.show.formats import NONE, exponent, format_interval
from plenum.show.table import Column, Table, make_keys
from plenum.show.warning_letters import explain_letters, format_letters

LEGEND = (
    "* growth or contraction, † other than diffusion, ‡ faster than independent jumps: random time "
    f"reversal and jackknife tests, each at a false discovery rate of {percent(DIFFERENT)} over "
    "this map (Benjamini-Hochberg)"
)
"""The explanation of a map's marks."""


def tabulate_matrices(together: RowGroup) -> list[Table]:
    """Make tables of roles by model for every scenario with two of each (Fig. 1B's layout)."""
    tables = []
    others = [n for n in FACTORS if n not in ("roles", "model")]
    for key, group in group_rows(together.rows, others).items():
        roles, models = list_levels(group, "roles"), list_levels(group, "model")
        if len(roles) < 2 or len(models) < 2:
            continue
        cells = group_rows(group, ("roles", "model"))
        lines = [
            {"roles": role, **{model: make_cell(cells.get((role, model), [])) for model in models}}
            for role in roles
        ]
        columns = (
            Column("roles", "", lambda role: f"roles {role}", key=True),
            *(Column(model, model, _square) for model in models),
        )
        held = label(dict(zip(others, key, strict=True)), others)
        title = f"{together.symbol} by roles and model: {held}"
        tables.append(
            Table("square", title, pd.DataFrame(lines), columns, write_notes("square", group))
        )
    return tables


def tabulate_landscape(group: RowGroup) -> list[Table]:
    """Make the table of λ̂ by scenario and cell (Table S8's layout), from two scenarios on."""
    rows = group.rows
    if len({r.tracked.factors["scenario"] for r in rows}) < 2:
        return []
    marks = mark_conditions(rows)
    across = [n for n in group.varying if n != "scenario"]
    every = list(group_rows(rows, across))
    lines = []
    for (scenario,), alike in group_rows(rows, ("scenario",)).items():
        groups = group_rows(alike, across)
        cells = {str(at): make_cell(groups.get(key, []), marks) for at, key in enumerate(every)}
        lines.append({"scenario": scenario, **cells})
    heads = [" ".join(f"{n}={v}" for n, v in zip(across, key, strict=True)) for key in every]
    columns = (
        *make_keys(["scenario"]),
        *(Column(str(at), head, format_brief) for at, head in enumerate(heads)),
    )
    below = group.notes("landscape", marks=LEGEND, legend=explain_map())
    title = f"Landscape: {group.symbol} (n) by scenario"
    return [Table("landscape", title, pd.DataFrame(lines), columns, below)]


Cell = tuple[dict[str, Any], ...]
"""The conditions that share a cell of a map, since they differ in a text alone."""


def make_cell(rows: Sequence[Row], marks: Mapping[str, str] | None = None) -> Cell:
    """Collect the conditions of a cell as records of the condition table, with their marks."""
    records = [dict.fromkeys(COLUMNS, math.nan) | row.record() for row in rows]
    given = [(marks or {}).get(row.tracked.run_id, "") for row in rows]
    return tuple(record | {"marks": mark} for record, mark in zip(records, given, strict=True))


def _square(conditions: Cell) -> str:
    """Format λ̂, interval, n and warnings, a line each."""
    lines = [
        line
        for condition in conditions
        for line in (
            exponent(condition["lambda"], condition["status"]),
            format_interval(condition["ci_low"], condition["ci_high"]),
            f"n = {condition['completed']}",
            *condition["warnings"].split(),
        )
    ]
    return "\n".join(lines) or NONE


def format_brief(conditions: Cell) -> str:
    """Format λ̂ with its standard error, if it has a test, and with marks and n."""
    return " / ".join(map(_brief, conditions)) or NONE


def _brief(condition: Mapping[str, Any]) -> str:
    if pd.isna(condition["lambda"]):
        return f"{condition['status']} ({condition['completed']})"
    tested = math.isfinite(condition["se"]) and not {*condition["warnings"].split()} & {*REFUSED}
    error = f" ±{condition['se']:.3f}" if tested else ""
    return f"{condition['lambda']:.3f}{error}{condition['marks']} ({condition['completed']})"


def mark_conditions(rows: Sequence[Row]) -> dict[str, str]:
    """Mark each condition in a map, by run."""
    marks = different(rows)
    return {
        row.tracked.run_id: f"{marks[row.tracked.run_id]} {format_letters(row.warnings)}".rstrip()
        for row in rows
        if row.tracked.run_id in marks
    }


def explain_map() -> str:
    """Explain the letters of warnings, in a line."""
    return explain_letters(name for name in LETTERS if name not in OF_EFFECTS)
