"""Conditions split by who answered: by model, host or fingerprint, as if it were a factor."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from plenum.base.errors import UserError
from plenum.design.factors import USUAL
from plenum.tracking.conditions import TrackedCondition

_BY_REPLICATE = ("decisions", "indices", "variants", "families", "repetitions", "said")


def split_conditions(tracked: Sequence[TrackedCondition], by: str) -> list[TrackedCondition]:
    """Split each condition into one for each that answered its completed replicates.

    Who answered stands among its settings. Nobody drew it, so that what differs between the parts
    may also come of when they were played.

    Raises
    ------
    UserError
        No completed replicate says who answered it.
    """
    if not any(condition.answerers.get(by) for condition in tracked):
        raise UserError(f"split: {by}; no journal of this study says it")
    return [part for condition in tracked for part in _split(condition, by)]


def _split(condition: TrackedCondition, by: str) -> Iterator[TrackedCondition]:
    answerers = condition.answerers.get(by, ())
    if condition.after_round or not any(answerers):  # branches share their bases
        yield condition
        return
    for name in sorted(set(answerers)):
        rows = [row for row, each in enumerate(answerers) if each == name]
        parts: dict[str, Any] = {}
        for field in _BY_REPLICATE:
            values = getattr(condition, field)
            parts[field] = tuple(values[row] for row in rows) if values else ()
        settings = condition.factors["settings"]
        known = "" if settings == USUAL["settings"] else f"{settings} "
        yield replace(
            condition,
            **parts,
            factors={**condition.factors, "settings": f"{known}{by}={name or 'unknown'}"},
            cell=f"{condition.cell} {name}",
            preferences=condition.preferences[rows],
            votes=condition.votes[rows] if condition.votes.size else condition.votes,
            answerers={},
            tally={},
            failures={},
            target=len(rows),
            completed=len(rows),
        )
