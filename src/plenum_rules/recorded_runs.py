"""The recorded deliberations of a study, as arrays: states, ballots, decisions and tokens."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from plenum.records.transcript import Transcript
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.study import Study
from plenum_rules.aggregation import NONE, Floats, LastWords, Options, find_sole_top

UNKNOWN = -2
"""The index that stands for a clerk who wasn't asked, or couldn't be read."""


@dataclass(frozen=True)
class RecordedRuns:
    """The completed runs of one condition.

    Attributes
    ----------
    condition
        As the tracking store has it.
    seats
        Names of the seats in speaking order.
    preferences, confidences
        Of every round, shapes (runs, rounds, seats, options) and (runs, rounds, seats).
    votes
        The ballots' options, shape (runs, seats).
    decided, clerk
        What the runs decided, and what the clerk said, shape (runs,).
    turn_tokens, last_tokens
        Tokens of prompts and answers by round, shape (runs, rounds), and of ballots and clerk,
        shape (runs,).
    """

    condition: TrackedCondition
    seats: tuple[str, ...]
    preferences: Floats
    confidences: Floats
    votes: Options
    decided: Options
    clerk: Options
    turn_tokens: Floats
    last_tokens: Floats

    @property
    def options(self) -> int:
        """The number of options."""
        return int(self.preferences.shape[-1])

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return int(self.preferences.shape[1])

    @property
    def last(self) -> LastWords:
        """The states of the last round, and the ballots."""
        return LastWords(self.votes, self.preferences[:, -1], self.confidences[:, -1])

    def after(self, stopped: Options) -> LastWords:
        """Return the states after a round of each run; the tops of states stand for ballots.

        Parameters
        ----------
        stopped
            The round of each run, from 1, shape (runs,).
        """
        runs = np.arange(len(self.decided))
        preferences = self.preferences[runs, stopped - 1]
        votes = find_sole_top(preferences)
        # A run that went to its last round had its ballots.
        votes = np.where((stopped == self.rounds)[:, None], self.votes, votes)
        return LastWords(votes, preferences, self.confidences[runs, stopped - 1])

    def spend(self, stopped: Options) -> Floats:
        """Return the share of its tokens that each run had used if it had stopped after a round.

        Ballots and clerk are counted as they were; without tokens, rounds stand for them.
        """
        runs = np.arange(len(self.decided))
        used = self.turn_tokens.cumsum(axis=1)[runs, stopped - 1] + self.last_tokens
        every = self.turn_tokens.sum(axis=1) + self.last_tokens
        return np.where(every > 0, used / np.maximum(every, 1), stopped / self.rounds)


def read_recorded(study: Study) -> Iterator[RecordedRuns]:
    """Read the conditions of a study of committees whose runs ended, one after the other.

    Branches are left out, since they share their first rounds, and so are conditions with fewer
    than three completed runs.
    """
    for condition in study.listed:
        if condition.after_round:
            continue
        with study.transcripts([condition.run_id]) as transcripts:
            read = [stored.verify() for stored in transcripts.get(condition.run_id, ())]
        ended = [t for t in read if t.status == "completed"]
        if len(ended) > 2:
            yield _read_recorded(condition, ended)


def _read_recorded(condition: TrackedCondition, ended: Sequence[Transcript]) -> RecordedRuns:
    first = ended[0]
    seats = tuple(seat["seat"] for seat in first.head["seats"])
    index = {label: number for number, label in enumerate(first.options)}
    preferences = np.stack([t.preferences() for t in ended])
    tokens = [_tokens(transcript, preferences.shape[1]) for transcript in ended]
    return RecordedRuns(
        condition=condition,
        seats=seats,
        preferences=preferences,
        confidences=np.stack([t.confidences() for t in ended]),
        votes=np.array([t.votes() for t in ended]),
        decided=np.array([index.get(t.decision or "", NONE) for t in ended]),
        clerk=np.array([_clerk(t, index) for t in ended]),
        turn_tokens=np.stack([turns for turns, _ in tokens]),
        last_tokens=np.array([last for _, last in tokens]),
    )


def _clerk(transcript: Transcript, index: dict[str, int]) -> int:
    said = (transcript.end or {}).get("clerk")
    return UNKNOWN if said is None else index.get(said, NONE)


def _tokens(transcript: Transcript, rounds: int) -> tuple[Floats, float]:
    """Sum tokens up by round, and those of ballots and clerk."""
    turns, last = np.zeros(rounds), 0.0
    for entry in transcript.entries:
        used = entry.get("tokens_in", 0) + entry.get("tokens_out", 0)
        if entry["kind"] in ("ballot", "clerk"):
            last += used
        elif 1 <= entry.get("round", 0) <= rounds:
            turns[entry["round"] - 1] += used
    return turns, last
