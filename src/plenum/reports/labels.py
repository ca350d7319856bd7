"""Conditions in words: the factors that distinguish them, and the source of their numbers."""

from collections.abc import Iterable, Mapping, Sequence

from plenum.design.condition_names import shorten_settings
from plenum.design.factors import list_unusual
from plenum.design.kinds import find_kind
from plenum.reports.rows import Row, list_shown_factors
from plenum.show.table import Column, make_keys
from plenum.tracking.conditions import TrackedCondition


def label(factors: Mapping[str, str], names: Iterable[str]) -> str:
    """Name a condition by some factors, as in ``roles=on, model=mixed``, without usual values."""
    return ", ".join(f"{name}={factors[name]}" for name in list_unusual(names, factors))


def label_shared(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Name the factors and settings that all conditions share, without the factors shown."""
    factors = rows[0].tracked.factors
    unshown = label(factors, [n for n in find_kind(factors).distinct_factors if n not in names])
    own = _shorten(rows)[factors["settings"]].split(" ")
    alike = [word for word in factors["settings"].split(" ") if word not in own]
    return ", ".join(filter(None, [unshown, *(alike if "settings" in names else ())]))


def condition_keys(rows: Sequence[Row], names: Sequence[str] = ()) -> tuple[Column, ...]:
    """Make the columns that name conditions: the shown factors, and the identity if needed."""
    names = names or list_shown_factors(rows)
    same = len({tuple(row.tracked.factors.get(n) for n in names) for row in rows}) < len(rows)
    short = _shorten(rows)
    # A line of totals has none.
    own = Column("settings", format=lambda value: short.get(value, str(value)), key=True)
    shown = make_keys([*names, "condition"] if same else names)
    return tuple(own if column.name == "settings" else column for column in shown)


def _shorten(rows: Sequence[Row]) -> dict[str, str]:
    """Shorten the settings of conditions to those that differ."""
    settings = [row.tracked.factors["settings"] for row in rows]
    return dict(zip(settings, shorten_settings(settings), strict=True))


def describe_provenance(rows: Sequence[Row]) -> str:
    """Describe the source of the numbers in some rows; see :func:`origin`."""
    return origin([row.tracked for row in rows])


def origin(conditions: Sequence[TrackedCondition]) -> str:
    """Describe the source of numbers: the backends, and whether they are evidence of anything."""
    backends = sorted({condition.factors["backend"] for condition in conditions})
    parts = [f"backend: {', '.join(backends) or 'none'}", disclose_source(conditions)]
    if published := sorted({c.published for c in conditions if c.published}):
        parts.append(
            f"runs of the papers' authors, made there and read from {', '.join(published)}"
        )
    return "; ".join(filter(None, parts))


def disclose_source(conditions: Sequence[TrackedCondition]) -> str:
    """Say of which language models numbers are no evidence; empty where a real model answered."""
    parts = []
    if any(c.simulated or c.factors["backend"] == "simulated" for c in conditions):
        parts.append("simulated agents, no evidence about language models")
    if any(condition.tiny for condition in conditions):
        parts.append("the tiny model shows that the hosted path works and stands for no real model")
    return "; ".join(parts)
