"""Table S7: switches by seat, pooled over temperatures."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from plenum.design.factors import FACTORS
from plenum.dynamics.estimate import estimate_mean
from plenum.dynamics.switches import switch_counts
from plenum.reports.labels import describe_provenance, label
from plenum.reports.rows import Row, group_rows, list_varying_factors
from plenum.show.formats import format_count, format_decimals, format_limits
from plenum.show.table import Column, Table, make_keys
from plenum_papers.items import items
from plenum_papers.items.departures import sum_up
from plenum_papers.items.estimates import temperature
from plenum_papers.items.published_values import find_published, read_numbers
from plenum_papers.items.source import NumberedTable, TableSource, render_notes


def tabulate_switches(source: TableSource) -> NumberedTable | None:
    """Make one line per seat: mean, SD and n of its switches in a deliberation with roles.

    The temperatures that the paper pools are pooled, as far as the study has them.
    """
    rows = [row for row in source.deliberated if _is_pooled(row)]
    if not rows:
        return None
    held = [n for n in FACTORS if n != "temperature"]
    shown = [n for n in list_varying_factors(rows) if n != "temperature"]
    frame = pd.DataFrame(
        line for alike in group_rows(rows, held).values() for line in _lines(alike)
    )
    columns = (
        *make_keys([*shown, "seat"]),
        Column("switches", "mean", format_decimals(2)),
        Column(("ci_low", "ci_high"), "95 % CI", format_limits(2)),
        Column("sd", "SD", format_decimals(2)),
        Column("n"),
        Column("switches_ties_first", "mean,\nties first", format_decimals(2)),
        Column("sd_ties_first", "SD,\nties first", format_decimals(2)),
        Column("published_switches", "published\nmean,\nties first", format_decimals(2)),
        Column("published_sd", "published\nSD,\nties first", format_decimals(2)),
        Column("published_n", "published\nn", format_count),
    )
    temperatures = sorted({r.tracked.factors["temperature"] for r in rows}, key=temperature)
    notes = render_notes(
        "s7",
        temperatures=temperatures,
        pooled=_temperatures() if frame["published_switches"].notna().any() else (),
        departing=sum_up([row.tracked for row in rows]),
        warnings=dict.fromkeys(
            w for r in rows for w in r.warnings if w in ("attrition", "pending")
        ),
    )
    shared = label(rows[0].tracked.factors, [n for n in held if n not in shown])
    title = f"Table S7: switches by seat ({shared})"
    return NumberedTable(
        (Table("table_s7", title, frame, columns, (*notes, describe_provenance(rows))),), frame
    )


def _is_pooled(row: Row) -> bool:
    factors = row.tracked.factors
    return (
        row.summary is not None
        and not row.tracked.perturbed
        and factors["roles"] == "on"
        and factors["temperature"] in _temperatures()
    )


def _temperatures() -> tuple[str, ...]:
    """Return the temperatures that the paper pools."""
    return items.item("001/table-s7").conditions[0]["temperature"]


def _lines(rows: Sequence[Row]) -> Iterator[dict[str, object]]:
    """Yield a line for each seat of conditions that differ only in temperature."""
    first = rows[0].tracked.factors
    place = {line["seat"]: number for number, line in enumerate(read_numbers("table-s7"))}
    seats = {seat for row in rows for seat in row.tracked.seats}
    for seat in sorted(seats, key=lambda name: (place.get(name, len(place)), name)):
        counts, first_of_tied = (
            np.concatenate([_counts(row, seat, ties) for row in rows]).astype(float)
            for ties in ("none", "first")
        )
        estimate = estimate_mean(counts, "mean over agent-runs")
        all_pooled = {**first, "temperature": " ".join(_temperatures())}
        known = find_published(("table-s7",), all_pooled, seat=seat)
        yield {
            **{n: v for n, v in first.items() if n != "temperature"},
            "temperature": " ".join(row.tracked.factors["temperature"] for row in rows),
            "seat": seat,
            "switches": estimate.value,
            "ci_low": estimate.ci_low,
            "ci_high": estimate.ci_high,
            "n": estimate.n,
            "sd": _sd(counts),
            "switches_ties_first": float(first_of_tied.mean()) if len(counts) else math.nan,
            "sd_ties_first": _sd(first_of_tied),
            "published_switches": float(known["switches"]) if known else None,
            "published_sd": float(known["sd"]) if known else None,
            "published_n": int(known["n"]) if known else None,
        }


def _sd(counts: np.ndarray) -> float:
    return float(counts.std(ddof=1)) if len(counts) > 1 else math.nan


def _counts(row: Row, seat: str, ties: str) -> np.ndarray:
    """Return the switches of a seat in every replicate."""
    if row.summary is None or seat not in row.tracked.seats:
        return np.empty(0)
    switches = switch_counts(row.tracked.preferences, ties=ties)
    return switches.counts[:, row.tracked.seats.index(seat)]
