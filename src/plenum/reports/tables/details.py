"""What stands behind the conditions' estimates: diagnostics of λ̂, and decisions."""

import math
from collections.abc import Sequence

import pandas as pd

from plenum.reports.formats import NONE, decimals, error, number, share
from plenum.reports.labels import provenance
from plenum.reports.rows import Row, frame, shown, symbol
from plenum.reports.settings import Settings
from plenum.reports.table import Column, Table, keys
from plenum.reports.tables.conditions import fitted
from plenum.reports.tables.effects import of_wordings


def diagnostics(rows: Sequence[Row], chosen: Settings) -> Table:
    """What a λ̂ rests on: D at both ends, room to grow, other means over pairs, other fits."""
    names, same = shown(rows)
    exponent = symbol(rows)
    columns = (
        *keys([*names, *["condition"] * same]),
        Column(("rounds_used", "zero_rounds", "d_first"), "rounds fit", _rounds),
        Column("d_first", "D first", decimals(4)),
        Column("d_last", "D last", decimals(4)),
        Column("d_cap", "cap", decimals(3)),
        Column("headroom", format=_finite),
        Column("saturated_round", "full", decimals(0)),
        Column(("excess", "excess_ci_low", "excess_ci_high"), f"{exponent} - diffusion", share),
        Column(("lambda_rms", "lambda_rms_se"), f"RMS {exponent}", error),
        Column(("lambda_quenched", "lambda_quenched_se"), f"quenched {exponent}", error),
        Column(("exponential_residual", "power_residual"), "misfit", _misfit),
    )
    notes = (
        "rounds fit: used, + left out because D = 0; D: in the first and last of rounds "
        f"{fitted(rows, chosen)}; cap: the largest D that R replicates "
        "and K options allow; headroom: log(cap / D) per round; full: first round with D at half "
        "the cap (saturated)",
        f"RMS, quenched: {exponent} from the mean of D² and from the mean of log D over pairs, "
        "± jackknife standard error; misfit: residuals of log D on t (exponential) / on log t "
        "(power law)",
        *of_wordings(rows),
        provenance(rows),
    )
    return Table("diagnostics", f"Diagnostics of {exponent}", frame(rows), columns, notes)


def decisions(rows: Sequence[Row]) -> Table:
    """Decisions, majorities and switches: one column a seat."""
    names, same = shown(rows)
    seats = sorted({seat for row in rows for seat, _ in row.switches})
    lines = frame(rows)
    lines["votes"] = [row.summary.time_to_majority.n if row.summary else None for row in rows]
    for seat in seats:
        lines[f"switches {seat}"] = [dict(row.switches).get(seat) for row in rows]
    times = ("time_to_majority", "majorities"), ("time_to_stable", "stable_majorities")
    columns = (
        *keys([*names, *["condition"] * same]),
        *(
            Column((name, f"{name}_ci_low", f"{name}_ci_high"), label, share)
            for name, label in (
                ("flip_rate", "flip rate"),
                ("disagreement", "pairwise disagreement"),
            )
        ),
        *(
            Column((name, f"{name}_ci_low", f"{name}_ci_high", events, "votes"), label, _majority)
            for (name, events), label in zip(
                times, ("first majority", "stable majority"), strict=True
            )
        ),
        *(Column(f"switches {seat}", format=decimals(1)) for seat in seats),
    )
    notes = (
        "flip rate: share off the modal decision [Clopper-Pearson]; pairwise disagreement: "
        "unbiased R/(R-1)·(1-Σp²) [95 %]; NONE is a decision of its own",
        "majorities: Kaplan-Meier median round [95 %], replicates with one / all; switches: mean "
        "changes of the top option in a replicate",
        provenance(rows),
    )
    return Table("decisions", "Decisions", lines, columns, notes)


def _rounds(used: float, zero: float, d_first: float) -> str:
    if pd.isna(d_first):
        return NONE
    return f"{used:.0f}+{zero:.0f}" if zero else f"{used:.0f}"


def _finite(value: float) -> str:
    return NONE if pd.isna(value) or not math.isfinite(value) else number(value, 3)


def _misfit(exponential: float, power: float) -> str:
    return NONE if pd.isna(exponential) else f"{exponential:.2f} / {power:.2f}"


def _majority(median: float, low: float, high: float, events: float, n: float) -> str:
    """The median round of a majority, its interval, and how many of all replicates had one."""
    if pd.isna(n):
        return NONE
    limits = f"{number(low, 0)}, {number(high, 0)}"
    return f"{number(median, 0)} [{limits}], {events:.0f}/{n:.0f}"
