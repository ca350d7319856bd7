"""The tables of conditions: estimates, diagnostics, and decisions."""

import math
from collections.abc import Sequence

import pandas as pd

from plenum.reports.formats import (
    NONE,
    decimals,
    error,
    exponent,
    interval,
    number,
    or_dash,
    p_value,
    realised,
    share,
    warnings,
)
from plenum.reports.labels import condition_keys, shared_label
from plenum.reports.notes import notes
from plenum.reports.rows import Row, frame, shown, symbol
from plenum.reports.settings import Settings
from plenum.reports.table import Column, Table

_REVERSIBLE = 6
"""The fewest replicates with which time reversal can reject at 5 %: its least p is 2 / 2^R."""

INTERVALS = {
    "jackknife": "delete-one jackknife, t(R-1)",
    "percentile": "percentile bootstrap",
    "bca": "bootstrap, bias corrected and accelerated",
    "bootstrap_t": "bootstrap-t",
    "seed_compatible": "percentile bootstrap with the papers' 500 draws",
}
"""The methods of λ̂'s interval, in words."""

N = Column(("completed", "target"), "n", realised)
"""Completed of target replicates."""

DECISIONS = Column("decisions", format=or_dash)
"""The counts of replicates by decision."""

WARNINGS = Column("warnings", format=warnings)
"""The names of a line's warnings."""


def conditions(rows: Sequence[Row], chosen: Settings) -> Table:
    """Make the table with one line a condition; its title names the factors that never vary."""
    missing = [n for n in ("failed", "pending") if any(getattr(row, n) for row in rows)]
    columns = (
        *(*condition_keys(rows), N, *map(Column, missing), *exponents(rows)),
        Column("p_reversal", "p growth", p_value),
        Column("p_diffusion", "p diffusion", p_value),
        DECISIONS,
        Column("flip_rate", format=decimals(3)),
        Column("time_to_majority", "TTM", decimals(0)),
        WARNINGS,
    )
    legend = notes(
        "conditions",
        rows,
        fitted=fitted(rows, chosen),
        interval=INTERVALS[chosen.interval],
        outlined=any(row.tracked.outline for row in rows),
        few=any(row.summary and row.n < _REVERSIBLE for row in rows),
    )
    shared = shared_label(rows[0].tracked.factors, shown(rows)[0])
    title = f"Study {rows[0].tracked.study}: conditions ({shared})"
    return Table("conditions", title, frame(rows), columns, legend)


def exponents(rows: Sequence[Row]) -> tuple[Column, Column]:
    """Make the columns of λ̂ and its interval."""
    return (
        Column(("lambda", "status"), symbol(rows), exponent),
        Column(("ci_low", "ci_high"), "95 % CI", interval),
    )


def fitted(rows: Sequence[Row], chosen: Settings) -> str:
    """Name the rounds of the fit, as far as any condition was run."""
    run = max((r.tracked.played[0] for r in rows if r.summary), default=0)
    first, last = chosen.window
    return f"{first}-{min(last, run) if run > first else last}"


def diagnostics(rows: Sequence[Row], chosen: Settings) -> Table:
    """Make the table of λ̂'s diagnostics: D at both ends, headroom, other means and fits."""
    name = symbol(rows)
    columns = (
        *condition_keys(rows),
        Column(("rounds_used", "zero_rounds", "d_first"), "rounds fit", _rounds),
        Column("d_first", "D first", decimals(4)),
        Column("d_last", "D last", decimals(4)),
        Column("d_cap", "cap", decimals(3)),
        Column("headroom", format=_finite),
        Column("saturated_round", "full", decimals(0)),
        Column(("excess", "excess_ci_low", "excess_ci_high"), f"{name} - diffusion", share),
        Column(("lambda_rms", "lambda_rms_se"), f"RMS {name}", error),
        Column(("lambda_quenched", "lambda_quenched_se"), f"quenched {name}", error),
        Column(("exponential_residual", "power_residual"), "misfit", _misfit),
    )
    legend = notes("diagnostics", rows, fitted=fitted(rows, chosen))
    return Table("diagnostics", f"Diagnostics of {name}", frame(rows), columns, legend)


def decisions(rows: Sequence[Row]) -> Table:
    """Make the table of decisions, majorities and switches: one column a seat."""
    seats = sorted({seat for row in rows for seat, _ in row.switches})
    lines = frame(rows)
    lines["votes"] = [row.summary.time_to_majority.n if row.summary else None for row in rows]
    for seat in seats:
        lines[f"switches {seat}"] = [dict(row.switches).get(seat) for row in rows]
    columns = (
        *condition_keys(rows),
        DECISIONS,
        Column(_limits("flip_rate"), "flip rate", share),
        Column(_limits("disagreement"), "pairwise disagreement", share),
        Column((*_limits("time_to_majority"), "majorities", "votes"), "first majority", _majority),
        Column(
            (*_limits("time_to_stable"), "stable_majorities", "votes"), "stable majority", _majority
        ),
        *(Column(f"switches {seat}", format=decimals(1)) for seat in seats),
    )
    return Table("decisions", "Decisions", lines, columns, notes("decisions", rows))


def _limits(name: str) -> tuple[str, str, str]:
    return name, f"{name}_ci_low", f"{name}_ci_high"


def _rounds(used: float, zero: float, d_first: float) -> str:
    if pd.isna(d_first):
        return NONE
    return f"{used:.0f}+{zero:.0f}" if zero else f"{used:.0f}"


def _finite(value: float) -> str:
    return NONE if pd.isna(value) or not math.isfinite(value) else number(value, 3)


def _misfit(exponential: float, power: float) -> str:
    return NONE if pd.isna(exponential) else f"{exponential:.2f} / {power:.2f}"


def _majority(median: float, low: float, high: float, events: float, n: float) -> str:
    """Format the median round of a majority, its interval, and the replicates that had one."""
    if pd.isna(n):
        return NONE
    limits = f"{number(low, 0)}, {number(high, 0)}"
    return f"{number(median, 0)} [{limits}], {events:.0f}/{n:.0f}"
