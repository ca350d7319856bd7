"""What the journal of a killed run holds when it is opened anew: each entry is given out once.

The n-th call with a prompt gets the n-th answer that is recorded for it, and a message that stands
there already isn't written again.
"""

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from plenum.base.identity import digest
from plenum.records import storage
from plenum.records.journal import MESSAGES, REFUSED

Entry = dict[str, Any]


class Recorded:
    """Answers and messages of a run that is played again.

    Parameters
    ----------
    entries
        Of its journal.

    Attributes
    ----------
    seats
        Those that called.
    rounds
        The numbers of the calls by seat, from 1 on.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        every = list(entries)
        self._answers = {(e["prompt"], e["occurrence"]): e for e in every if e["kind"] == "call"}
        self._refusals: defaultdict[tuple[str, int], deque[Entry]] = defaultdict(deque)
        for entry in every:
            if entry["kind"] == REFUSED:
                self._refusals[entry["prompt"], entry["occurrence"]].append(entry)
            elif entry["kind"] == "end":  # it is taken up again, and so is what failed
                self._refusals.clear()
        self._messages = Counter(digest(e) for e in every if e["kind"] in MESSAGES)
        self._moved = asyncio.Event()
        self.seats = {entry["seat"] for entry in self._answers.values()}
        self.rounds = Numbers(1)
        for entry in self._answers.values():
            self.rounds.take(entry["seat"], entry["round"])

    @property
    def answers(self) -> int:
        """Answers and refusals that the program hasn't asked for again."""
        return len(self._answers) + sum(map(len, self._refusals.values()))

    @property
    def left(self) -> int:
        """Answers and messages that the program hasn't come to again."""
        return self.answers + sum(self._messages.values())

    def refusal(self, prompt: str, occurrence: int) -> Entry | None:
        """The next failure of a call, once; ``None`` where there is none."""
        refusals = self._refusals.get((prompt, occurrence))
        return refusals.popleft() if refusals else None

    def answer(self, prompt: str, occurrence: int) -> Entry | None:
        """The entry of a call, once; ``None`` where there is none."""
        return self._answers.pop((prompt, occurrence), None)

    def holds(self, message: Entry) -> bool:
        """Whether a message stands in the journal already; each one there counts once."""
        key = digest(message)
        if not self._messages[key]:
            return False
        self._messages[key] -= 1
        return True

    def move(self) -> None:
        """Wake what waits for anything to happen."""
        self._moved.set()
        self._moved = asyncio.Event()

    async def moves(self, patience_s: float) -> None:
        """Wait for anything to happen; raises ``TimeoutError``."""
        await asyncio.wait_for(self._moved.wait(), patience_s)


class Numbers:
    """Numbers by name: each time the smallest that is free."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._taken: defaultdict[str, set[int]] = defaultdict(set)

    def next(self, name: str) -> int:
        taken, number = self._taken[name], self._first
        while number in taken:
            number += 1
        taken.add(number)
        return number

    def take(self, name: str, number: int) -> None:
        self._taken[name].add(number)

    def release(self, name: str, number: int) -> None:
        self._taken[name].discard(number)


def set_aside(path: Path) -> int:
    """Move the journal of a run that must start anew out of its way; how often that was done.

    What its answers cost stays counted: the file keeps its number.
    """
    times = restarts(path) + 1
    storage.set_aside(path, path.with_name(f"{path.stem}.diverged{times}.jsonl"))
    return times


def restarts(path: Path) -> int:
    """How often a run has started anew."""
    return len(list(path.parent.glob(f"{path.stem}.diverged*.jsonl")))
