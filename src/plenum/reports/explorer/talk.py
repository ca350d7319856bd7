"""Transcripts as the page holds them: every text once, turns as short lists."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from plenum.records import Transcript

REPAIRED, INHERITED, UNREAD = 1, 2, 4
"""Flags of a turn: its state came after a repair, it was copied from a base, it wasn't read."""


@dataclass
class Talk:
    """The transcripts of a condition, gathered one by one.

    Attributes
    ----------
    texts
        Every distinct text.
    replicates
        Turns by replicate: round, seat (its number in speaking order), text (its number), flags,
        preferences, confidence, tags. A turn that couldn't be read ends after its flags.
    """

    texts: list[str] = field(default_factory=list)
    replicates: dict[int, list[list[Any]]] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict, repr=False)

    def add(self, replicate: int, transcript: Transcript, seats: Sequence[str]) -> None:
        """Take in the turns of a replicate, the one that broke it off among them."""
        place = {seat: number for number, seat in enumerate(seats)}
        inherited = _inherited(transcript)
        turns: list[list[Any]] = []
        for number, turn in enumerate(transcript.turns):
            flags = REPAIRED * turn.repaired + INHERITED * (number < inherited)
            preferences = [round(share, 4) for share in turn.pref]
            text = self._number(turn.argument)
            told = [preferences, turn.conf, [self._number(tag) for tag in turn.tags]]
            turns.append([turn.round, place[turn.seat], text, flags, *told])
        unread = _unread(transcript)
        if unread is not None and unread["seat"] in place:
            text = self._number(str(unread.get("text", "")))
            turns.append([unread["round"], place[unread["seat"]], text, UNREAD])
        self.replicates[replicate] = turns

    def packed(self) -> dict[str, Any]:
        """What the page reads."""
        return {"texts": self.texts, "replicates": self.replicates}

    def _number(self, text: str) -> int:
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._numbers[text]


def _inherited(transcript: Transcript) -> int:
    """How many turns were copied from the base of a branch."""
    return sum("state" in e and "inherited" in e for e in transcript.entries)


def _unread(transcript: Transcript) -> dict[str, Any] | None:
    """The answer to a turn that ended a replicate, where it was one."""
    if transcript.status != "failed":
        return None
    answers = [e for e in transcript.entries if e["kind"] in ("turn", "turn_repair")]
    return answers[-1] if answers and "state" not in answers[-1] else None
