"""Conditions in words: the factors that tell them apart, and where their numbers come from."""

from collections.abc import Iterable, Mapping, Sequence

from plenum.design.factors import unusual
from plenum.design.kinds import of_condition
from plenum.reports.rows import Row, shown
from plenum.reports.table import Column, keys
from plenum.tracking.conditions import TrackedCondition


def label(factors: Mapping[str, str], names: Iterable[str]) -> str:
    """A condition by some factors, as in ``roles=on, model=mixed``; what is usual is left out."""
    return ", ".join(f"{name}={factors[name]}" for name in unusual(names, factors))


def shared_label(factors: Mapping[str, str], names: Sequence[str]) -> str:
    """Factors that a condition shares with others of a study, by the names that aren't shown."""
    return label(factors, [n for n in of_condition(factors).distinct_factors if n not in names])


def condition_keys(rows: Sequence[Row]) -> tuple[Column, ...]:
    """The columns that name conditions: the factors to show, and what differs in a text alone."""
    names, same = shown(rows)
    return keys([*names, *["condition"] * same])


def provenance(rows: Sequence[Row]) -> str:
    """Where the numbers of some rows come from: see :func:`origin`."""
    return origin([row.tracked for row in rows])


def origin(conditions: Sequence[TrackedCondition]) -> str:
    """Where the numbers come from: the backends, and whether these are evidence of anything."""
    backends = sorted({condition.factors["backend"] for condition in conditions})
    line = f"backend: {', '.join(backends) or 'none'}"
    if any(condition.simulated for condition in conditions) or "simulated" in backends:
        line += "; simulated agents, no evidence about language models"
    if any(condition.tiny for condition in conditions):
        line += "; the tiny model shows that the hosted path works and stands for no real model"
    if published := sorted({c.published for c in conditions if c.published}):
        line += f"; runs of the papers' authors, made there and read from {', '.join(published)}"
    return line
