"""Table S5: λ̂, flip rate and time to majority of every condition, in the paper's groups."""

from collections.abc import Sequence

import pandas as pd

from plenum.reports.effect_tables import of_wordings
from plenum.reports.numbered.common import notes, record, told
from plenum.reports.numbered.source import Made, Source
from plenum.reports.rows import FACTORS, Row, grouped, named, symbol, varying_in
from plenum.reports.sheets import Sheet, limits, number, of_cells
from plenum.reports.sheets import told as in_words
from plenum.reports.tables.estimates import INTERVALS, fitted

FILES = ("table-s5", "fig-1", "table-s6", "table-s8")
"""Where a λ̂ is looked up: the table itself, and others for conditions that it hasn't."""

_PUBLISHED = ("lambda", "flip_rate", "time_to_majority", "n")
_OTHERS = "other conditions"


def exponents(source: Source) -> Made | None:
    """One sheet a group: temperatures by roles, mandates taken out, wordings, all others."""
    groups = _groups(source.deliberated)
    if not groups:
        return None
    sheets = tuple(_sheet(name, own, source) for name, own in groups.items())
    records = [{"group": name, **record(row, FILES)} for name, own in groups.items() for row in own]
    return Made(sheets, pd.DataFrame(records))


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


def _sheet(name: str, rows: Sequence[Row], source: Source) -> Sheet:
    names = varying_in(rows) or ["scenario"]
    same = len(grouped(rows, names)) < len(rows)
    exponent = symbol(rows)
    head = (
        *(*names, *("condition",) * same, exponent, "95 % CI", "flip rate", "TTM", "n"),
        *("warnings", *(f"published\n{what}" for what in (exponent, "flip rate", "TTM", "n"))),
    )
    body = tuple((*named(row, names, same), *_estimates(row), *_published(row)) for row in rows)
    legend = (
        f"{exponent}: slope of log D(t) over rounds {fitted(rows, source.chosen)}; CI: "
        f"{INTERVALS[source.chosen.interval]}; flip rate: share off the modal decision "
        "[Clopper-Pearson]; TTM: median first majority round [95 %]; n: completed/target",
        *of_wordings(rows),
        *notes(rows, FILES),
    )
    fixed = [n for n in FACTORS if n not in names]
    told_ = in_words(fixed, [rows[0].tracked.factors[n] for n in fixed])
    title = f"Table S5: {name} ({told_})"
    return of_cells(title, head, body, legend, len(names) + same)


def _estimates(row: Row) -> tuple[str, ...]:
    count = f"{row.n}/{row.tracked.target}"
    warned = "\n".join(row.warnings) or "-"
    if row.summary is None:
        return ("-", "-", "-", "-", count, warned)
    e, flips, majority = row.summary.lyapunov, row.summary.flip_rate, row.summary.time_to_majority
    return (
        row.status if pd.isna(e.value) else f"{e.value:.4f}",
        limits(e.ci_low, e.ci_high),
        f"{number(flips.value, 3)} {limits(flips.ci_low, flips.ci_high, 2)}",
        f"{number(majority.median, 0)} [{number(majority.ci_low, 0)}, "
        f"{number(majority.ci_high, 0)}]",
        count,
        warned,
    )


def _published(row: Row) -> tuple[str, ...]:
    found = told(row, FILES)
    return tuple(found[name] if found else "-" for name in _PUBLISHED)
