"""How a simulated agent weighs what it may do in a world: what the worlds' own rules work with."""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Weights = tuple[float, float, float]


@dataclass(frozen=True)
class Proposal:
    """What another agent proposed in this round."""

    name: str
    action: Any


@dataclass(frozen=True)
class Duty:
    """What an agent is asked for: read out of its prompt."""

    name: str
    key: str
    speaks: bool
    assigns: bool
    binds: bool
    units: int
    brief: str
    known: str
    proposals: tuple[Proposal, ...]


@dataclass(frozen=True)
class Preferences:
    """What makes up an agent's mind beside the facts.

    Attributes
    ----------
    weights
        Of the features of a candidate, by the agent's brief.
    proposals
        What others propose.
    pull
        How much their proposals attract; below 0 they repel.
    kick
        Scale of the noise on what is weighed.
    slips
        Probability of picking a candidate at random.
    rng
        Draws both.
    """

    weights: Weights
    proposals: Sequence[Proposal]
    pull: float
    kick: float
    slips: float
    rng: np.random.Generator

    def best(self, values: Sequence[float]) -> int:
        """The place of the best candidate, but for noise and slips."""
        noisy = np.asarray(values) + self.kick * self.rng.normal(size=len(values))
        if self.rng.random() < self.slips:
            return int(self.rng.integers(len(values)))
        return int(np.argmax(noisy))

    def pulls(self, candidates: Sequence[Any], named: Sequence[Any]) -> list[float]:
        """What the others' proposals add to each candidate's value; ``named`` are what they name.

        Each candidate gets the pull times the share of the other agents that name it.
        """
        votes, others = Counter(named), max(len(self.proposals), 1)
        return [self.pull * votes[candidate] / others for candidate in candidates]


@dataclass(frozen=True)
class Acting:
    """What a simulated agent does in one world.

    Attributes
    ----------
    phrase
        Stands in what is known of this world, and of no other one.
    traits
        The weights of an agent by a phrase of its brief.
    choose
        The action of an agent with a duty and its preferences.
    """

    phrase: str
    traits: Mapping[str, Weights]
    choose: Callable[[Duty, Preferences], Any]

    def weights(self, brief: str) -> Weights:
        """The weights that a brief stands for; drawn from its digest where it has no phrase."""
        for phrase, weights in self.traits.items():
            if phrase in " ".join(brief.split()):
                return weights
        data = hashlib.blake2b(brief.encode(), digest_size=3).digest()
        first, second, third = (byte / 255 for byte in data)
        return 1.0 + first * (2.0 if brief else 0.0), second, third - 0.5
