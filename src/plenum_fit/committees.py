"""The recorded committees of a condition as arrays, and the turns that they took."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Options = NDArray[np.int_]

NONE = -1
"""The index that stands for a decision for none of the options."""


@dataclass(frozen=True)
class Committees:
    """The runs of one condition.

    Attributes
    ----------
    scenario, roles, model
        The condition's factors.
    seats
        A key for each seat in speaking order: its name, its model and whether it has a mandate.
    preferences
        Of every round, shape (runs, rounds, seats, options), on the simplex.
    decided
        The option that more than half of the ballots are for, or ``NONE``, shape (runs,).
    """

    scenario: str
    roles: str
    model: str
    seats: tuple[str, ...]
    preferences: Floats
    decided: Options

    @property
    def design(self) -> tuple[str, str]:
        """The factors that it shares with committees of other scenarios."""
        return self.roles, self.model

    @property
    def name(self) -> str:
        """The condition in a few words."""
        return f"{self.scenario} {self.roles} {self.model}"

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return int(self.preferences.shape[1])

    def take(self, runs: Sequence[int] | Options) -> "Committees":
        """Return some of the runs, by index."""
        chosen = np.asarray(runs, int)
        return replace(self, preferences=self.preferences[chosen], decided=self.decided[chosen])


@dataclass(frozen=True)
class Turns:
    """Turns of seats of one key, after the first round.

    Attributes
    ----------
    before, after
        The seat's state before the turn and after it, shape (turns, options).
    peers
        What the others had stated last, shape (turns, seats - 1, options).
    first
        The seat's state of the first round, shape (turns, options).
    """

    before: Floats
    peers: Floats
    first: Floats
    after: Floats

    @property
    def steps(self) -> Floats:
        """The changes by the turns, shape (turns, options)."""
        return self.after - self.before


def name_seat(seat: str, model: str, mandate: bool) -> str:
    """Return the key under which a seat's turns are fitted."""
    return f"{seat} {model} {'mandate' if mandate else 'none'}"


def others(preferences: Floats, number: int, seat: int) -> Floats:
    """Return what the other seats had stated last when a seat spoke.

    Parameters
    ----------
    preferences
        Shape (runs, rounds, seats, options).
    number, seat
        The round, from 1 for the second one, and the seat.
    """
    spoken = preferences[:, number, :seat]
    return np.concatenate([spoken, preferences[:, number - 1, seat + 1 :]], axis=1)


def collect_turns(recorded: Sequence[Committees]) -> dict[str, Turns]:
    """Gather the turns of every key of a seat over several conditions."""
    parts: dict[str, list[tuple[Floats, Floats, Floats, Floats]]] = {}
    for committees in recorded:
        states = committees.preferences
        for seat, key in enumerate(committees.seats):
            for number in range(1, committees.rounds):
                parts.setdefault(key, []).append(
                    (
                        states[:, number - 1, seat],
                        others(states, number, seat),
                        states[:, 0, seat],
                        states[:, number, seat],
                    )
                )
    return {
        key: Turns(*map(np.concatenate, zip(*turns, strict=True))) for key, turns in parts.items()
    }


def find_majority(votes: Options, options: int) -> Options:
    """Find the option with more than half of the votes, or ``NONE``.

    Parameters
    ----------
    votes
        Shape (runs, seats).

    Returns
    -------
    array, shape (runs,)
    """
    counts = np.stack([(votes == option).sum(axis=1) for option in range(options)], axis=1)
    strict = 2 * counts > votes.shape[1]
    return np.where(strict.any(axis=1), strict.argmax(axis=1), NONE)
