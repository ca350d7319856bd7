"""Table S5: λ̂, flip rate and time to majority of every condition, in the paper's groups."""

from collections.abc import Sequence

import pandas as pd

from plenum.reports.formats import NO_ESTIMATES, NONE, interval, number, or_dash
from plenum.reports.labels import shared_label
from plenum.reports.numbered.common import notes, record, with_published
from plenum.reports.numbered.source import Made, Source
from plenum.reports.rows import Row, grouped, symbol, varying_in
from plenum.reports.table import Column, Table, keys
from plenum.reports.tables.conditions import INTERVALS, WARNINGS, N, fitted
from plenum.reports.tables.conditions import exponents as exponents_of
from plenum.reports.tables.effects import of_wordings

FILES = ("table-s5", "fig-1", "table-s6", "table-s8")
"""Where a λ̂ is looked up: the table itself, and others for conditions that it hasn't."""

_PUBLISHED = ("lambda", "flip_rate", "time_to_majority", "n")
_OTHERS = "other conditions"


def exponents(source: Source) -> Made | None:
    """One table a group: temperatures by roles, mandates taken out, wordings, all others."""
    groups = _groups(source.deliberated)
    if not groups:
        return None
    tables = tuple(_table(name, own, source) for name, own in groups.items())
    records = [{"group": name, **record(row, FILES)} for name, own in groups.items() for row in own]
    return Made(tables, pd.DataFrame(records))


def _groups(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The conditions by what varies in them; one may stand in two groups, as in the paper."""
    plain = [row for row in rows if not row.tracked.perturbed]
    found: dict[str, list[Row]] = {}
    for (roles,), own in grouped(plain, ("roles",)).items():
        swept = _varying(own, "temperature")
        if swept:
            found[f"temperatures, roles {roles}"] = sorted(swept, key=_coldest_last)
    ablated = _varying([row for row in plain if row.tracked.factors["roles"] != "off"], "roles")
    if ablated:
        found["mandates taken out"] = ablated
    worded = [row for row in rows if row.tracked.perturbed]
    for (name,), own in grouped(worded, ("perturbation",)).items():
        found[f"wordings, {name}"] = own
    there = [id(row) for own in found.values() for row in own]
    others = [row for row in rows if id(row) not in there]
    return found | ({_OTHERS: others} if others else {})


def _varying(rows: Sequence[Row], factor: str) -> list[Row]:
    """The conditions that differ from another one in this factor alone."""
    names = [n for n in rows[0].tracked.factors if n != factor] if rows else []
    groups = grouped(rows, names).values()
    return [row for own in groups if _levels(own, factor) > 1 for row in own]


def _levels(rows: Sequence[Row], factor: str) -> int:
    return len({row.tracked.factors[factor] for row in rows})


def _coldest_last(row: Row) -> tuple[str, float]:
    return row.tracked.factors["scenario"], -temperature(row.tracked.factors["temperature"])


def temperature(label: str) -> float:
    """The temperature that a label names."""
    return float(label.removeprefix("t"))


def _table(name: str, rows: Sequence[Row], source: Source) -> Table:
    names = varying_in(rows) or ["scenario"]
    same = len(grouped(rows, names)) < len(rows)
    exponent = symbol(rows)
    times = tuple(f"time_to_majority{part}" for part in ("", "_ci_low", "_ci_high"))
    columns = (
        *keys([*names, *["condition"] * same]),
        *exponents_of(rows),
        Column(("flip_rate", "flip_rate_ci_low", "flip_rate_ci_high"), "flip rate", _share),
        Column((*times, "status"), "TTM", _median),
        N,
        WARNINGS,
        *(
            Column(f"printed_{what}", f"published\n{head}", or_dash)
            for what, head in zip(_PUBLISHED, (exponent, "flip rate", "TTM", "n"), strict=True)
        ),
    )
    legend = (
        f"{exponent}: slope of log D(t) over rounds {fitted(rows, source.chosen)}; CI: "
        f"{INTERVALS[source.chosen.interval]}; flip rate: share off the modal decision "
        "[Clopper-Pearson]; TTM: median first majority round [95 %]; n: completed/target",
        *of_wordings(rows),
        *notes(rows, FILES),
    )
    shared = shared_label(rows[0].tracked.factors, names)
    title = f"Table S5: {name} ({shared})"
    return Table("table_s5", title, with_published(rows, FILES), columns, legend)


def _share(value: float, low: float, high: float) -> str:
    return NONE if pd.isna(value) else f"{number(value, 3)} {interval(low, high, 2)}"


def _median(value: float, low: float, high: float, status: str) -> str:
    if status in NO_ESTIMATES:
        return NONE
    return f"{number(value, 0)} [{number(low, 0)}, {number(high, 0)}]"
