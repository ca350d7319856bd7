"""Candidate models of a committee: what they are made of, how they are fitted and played."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plenum_fit.committees import (
    Committees,
    Floats,
    Options,
    collect_turns,
    find_majority,
    others,
)
from plenum_fit.kernels import Kernel, fit_kernel, move

Kernels = Mapping[str, Kernel]
"""Kernels by the key of a seat."""


@dataclass(frozen=True)
class Candidate:
    """A model of how states change.

    Attributes
    ----------
    name, meaning
        Its name, and what it says in a few words.
    terms, jumps
        As :func:`plenum_fit.kernels.fit_kernel` takes them.
    own_scenario
        True if its parameters hold for the scenario alone in which they were fitted.
    """

    name: str
    meaning: str
    terms: tuple[str, ...] = ()
    jumps: bool = False
    own_scenario: bool = False


CANDIDATES: tuple[Candidate, ...] = (
    Candidate("walk", "seats stay or wander"),
    Candidate("jumps", "walk, and jumps, more often to where others are", jumps=True),
    Candidate("peers", "pull of the others' mean (DeGroot)", ("peers",)),
    Candidate("stubborn", "peers, and the first state (Friedkin, Johnsen)", ("peers", "first")),
    Candidate("bounded", "stubborn, peers within 0.3 alone", ("near", "first")),
    Candidate("anchors", "peers, and hidden anchors", ("peers", "anchor"), own_scenario=True),
    Candidate("firming", "peers, and certainty of one's own top", ("peers", "own")),
    Candidate("polarising", "firming, and of the committee's top", ("peers", "own", "group")),
    Candidate("polarising_jumps", "polarising, with jumps", ("peers", "own", "group"), jumps=True),
    Candidate(
        "polarising_anchors",
        "polarising, with hidden anchors",
        ("peers", "anchor", "own", "group"),
        own_scenario=True,
    ),
)
"""Candidates in the order in which tables list them."""


def fit_kernels(recorded: Sequence[Committees], candidate: Candidate) -> dict[str, Kernel]:
    """Fit a candidate to the turns of recorded committees, by the key of a seat."""
    turns = collect_turns(recorded)
    return {key: fit_kernel(each, candidate.terms, candidate.jumps) for key, each in turns.items()}


def simulate(
    kernels: Kernels,
    seats: Sequence[str],
    first: Floats,
    rounds: int,
    generator: np.random.Generator,
) -> Floats:
    """Play committees on from their first rounds.

    Parameters
    ----------
    kernels
        Of each seat's key.
    seats
        Keys in speaking order.
    first
        The states of the first round, shape (runs, seats, options).
    rounds
        How many there are to be, the first included.

    Returns
    -------
    array, shape (runs, rounds, seats, options)
    """
    states = np.empty((len(first), rounds, *first.shape[1:]))
    states[:, 0] = first
    for number in range(1, rounds):
        for seat, key in enumerate(seats):
            own, began = states[:, number - 1, seat], states[:, 0, seat]
            peers = others(states, number, seat)
            states[:, number, seat] = move(kernels[key], own, peers, began, generator)
    return states


def decide(states: Floats, generator: np.random.Generator) -> Options:
    """Vote for the top of each last state, ties by lot, and count the majority.

    Returns
    -------
    array, shape (runs,)
        ``NONE`` where no option has more than half of the votes.
    """
    last = states[:, -1]
    tied = last >= last.max(axis=-1, keepdims=True) - 1e-9
    votes = (tied * (1 + generator.random(last.shape))).argmax(axis=-1)
    return find_majority(votes, last.shape[-1])
