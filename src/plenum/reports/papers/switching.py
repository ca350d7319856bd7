"""Table S7: how often each seat changes the option that it prefers, pooled over temperatures."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from plenum.design.factors import FACTORS
from plenum.dynamics.estimate import mean
from plenum.reports.formats import count, decimals, limits
from plenum.reports.labels import label, provenance
from plenum.reports.papers import items
from plenum.reports.papers.exponents import temperature
from plenum.reports.papers.published import beside, published
from plenum.reports.papers.source import Made, Source, noted
from plenum.reports.rows import Row, grouped, varying_in
from plenum.reports.table import Column, Table, keys

_FILE = "table-s7"


def switching(source: Source) -> Made | None:
    """One line a seat: mean, SD and n of its switches in a deliberation with roles.

    Pooled are the temperatures that the paper pools, as far as the study has them.
    """
    rows = [row for row in source.deliberated if _pooled(row)]
    if not rows:
        return None
    held = [n for n in FACTORS if n != "temperature"]
    shown = [n for n in varying_in(rows) if n != "temperature"]
    frame = pd.DataFrame(line for alike in grouped(rows, held).values() for line in _lines(alike))
    columns = (
        *keys([*shown, "seat"]),
        Column("switches", "mean", decimals(2)),
        Column(("ci_low", "ci_high"), "95 % CI", limits(2)),
        Column("sd", "SD", decimals(2)),
        Column("n"),
        Column("published_switches", "published\nmean", decimals(2)),
        Column("published_sd", "published\nSD", decimals(2)),
        Column("published_n", "published\nn", count),
    )
    temperatures = sorted({r.tracked.factors["temperature"] for r in rows}, key=temperature)
    notes = noted(
        "s7",
        temperatures=temperatures,
        pooled=_temperatures() if frame["published_switches"].notna().any() else (),
        warnings=dict.fromkeys(
            w for r in rows for w in r.warnings if w in ("attrition", "pending")
        ),
    )
    shared = label(rows[0].tracked.factors, [n for n in held if n not in shown])
    title = f"Table S7: switches by seat ({shared})"
    return Made((Table("table_s7", title, frame, columns, (*notes, provenance(rows))),), frame)


def _pooled(row: Row) -> bool:
    factors = row.tracked.factors
    return (
        row.summary is not None
        and not row.tracked.perturbed
        and factors["roles"] == "on"
        and factors["temperature"] in _temperatures()
    )


def _temperatures() -> tuple[str, ...]:
    """The temperatures that the paper pools."""
    return items.item("001/table-s7").conditions[0]["temperature"]


def _lines(rows: Sequence[Row]) -> Iterator[dict[str, object]]:
    """The seats of conditions that differ in temperature alone."""
    first = rows[0].tracked.factors
    place = {line["seat"]: number for number, line in enumerate(published(_FILE))}
    seats = {seat for row in rows for seat in row.tracked.seats}
    for seat in sorted(seats, key=lambda name: (place.get(name, len(place)), name)):
        counts = np.concatenate([_counts(row, seat) for row in rows]).astype(float)
        estimate = mean(counts, "mean over agent-runs")
        all_pooled = {**first, "temperature": " ".join(_temperatures())}
        known = beside((_FILE,), all_pooled, seat=seat)
        yield {
            **{n: v for n, v in first.items() if n != "temperature"},
            "temperature": " ".join(row.tracked.factors["temperature"] for row in rows),
            **{"seat": seat, "switches": estimate.value, "ci_low": estimate.ci_low},
            **{"ci_high": estimate.ci_high, "n": estimate.n},
            "sd": float(counts.std(ddof=1)) if len(counts) > 1 else math.nan,
            "published_switches": float(known["switches"]) if known else None,
            "published_sd": float(known["sd"]) if known else None,
            "published_n": int(known["n"]) if known else None,
        }


def _counts(row: Row, seat: str) -> np.ndarray:
    """Switches of a seat in every replicate."""
    if row.summary is None or seat not in row.tracked.seats:
        return np.empty(0)
    return row.summary.switches.counts[:, row.tracked.seats.index(seat)]
