"""Table S7: how often each seat changes the option that it prefers, pooled over temperatures."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from plenum.design.factors import FACTORS
from plenum.dynamics.estimate import mean
from plenum.reports import papers
from plenum.reports.formats import count, decimals, limits
from plenum.reports.labels import label, provenance
from plenum.reports.numbered.exponents import temperature
from plenum.reports.numbered.source import Made, Source
from plenum.reports.published import NOTE, Published, key, published
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
    groups = list(grouped(rows, held).values())
    shown = [n for n in varying_in(rows) if n != "temperature"]
    lines = [line for own in groups for line in _lines(own)]
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
    known = any(line["published_switches"] is not None for line in lines)
    over = "pooled over" if len(temperatures) > 1 else "at"
    notes = (
        f"roles on, {over} {', '.join(temperatures)}; n: agent-runs, one a replicate; a tie "
        "with the option before is no switch; CI: Student's t over agent-runs, as if temperature "
        "changed nothing",
        *[f"{NOTE}; pooled over {_temperatures()} (001, Table S7)"] * known,
        *_missing(rows),
        provenance(rows),
    )
    shared = label(rows[0].tracked.factors, [n for n in held if n not in shown])
    frame = pd.DataFrame(lines)
    title = f"Table S7: switches by seat ({shared})"
    return Made((Table("table_s7", title, frame, columns, notes),), frame)


def _pooled(row: Row) -> bool:
    factors = row.tracked.factors
    return (
        row.summary is not None
        and not row.tracked.perturbed
        and factors["roles"] == "on"
        and factors["temperature"] in _temperatures().split(", ")
    )


def _temperatures() -> str:
    """The temperatures that the paper pools."""
    item = papers.item("001/table-s7")
    return ", ".join(item.conditions[0]["temperature"])


def _lines(rows: Sequence[Row]) -> list[dict[str, object]]:
    """The seats of conditions that differ in temperature alone."""
    order = [one["seat"] for one in published(_FILE)]
    place = {seat: n for n, seat in enumerate(order)}
    seats = sorted(
        {seat for row in rows for seat in row.tracked.seats},
        key=lambda seat: (place.get(seat, len(place)), seat),
    )
    lines = []
    for seat in seats:
        counts = np.concatenate([_counts(row, seat) for row in rows]).astype(float)
        found = mean(counts, "mean over agent-runs")
        known = _published(rows[0], seat)
        lines.append(
            {
                **{n: v for n, v in rows[0].tracked.factors.items() if n != "temperature"},
                "temperature": " ".join(row.tracked.factors["temperature"] for row in rows),
                **{"seat": seat, "switches": found.value, "ci_low": found.ci_low},
                **{"ci_high": found.ci_high, "n": found.n},
                "sd": float(counts.std(ddof=1)) if len(counts) > 1 else math.nan,
                "published_switches": float(known["switches"]) if known else None,
                "published_sd": float(known["sd"]) if known else None,
                "published_n": int(known["n"]) if known else None,
            }
        )
    return lines


def _counts(row: Row, seat: str) -> np.ndarray:
    """Switches of a seat in every replicate."""
    if row.summary is None or seat not in row.tracked.seats:
        return np.empty(0)
    return row.summary.switches.counts[:, row.tracked.seats.index(seat)]


def _published(row: Row, seat: str) -> Published | None:
    own = key({**row.tracked.factors, "temperature": ""})
    lines = (one for one in published(_FILE) if one["seat"] == seat)
    return next((one for one in lines if key({**one.factors, "temperature": ""}) == own), None)


def _missing(rows: Sequence[Row]) -> list[str]:
    found = dict.fromkeys(w for row in rows for w in row.warnings if w in ("attrition", "pending"))
    return [f"warnings: {', '.join(found)}"] if found else []
