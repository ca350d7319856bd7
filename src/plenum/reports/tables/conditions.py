"""The tables of conditions: estimates, diagnostics, and decisions."""

from typing import Any

import pandas as pd

from plenum.reports.groups import RowGroup
from plenum.show.formats import (
    NONE,
    error,
    exponent,
    format_decimals,
    format_finite,
    format_growth,
    format_interval,
    format_jumped,
    format_number,
    format_or_dash,
    format_p_value,
    format_realised,
    format_share,
    format_warnings,
)
from plenum.show.table import Column, Table

_REVERSIBLE = 6
"""The fewest replicates with which time reversal can reject at 5 %: its least p is 2 / 2^R."""

INTERVALS = {
    "jackknife": "delete-one jackknife, t(R-1)",
    "percentile": "percentile bootstrap",
    "seed_compatible": "percentile bootstrap with the papers' 500 draws",
}
"""The methods of λ̂'s interval, in words."""

N = Column(("completed", "target"), "n", format_realised)
"""Completed of target replicates."""

DECISIONS = Column("decisions", format=format_or_dash)
"""The counts of replicates by decision."""

WARNINGS = Column("warnings", format=format_warnings)
"""The names of a line's warnings."""


def tabulate_conditions(group: RowGroup) -> Table:
    """Make the table with one line a condition; its title names the factors that never vary."""
    rows = group.rows
    missing = [n for n in ("failed", "pending") if any(getattr(row, n) for row in rows)]
    columns = (
        *group.keys,
        N,
        *map(Column, missing),
        DECISIONS,
        Column("flip_rate", format=format_decimals(3)),
        Column("time_to_majority", "TTM", format_decimals(0)),
        *tabulate_exponents(group.symbol),
        Column(_limits("typical_growth"), "typical pair", format_growth),
        Column(("jumped", "completed", "jumped_ci_low", "jumped_ci_high"), "jumped", format_jumped),
        Column("p_reversal", "p growth", format_p_value),
        Column("p_diffusion", "p diffusion", format_p_value),
        Column("p_jumps", "p jumps", format_p_value),
        Column("votes_as_stated", "votes\nas stated", format_decimals(2)),
        *group.answers,
        WARNINGS,
    )
    legend = group.notes(
        "conditions",
        fitted=group.fitted,
        interval=INTERVALS[group.chosen.interval],
        outlined=any(row.tracked.outline for row in rows),
        few=any(row.summary and row.n < _REVERSIBLE for row in rows),
    )
    title = f"Study {rows[0].tracked.study}: conditions ({group.shared})"
    return Table("conditions", title, group.frame, columns, legend)


def tabulate_exponents(symbol: str) -> tuple[Column, ...]:
    """Make the columns of λ̂, its interval, and the papers' own: percentiles of 500 draws."""
    papers = ("seed_compatible_low", "seed_compatible_high")
    return (
        Column(("lambda", "status"), symbol, exponent),
        Column(("ci_low", "ci_high"), "95 % CI", format_interval),
        Column(papers, "papers'\ninterval", format_interval),
    )


def tabulate_diagnostics(group: RowGroup) -> Table:
    """Make the table of λ̂'s diagnostics: D at both ends, headroom, θ, other means and fits."""
    name = group.symbol
    columns = (
        *group.keys,
        Column(("rounds_used", "zero_rounds", "d_first"), "rounds fit", _rounds),
        Column("d_first", "D first", format_decimals(4)),
        Column("d_last", "D last", format_decimals(4)),
        Column("d_cap", "cap", format_decimals(3)),
        Column("headroom", format=format_finite(3)),
        Column("saturated_round", "full", format_decimals(0)),
        Column(("excess", "excess_ci_low", "excess_ci_high"), f"{name} - diffusion", format_share),
        Column(_limits("farther_late"), "farther late", format_share),
        Column(("lambda_rms", "lambda_rms_se"), f"RMS {name}", error),
        Column(("lambda_quenched", "lambda_quenched_se"), f"quenched {name}", error),
        Column(("exponential_residual", "power_residual"), "misfit", _misfit),
    )
    legend = group.notes("diagnostics", fitted=group.fitted)
    return Table("diagnostics", f"Diagnostics of {name}", group.frame, columns, legend)


def tabulate_decisions(group: RowGroup) -> Table:
    """Make the table of decisions, majorities and switches: one column a seat."""
    rows = group.rows
    seats = sorted({seat for row in rows for seat, _ in row.switches})
    added: dict[str, Any] = {
        "votes": [row.summary.time_to_majority.n if row.summary else None for row in rows]
    }
    added |= {f"switches {seat}": [dict(row.switches).get(seat) for row in rows] for seat in seats}
    # Together: pandas warns of a hundred columns that come one by one.
    lines = pd.concat([group.frame, pd.DataFrame(added, index=group.frame.index)], axis=1)
    columns = (
        *group.keys,
        DECISIONS,
        Column(_limits("flip_rate"), "flip rate", format_share),
        Column(_limits("disagreement"), "pairwise disagreement", format_share),
        Column((*_limits("time_to_majority"), "majorities", "votes"), "first majority", _majority),
        Column(
            (*_limits("time_to_stable"), "stable_majorities", "votes"), "stable majority", _majority
        ),
        *(Column(f"switches {seat}", format=format_decimals(1)) for seat in seats),
    )
    return Table("decisions", "Decisions", lines, columns, group.notes("decisions"))


def _limits(name: str) -> tuple[str, str, str]:
    return name, f"{name}_ci_low", f"{name}_ci_high"


def _rounds(used: float, zero: float, d_first: float) -> str:
    if pd.isna(d_first):
        return NONE
    return f"{used:.0f}+{zero:.0f}" if zero else f"{used:.0f}"


def _misfit(exponential: float, power: float) -> str:
    return NONE if pd.isna(exponential) else f"{exponential:.2f} / {power:.2f}"


def _majority(median: float, low: float, high: float, events: float, n: float) -> str:
    """Format the median round of a majority, its interval, and the replicates that had one."""
    if pd.isna(n):
        return NONE
    limits = f"{format_number(low, 0)}, {format_number(high, 0)}"
    return f"{format_number(median, 0)} [{limits}], {events:.0f}/{n:.0f}"
