"""The design in words, for a Methods section: the levels' meanings, and the seats as they speak."""

import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pandas as pd

from plenum.base.errors import UserError
from plenum.design.factors import FACTORS
from plenum.reports.rows import Row
from plenum.show.formats import format_count
from plenum.show.phrases import render
from plenum.show.table import Column, Table
from plenum.tracking.provenance import Provenance, rebuild_condition
from plenum.tracking.study import Study

_EXPLAINED = ("scenario", "roles", "protocol")
"""Factors whose levels are explained from the condition itself."""

_BESIDE = 4
"""The largest number of models' levels with a column each in the table of seats."""

_BEGINNING = 90
"""Letters of a mandate that are shown."""


def rebuild_conditions(study: Study, rows: Sequence[Row]) -> dict[str, Any]:
    """Rebuild a condition of each level that is explained, by its run.

    Those that today's texts would make another condition are left out.
    """
    wanted = {
        row.tracked.run_id
        for factor in _EXPLAINED
        for row in {row.tracked.factors[factor]: row for row in reversed(rows)}.values()
    }
    rebuilt = {}
    for run in study.condition_runs:
        if run.info.run_id in wanted:
            with suppress(UserError):
                rebuilt[run.info.run_id] = rebuild_condition(study.client, run)
    return rebuilt


def tabulate_levels(
    conditions: Sequence[Mapping[str, str]],
    names: Iterable[str],
    explain: Callable[[str, str], str] = lambda factor, level: "",
) -> Table:
    """Make the table of a design: a line for each level of a factor, varying factors first."""
    counts = {name: Counter(factors.get(name, "") for factors in conditions) for name in names}
    lines = [
        {"factor": name, "level": level, "conditions": number, "meaning": explain(name, level)}
        for name, levels in sorted(counts.items(), key=lambda item: len(item[1]) == 1)
        for level, number in levels.items()
    ]
    columns = [Column("factor", key=True), Column("level", key=True)]
    columns += [Column("conditions", format=format_count)]
    columns += [Column("meaning")] if any(line["meaning"] for line in lines) else []
    return Table("design", "The design", pd.DataFrame(lines), tuple(columns))


def tabulate_design(
    rows: Sequence[Row], origins: Mapping[str, Provenance], rebuilt: Mapping[str, Any]
) -> Table:
    """Make the table of a committees' design, with what each level means."""
    at: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        for level in row.tracked.factors.items():
            at[level].append(row.tracked.run_id)

    def explain(factor: str, level: str) -> str:
        runs = at[factor, level]
        known = {
            "condition": next((rebuilt[run] for run in runs if run in rebuilt), None),
            "origin": next((origins[run] for run in runs if run in origins), None),
        }
        return " ".join(
            render("plenum.reports.page/levels.j2", "meaning", factor=factor, level=level, **known)
        )

    return tabulate_levels([row.tracked.factors for row in rows], FACTORS, explain)


def tabulate_seats(
    rows: Sequence[Row], origins: Mapping[str, Provenance], committee: Any | None
) -> list[Table]:
    """Make the table of the seats in speaking order: their models, and how mandates begin.

    Parameters
    ----------
    committee
        The condition that is shown; without one the first that is known, without mandates.
    """
    known = [(row.tracked.factors["model"], origins[row.tracked.run_id].models)
             for row in rows if row.tracked.run_id in origins]  # fmt: skip
    known = [(level, models) for level, models in known if models]
    if not known:
        return []
    mandates = {seat.name: seat.mandate for seat in committee.seats} if committee else {}
    order = [s.name for s in committee.speaking_order] if committee else [s for s, _ in known[0][1]]
    by_level = {level: dict(models) for level, models in reversed(known)}
    levels = list(dict.fromkeys(level for level, _ in known))
    if len(levels) > _BESIDE:  # one model in every seat is said by the table of the design
        levels = [level for level in levels if len(set(by_level[level].values())) > 1]
    lines = [
        {
            "turn": turn,
            "seat": seat,
            **{f"model {level}": by_level[level].get(seat, "") for level in levels},
            "mandate": textwrap.shorten(mandates.get(seat, ""), _BEGINNING, placeholder=" …"),
        }
        for turn, seat in enumerate(order, start=1)
    ]
    columns = [Column("turn", key=True), Column("seat", key=True)]
    columns += [Column(f"model {n}", "model" if len(by_level) == 1 else None) for n in levels]
    columns += [Column("mandate", "mandate begins")] if any(mandates.values()) else []
    return [Table("seats", "The seats in speaking order", pd.DataFrame(lines), tuple(columns))]


def list_orders(rows: Sequence[Row], origins: Mapping[str, Provenance]) -> list[str]:
    """List the speaking orders where the same seats have several, each with a scenario and seed."""
    orders: dict[tuple[str, ...], str] = {}
    for row in rows:
        origin, factors = origins.get(row.tracked.run_id), row.tracked.factors
        if origin and origin.models:
            seats = tuple(seat for seat, _ in origin.models)
            orders.setdefault(seats, f"{factors['scenario']}, seed {factors['seed']}")
    if len(orders) == len({frozenset(seats) for seats in orders}):
        return []
    return [f"{', '.join(seats)} ({place})" for seats, place in orders.items()]
