"""The one-screen table of a study of committees: decisions, flip rates and λ̂."""

import math

from plenum.base.shares import format_percent_between
from plenum.reports.groups import RowGroup
from plenum.reports.labels import condition_keys, label_shared
from plenum.reports.rows import list_shown_factors
from plenum.reports.tables.conditions import DECISIONS, INTERVALS
from plenum.show.formats import NONE, exponent, format_interval, format_realised, format_warnings
from plenum.show.phrases import spell_count
from plenum.show.table import Column, Table

MOST = 16
"""The largest number of lines that fits a screen of 45 lines, with room for the rest."""


def overview(group: RowGroup) -> Table:
    """Make the table with decisions, flip rate, λ̂ and warnings, one line a condition."""
    rows, chosen = group.rows, group.chosen
    names = group.varying or list_shown_factors(rows)
    whole = all(row.n == row.tracked.target for row in rows)
    sizes = {row.tracked.target for row in rows}
    equal = whole and len(sizes) == 1
    realised = () if equal else (Column(("completed", "target"), "n", format_realised),)
    columns = (
        *condition_keys(rows, names),
        *realised,
        DECISIONS,
        Column(("flip_rate", "flip_rate_ci_low", "flip_rate_ci_high"), "flip rate", _rate),
        Column(("lambda", "status", "ci_low", "ci_high"), group.symbol, _exponent),
        *group.answers,
        # A column of dashes would make the table too wide for 80 letters.
        *([Column("warnings", format=format_warnings)] if any(r.warnings for r in rows) else []),
    )
    each = f" of {spell_count(min(sizes), 'replicate')}" if equal else ""
    held = label_shared(rows, names)
    title = f"Study {chosen.study}: {spell_count(len(rows), 'condition')}{each} ({held})"
    told = {"fitted": group.fitted, "interval": INTERVALS[chosen.interval]}
    lines = group.frame
    if len(rows) > MOST:
        lines = lines.sort_values("flip_rate", ascending=False, kind="stable").head(MOST)
    facts = {"most": MOST, "total": len(rows), "file": chosen.out / "conditions.csv", **told}
    legend = group.notes("overview", **facts)[:-1]  # where numbers are from ends the screen
    return Table("conditions", title, lines, columns, legend)


def _rate(value: float, low: float, high: float) -> str:
    """Format a share in whole percent with its interval: ``15 % [3, 38]``."""
    if math.isnan(value):
        return NONE
    return format_percent_between(value, low, high)


def _exponent(value: float, status: str, low: float, high: float) -> str:
    """Format λ̂ with its interval; the warnings name ``short``, so that it isn't said twice."""
    if status == "short":
        return NONE
    limits = format_interval(low, high)
    return exponent(value, status) + (f" {limits}" if limits != NONE else "")
