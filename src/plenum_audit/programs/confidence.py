"""The confidence that a program states in a decision: its own, or that of its seats."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from plenum.records import ELICITED, Transcript


@dataclass(frozen=True)
class StatedConfidence:
    """A stated chance that a run's decision is right.

    Attributes
    ----------
    share
        From 0 to 1.
    by
        A few words on who stated it.
    """

    share: float
    by: str


def read_confidence(run: Transcript) -> StatedConfidence | None:
    """Return how sure a run was of its decision; ``None`` if it doesn't say.

    The confidence of the decision is taken; without it, the mean share of the decided option in
    the last preferences of each seat, reported or elicited; without these, the mean of the last
    confidences of its seats.

    Parameters
    ----------
    run
        A run that has ended.
    """
    end: Mapping[str, Any] = run.end or {}
    if end.get("confidence") is not None:
        return StatedConfidence(float(end["confidence"]) / 100, "the program, with its decision")
    decided = str(end.get("decision"))
    for kind in ("say", ELICITED):
        shares = [shares.get(decided) for shares in _last(run.entries, kind, "preferences")]
        if shares and None not in shares:
            how = "as they report them" if kind == "say" else "asked after the run"
            return StatedConfidence(fmean(map(float, shares)), f"its seats' preferences, {how}")
    levels = _last(run.entries, "say", "confidence")
    if levels:
        return StatedConfidence(fmean(map(float, levels)) / 100, "its seats, on average")
    return None


def _last(entries: Sequence[Mapping[str, Any]], kind: str, name: str) -> list[Any]:
    """Return the last value that each seat has of a field in entries of a kind."""
    by_seat = {e["seat"]: e[name] for e in entries if e["kind"] == kind and e.get(name) is not None}
    return list(by_seat.values())
