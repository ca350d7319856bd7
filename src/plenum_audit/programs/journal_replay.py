"""Replay of a killed run's journal: each of its entries is used once.

The n-th call with a prompt gets its n-th recorded answer, and a message that is already recorded
isn't written again.
"""

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from plenum.base.identity import digest
from plenum.records.journal import MESSAGES, REFUSED

Entry = dict[str, Any]


class RecordedRun:
    """Recorded answers and messages of a run that is replayed.

    Parameters
    ----------
    entries
        Entries of its journal.

    Attributes
    ----------
    seats
        Seats that made calls.
    rounds
        Numbers of the calls by seat, from 1.
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
        """Number of answers and refusals that the program hasn't requested again."""
        return len(self._answers) + sum(map(len, self._refusals.values()))

    @property
    def left(self) -> int:
        """Number of answers and messages that the program hasn't repeated."""
        return self.answers + sum(self._messages.values())

    def refusal(self, prompt: str, occurrence: int) -> Entry | None:
        """Return and remove the next failure of a call; ``None`` if there is none."""
        refusals = self._refusals.get((prompt, occurrence))
        return refusals.popleft() if refusals else None

    def answer(self, prompt: str, occurrence: int) -> Entry | None:
        """Return and remove the entry of a call; ``None`` if there is none."""
        return self._answers.pop((prompt, occurrence), None)

    def holds(self, message: Entry) -> bool:
        """Return whether a message is recorded; each recorded one counts once."""
        key = digest(message)
        if not self._messages[key]:
            return False
        self._messages[key] -= 1
        return True

    def move(self) -> None:
        """Wake all that wait for activity."""
        self._moved.set()
        self._moved = asyncio.Event()

    async def moves(self, patience_s: float) -> None:
        """Wait for any activity; raises ``TimeoutError``."""
        await asyncio.wait_for(self._moved.wait(), patience_s)


class Numbers:
    """A dispenser of numbers by name: each time the smallest free one."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._taken: defaultdict[str, set[int]] = defaultdict(set)

    def next(self, name: str) -> int:
        """Take the smallest free number, and return it."""
        taken, number = self._taken[name], self._first
        while number in taken:
            number += 1
        taken.add(number)
        return number

    def take(self, name: str, number: int) -> None:
        """Mark a number as taken."""
        self._taken[name].add(number)

    def release(self, name: str, number: int) -> None:
        """Mark a number as free."""
        self._taken[name].discard(number)


def set_aside(path: Path) -> int:
    """Rename the journal of a run that must start anew; return how often that happened.

    The cost of its answers stays counted, since the file is kept.
    """
    times = count_restarts(path) + 1
    path.rename(path.with_name(f"{path.stem}.diverged{times}.jsonl"))
    return times


def count_restarts(path: Path) -> int:
    """Return how often a run has started anew."""
    return len(list(path.parent.glob(f"{path.stem}.diverged*.jsonl")))
