"""The committees' explorer, for programs whose runs report preferences by round."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plenum.base import UserError
from plenum.records import Transcript, Turn
from plenum.reports import COMMITTEE_EXPLORER, Explorer, Settings, gather_committees
from plenum.tracking import StoredTranscript, TrackedCondition
from plenum_audit.reports.drift import select_preferences
from plenum_audit.reports.gather import select_conditions as audited


@dataclass(frozen=True)
class _AsTurns(StoredTranscript):
    """A run's transcript whose messages are turns, with the preferences of its condition."""

    condition: TrackedCondition

    def read(self) -> Transcript | None:
        """Return the transcript; ``None`` if the journal doesn't verify."""
        transcript = super().read()
        if transcript is None:
            return None
        seats = [{"seat": seat, "label": seat, "mandate": False} for seat in self.condition.seats]
        turns = _turns(transcript, self.condition, self.replicate)
        return replace(transcript, head={**transcript.head, "seats": seats}, turns=turns)


def gather_programs(
    chosen: Settings,
    conditions: Sequence[TrackedCondition],
    kept: Mapping[str, Sequence[StoredTranscript]],
    most: int | None = None,
) -> dict[str, Any]:
    """Gather the page's data by id, as :func:`plenum.reports.explorer.gather.gather_committees`.

    Raises
    ------
    UserError
        No case has runs that report preferences in three rounds and differ.
    """
    candidates = [select_preferences(each) for each in audited(conditions, kept)]
    shown = [condition for condition in candidates if condition is not None]
    if not shown:
        raise UserError(
            "explorer: no runs report preferences in three rounds or more, and differ; "
            "audit.html has two runs of each case side by side"
        )
    shown = [
        replace(c, factors={**c.factors, "rounds": str(c.preferences.shape[1])}) for c in shown
    ]
    stored = {
        condition.run_id: [_as_turns(each, condition) for each in kept.get(condition.run_id, ())]
        for condition in shown
    }
    data = gather_committees(chosen, shown, stored, most)
    for at in range(len(shown)):
        for replicate in data[f"figures-{at}"]["replicates"]:
            replicate.pop("clerk", None)  # no clerk counts a program's votes
    return data


def _as_turns(stored: StoredTranscript, condition: TrackedCondition) -> _AsTurns:
    return _AsTurns(
        stored.run_id, stored.parent, stored.replicate, stored.status, stored.path, condition
    )


def _turns(transcript: Transcript, condition: TrackedCondition, run: int) -> tuple[Turn, ...]:
    """Return each seat's combined messages in a round, with its preferences."""
    if run not in condition.indices:
        return ()
    said: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
    confidence: dict[tuple[int, str], int] = {}
    for entry in transcript.entries:
        if entry["kind"] == "say" and entry.get("round") is not None:
            turn = int(entry["round"]), str(entry["seat"])
            said[turn].append(str(entry.get("text") or ""))
            confidence[turn] = int(entry.get("confidence") or 0)
    array = condition.preferences[condition.indices.index(run)]
    # Rounds are renumbered: without silent ones, and without those after the last preferences.
    numbers = sorted({number for number, _ in said})[: len(array)]
    return tuple(
        Turn(
            round=at + 1,
            seat=seat,
            argument="\n\n".join(said[number, seat]),
            pref=tuple(map(float, array[at, place])),
            conf=confidence.get((number, seat), 0),
            tags=(),
            repaired=False,
        )
        for at, number in enumerate(numbers)
        for place, seat in enumerate(condition.seats)
    )


EXPLORER = Explorer(gather_programs, COMMITTEE_EXPLORER.layout)
"""The explorer for studies of programs."""
