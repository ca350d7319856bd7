"""A journal read back as a transcript: what one deliberation said and decided."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenum.base.identity import digest
from plenum.records.chain import DamagedJournal, verify_lines
from plenum.records.journal import NO_ANSWERS, drop_revoked

SIMULATED = "fp_simulated"
"""The system fingerprint of simulated answers, by which they can be recognised."""


@dataclass(frozen=True)
class Turn:
    """One agent's turn: its argument, the state it reported, and the reasoning behind them."""

    round: int
    seat: str
    argument: str
    pref: tuple[float, ...]
    conf: int
    tags: tuple[str, ...]
    repaired: bool
    reasoning: str = ""


@dataclass(frozen=True)
class Transcript:
    """Everything one deliberation said and decided.

    Attributes
    ----------
    head
        Condition, factors, options, seats in speaking order, replicate.
    turns
        The turns whose state was read, in order.
    ballots
        Decision by seat.
    end
        The closing entry; ``None`` while the replicate is pending.
    entries
        Every entry of the journal after the head.
    link
        The last link of the journal's chain, which names all that it holds.
    """

    head: dict[str, Any]
    turns: tuple[Turn, ...]
    ballots: dict[str, str]
    end: dict[str, Any] | None
    entries: tuple[dict[str, Any], ...]
    link: str = ""

    @property
    def status(self) -> str:
        """``completed``, ``failed`` or ``pending``."""
        return self.end["status"] if self.end else "pending"

    @property
    def reason(self) -> str | None:
        """The reason why it failed, if it did."""
        return self.end.get("reason") if self.end else None

    @property
    def decision(self) -> str | None:
        """The label that the tally chose, ``NONE`` without a majority."""
        return self.end.get("decision") if self.end else None

    @property
    def begun_again(self) -> bool:
        """True if it was begun more than once: after a kill, a stop, a failure, or by itself."""
        again = any(e["kind"] == "reopen" and "environment" not in e for e in self.entries)
        return again or bool(self.end and self.end.get("restarts"))

    @property
    def options(self) -> tuple[str, ...]:
        """The option labels."""
        return tuple(self.head["options"])

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The entries of this replicate's own calls, without those that a branch inherited.

        Answers that were asked for again are among them, since they were paid for.
        """
        return [
            entry
            for entry in self.entries
            if entry["kind"] not in NO_ANSWERS and "inherited" not in entry
        ]

    @property
    def asked_again(self) -> bool:
        """True if unreadable answers were asked for again."""
        return any(entry.get("again") for entry in self.entries)

    def preferences(self) -> NDArray[np.float64]:
        """Return the preferences of every seat in every whole round.

        Returns
        -------
        array, shape (rounds, seats, options)
            Seats in speaking order; each row lies on the simplex.
        """
        return self._per_round([turn.pref for turn in self.turns], len(self.options))

    def confidences(self) -> NDArray[np.float64]:
        """Return every seat's confidence in every whole round, shape (rounds, seats), 0-100."""
        return self._per_round([(turn.conf,) for turn in self.turns], 1)[:, :, 0]

    def votes(self) -> list[int]:
        """Return the index of the option that each seat voted for, shape (seats,); -1 for none."""
        places = {option: place for place, option in enumerate(self.options)}
        return [places.get(self.ballots.get(s["seat"], ""), -1) for s in self.head["seats"]]

    def totals(self) -> dict[str, float]:
        """Sum up tokens, cost in US dollars (NaN if a price isn't known), calls, repairs."""
        calls = self.calls
        return {
            "calls": len(calls),
            "tokens_in": sum(entry["tokens_in"] for entry in calls),
            "tokens_out": sum(entry["tokens_out"] for entry in calls),
            "cost": sum(np.nan if entry["cost"] is None else entry["cost"] for entry in calls),
            "repairs": sum(entry["kind"].endswith("_repair") for entry in calls),
        }

    def _per_round(self, values: list[Any], width: int) -> NDArray[np.float64]:
        seats = len(self.head["seats"])
        # Whole rounds alone: a kill or a failure may leave the last one without some seats.
        rounds = len(values) // seats
        flat = np.asarray(values[: rounds * seats], dtype=float)
        return flat.reshape(rounds, seats, width)


def read_transcript(path: Path) -> Transcript:
    """Read and verify a journal.

    Raises
    ------
    DamagedJournal
        A line doesn't verify, or there is no head.
    """
    entries, _, link = verify_lines(path, path.read_bytes())
    if not entries or entries[0].get("kind") != "head":
        raise DamagedJournal(f"journal {path}: it has no head")
    return _assemble(entries[0], entries[1:], link)


def read_head(path: Path) -> dict[str, Any]:
    """Read the first line of a journal, which says its condition; empty if it can't be read."""
    with suppress(DamagedJournal, OSError), path.open("rb") as lines:
        for head in verify_lines(path, lines.readline())[0]:
            return dict(head)
    return {}


def _assemble(head: dict[str, Any], entries: list[dict[str, Any]], link: str) -> Transcript:
    turns: list[Turn] = []
    ballots: dict[str, str] = {}
    argument = reasoning = ""
    for entry in drop_revoked(entries):
        if "argument" in entry:  # a new turn; a repair brings its state alone
            argument, reasoning = entry["argument"], ""
        reasoning = "\n".join(filter(None, (reasoning, entry.get("reasoning"))))
        if "state" in entry and entry["kind"] != "round":
            turns.append(
                Turn(
                    round=entry["round"],
                    seat=entry["seat"],
                    argument=argument,
                    pref=tuple(entry["state"]["pref"]),
                    conf=entry["state"]["conf"],
                    tags=tuple(entry["state"]["tags"]),
                    repaired=entry["kind"] == "turn_repair",
                    reasoning=reasoning,
                )
            )
        if "ballot" in entry:
            ballots[entry["seat"]] = entry["ballot"]["decision"]
    end = entries[-1] if entries and entries[-1]["kind"] == "end" else None
    return Transcript(head, tuple(turns), ballots, end, tuple(entries), link)


WHO = ("answered_by", "host", "fingerprint", "day")
"""Fields of an answer's entry that say who answered, as the provider does, and on which day."""


def list_answerers(transcript: Transcript) -> dict[str, str]:
    """List who answered a replicate, as far as it is known, and on which day.

    Several are joined by ``+``, in the order of their names.
    """
    met = {name: sorted({e[name] for e in transcript.calls if name in e}) for name in WHO}
    return {name: "+".join(names) for name, names in met.items() if names}


def collect_environments(transcripts: Sequence[Transcript]) -> dict[str, dict[str, Any]]:
    """Collect the environments that journals name, by digest, in order of first mention.

    A journal names the environment in which it was begun, and each other one it continued in.
    """
    named = [e.get("environment") for t in transcripts for e in (t.head, *t.entries)]
    return {digest(environment): dict(environment) for environment in named if environment}
