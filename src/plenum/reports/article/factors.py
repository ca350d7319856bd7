"""The factors of a design: their levels, and whether they are crossed."""

import math
from collections.abc import Sequence
from itertools import product

from plenum.reports.rows import FACTORS, Row, varying_in
from plenum.reports.sheets import Sheet, of_cells, provenance


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


def table(rows: Sequence[Row]) -> Sheet:
    """One line a factor: its levels, and how many conditions have each."""
    body = []
    for name in FACTORS:
        found = [row.tracked.factors[name] for row in rows]
        own = list(dict.fromkeys(found))
        told = ", ".join(
            f"{level} ({found.count(level)})" if len(own) > 1 else level for level in own
        )
        body.append((name, "varied" if len(own) > 1 else "fixed", told))
    body.sort(key=lambda line: line[1] == "fixed")
    counted = ("in parentheses: how many conditions have the level",) * (len(rows) > 1)
    notes = (*counted, provenance(rows))
    head = ("factor", "", "levels")
    return of_cells("The design", head, tuple(body), notes)
