"""The factors of a design: their levels, and whether they are crossed."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import pandas as pd

from plenum.design.factors import FACTORS
from plenum.reports.labels import provenance
from plenum.reports.rows import Row, varying_in
from plenum.reports.table import Column, Table


def levels(rows: Sequence[Row]) -> dict[str, list[str]]:
    """The levels of each factor that varies, in the order in which they occur."""
    return {
        name: list(dict.fromkeys(row.tracked.factors[name] for row in rows))
        for name in varying_in(rows)
    }


def fixed(rows: Sequence[Row]) -> dict[str, str]:
    """The factors that don't vary, and their level."""
    varying = varying_in(rows)
    return {name: rows[0].tracked.factors[name] for name in FACTORS if name not in varying}


def crossed(rows: Sequence[Row]) -> bool:
    """Whether every level of each factor that varies meets every level of all others."""
    own = levels(rows)
    if math.prod(map(len, own.values())) > len(rows):
        return False
    there = {tuple(row.tracked.factors[name] for name in own) for row in rows}
    return there == set(product(*own.values()))


def table(rows: Sequence[Row]) -> Table:
    """One line a factor: its levels, and how many conditions have each."""
    return design([row.tracked.factors for row in rows], FACTORS, [provenance(rows)])


def design(
    conditions: Sequence[Mapping[str, str]], names: Iterable[str], notes: Sequence[str] = ()
) -> Table:
    """One line a factor of some conditions, those that vary first."""
    lines = []
    for name in names:
        counts = Counter(factors.get(name, "") for factors in conditions)
        lines.append({"factor": name, "varies": len(counts) > 1, "levels": counts})
    lines.sort(key=lambda line: not line["varies"])
    columns = (
        Column("factor", key=True),
        Column("varies", "", lambda varies: "varied" if varies else "fixed"),
        Column("levels", format=_levels),
    )
    counted = ("in parentheses: how many conditions have the level",) * (len(conditions) > 1)
    return Table("design", "The design", pd.DataFrame(lines), columns, (*counted, *notes))


def _levels(counts: Counter[str]) -> str:
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{level} ({n})" for level, n in counts.items())
