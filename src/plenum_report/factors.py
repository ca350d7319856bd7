"""Factors of a design: their levels, their crossing, and names of conditions by them."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import pandas as pd

from plenum.design import FACTORS
from plenum.reports import Column, Row, Table, join_items, list_varying_factors, provenance
from plenum.reports import join_names as first_names

_PROTOCOLS = {
    "deliberation": "deliberation",
    "no_feedback": "rounds without arguments",
    "one_shot": "a one-shot vote",
}


def levels(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return the levels of each varying factor in order of appearance."""
    return {
        name: list(dict.fromkeys(row.tracked.factors[name] for row in rows))
        for name in list_varying_factors(rows)
    }


def is_factorial(rows: Sequence[Row]) -> bool:
    """Return whether the design is a full factorial of the varying factors."""
    by_factor = levels(rows)
    if math.prod(map(len, by_factor.values())) > len(rows):
        return False
    combinations = {tuple(row.tracked.factors[name] for name in by_factor) for row in rows}
    return combinations == set(product(*by_factor.values()))


def table(rows: Sequence[Row]) -> Table:
    """Make a table with one line per factor: its levels, and the conditions at each."""
    return design([row.tracked.factors for row in rows], FACTORS, [provenance(rows)])


def design(
    conditions: Sequence[Mapping[str, str]], names: Iterable[str], notes: Sequence[str] = ()
) -> Table:
    """Make a table with one line per factor of some conditions, varying ones first."""
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
    counted = ("in parentheses: how many conditions have the level",) if len(conditions) > 1 else ()
    return Table("design", "The design", pd.DataFrame(lines), columns, (*counted, *notes))


def _levels(counts: Counter[str]) -> str:
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{level} ({n})" for level, n in counts.items())


class Names:
    """Names for the conditions of a study, by the factors in which they differ."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._varying = list_varying_factors(rows)
        pairs = {(r.tracked.factors["protocol"], r.tracked.factors["rounds"]) for r in rows}
        if "protocol" in self._varying and len(pairs) == len({protocol for protocol, _ in pairs}):
            self._varying = [name for name in self._varying if name != "rounds"]
        texts = [self._factors(row) for row in rows]
        self._twice = {text for text, times in Counter(texts).items() if times > 1}

    def __call__(self, row: Row) -> str:
        """Name a condition within a sentence: "HL-01 with roles on and model mixed"."""
        text = self._factors(row)
        if text not in self._twice:
            return text
        identity = row.tracked.identity
        return f"{text} ({identity})" if self._varying else f"condition {identity}"

    def at(self, row: Row) -> str:
        """Return a condition as a place: "in HL-01 with roles on"; empty for the only condition.

        It begins with a space, unless it is empty.
        """
        text = self(row)
        if not self._varying:
            return f" in {text}" if self._twice else ""
        return f" in {text}" if "scenario" in self._varying else f" with {text}"

    def each(self, rows: Iterable[Row]) -> list[str]:
        """Return the names of some conditions."""
        return [self(row) for row in rows]

    def several(self, rows: Iterable[Row], where: str = "") -> str:
        """Name conditions in a sentence; ``where`` tells the place of the rest of a long list."""
        return first_names(self.each(rows), where)

    def _factors(self, row: Row) -> str:
        values = row.tracked.factors
        varied = [n for n in FACTORS if n in self._varying and n != "scenario"]
        parts = [_PROTOCOLS.get(values[n], f"{n} {values[n]}") for n in varied]
        if "scenario" in self._varying:
            return f"{values['scenario']} with {join_items(parts)}" if parts else values["scenario"]
        return join_items(parts) or "the only condition"
