"""Maps of λ̂: roles by model (Fig. 1B), and scenarios by everything else (Table S8, Fig. 4)."""

import math
from collections.abc import Sequence

from plenum.reports.effect_tables import of_wordings
from plenum.reports.marks import DIFFERENT, MARKS, different, explained, letters
from plenum.reports.rows import FACTORS, Row, grouped, symbol
from plenum.reports.sheets import Sheet, of_cells, provenance, told
from plenum.reports.tables.estimates import estimates

_ROLES = ("off", "on")

LEGEND = (
    "* growth or contraction, † other than diffusion: random time reversal and jackknife test, "
    f"each at a false discovery rate of {DIFFERENT:.0%} over this map (Benjamini-Hochberg)"
)
"""What the marks of a map mean."""


def matrices(rows: Sequence[Row]) -> list[Sheet]:
    """Roles by model for every scenario that has at least two of each (Fig. 1B's layout)."""
    sheets = []
    others = [n for n in FACTORS if n not in ("roles", "model")]
    for key, group in grouped(rows, others).items():
        roles = _order({r.tracked.factors["roles"] for r in group}, _ROLES)
        models = _order({r.tracked.factors["model"] for r in group}, ("uniform", "mixed"))
        if len(roles) < 2 or len(models) < 2:
            continue
        cells = grouped(group, ("roles", "model"))
        body = tuple(
            (f"roles {role}", *(_cell(cells.get((role, model), [])) for model in models))
            for role in roles
        )
        title = f"{symbol(group)} by roles and model: {told(others, key)}"
        notes = (*of_wordings(group), provenance(group))
        sheets.append(of_cells(title, ("", *models), body, notes))
    return sheets


def landscape(rows: Sequence[Row]) -> list[Sheet]:
    """λ̂ of every scenario in every cell (Table S8's layout), from two scenarios on."""
    if len({r.tracked.factors["scenario"] for r in rows}) < 2:
        return []
    marks = marked(rows)
    names = [n for n in FACTORS if n != "scenario"]
    varying = [n for n in names if len({r.tracked.factors[n] for r in rows}) > 1]
    columns = list(grouped(rows, varying))
    body = []
    for (scenario,), group in grouped(rows, ("scenario",)).items():
        cells = grouped(group, varying)
        body.append((scenario, *(short(cells.get(column, []), marks) for column in columns)))
    pairs = [zip(varying, column, strict=True) for column in columns]
    head = ("scenario", *(" ".join(f"{n}={v}" for n, v in pair) for pair in pairs))
    notes = (
        LEGEND,
        f"±: jackknife standard error; {legend()}",
        *of_wordings(rows),
        provenance(rows),
    )
    return [of_cells(f"Landscape: {symbol(rows)} (n) by scenario", head, tuple(body), notes)]


def _cell(rows: Sequence[Row]) -> str:
    """λ̂, interval, n and warnings; conditions that differ in a text alone share a cell."""
    cells = ([*estimates(row)[:2], f"n = {row.n}", *row.warnings] for row in rows)
    return "\n".join("\n".join(cell) for cell in cells) or "-"


def short(rows: Sequence[Row], marks: dict[str, str]) -> str:
    """The cell of a map: λ̂ of the conditions that share it."""
    return " / ".join(_brief(row, marks.get(row.tracked.run_id, "")) for row in rows) or "-"


def _brief(row: Row, marks: str) -> str:
    """λ̂ with its standard error, marks and n."""
    e = row.summary.lyapunov if row.summary else None
    if e is None or math.isnan(e.value):
        return f"{row.status} ({row.n})"
    error = f" ±{e.se:.3f}" if math.isfinite(e.se) else ""
    return f"{e.value:.3f}{error}{marks} ({row.n})"


def marked(rows: Sequence[Row]) -> dict[str, str]:
    """What the landscape says of each condition beside λ̂, by run."""
    found = different(rows)
    return {
        row.tracked.run_id: f"{found[row.tracked.run_id]} {letters(row.warnings)}".rstrip()
        for row in rows
        if row.tracked.run_id in found
    }


def legend() -> str:
    """What the letters of warnings mean, in a line."""
    return explained(MARKS)


def _order(values: set[str], first: Sequence[str]) -> list[str]:
    return sorted(values, key=lambda v: (first.index(v) if v in first else len(first), v))
