"""What plenum knows of a world: each world's package holds one value of :class:`WorldDefinition`.

Whoever needs something that depends on the world looks it up there; no code outside of a world's
package names it.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plenum_worlds.scene import Scene
from plenum_worlds.world import Policy, Round, World

Weights = tuple[float, float, float]


@dataclass(frozen=True)
class Proposal:
    """What another agent proposed in this round."""

    name: str
    action: Any


@dataclass(frozen=True)
class Duty:
    """What an agent is asked for: read out of its prompt. ``form`` has the keys of its answer."""

    name: str
    key: str
    form: tuple[str, ...]
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


@dataclass(frozen=True)
class Display:
    """How tables and figures show a world: plain data.

    Attributes
    ----------
    metrics
        The metrics that tables show; the first is the one that arms are compared in.
    headline
        The metric that a sweep's lines show.
    performance, deviation
        Labels of the axes of performance and of the deviation of proposals.
    shock
        The event that counts as a shock.
    lower_is_better
        Whether less of the first metric is better.
    ends_early
        Whether runs may end before their planned rounds; they then keep their last performance.
    gaps
        What a figure of performance by round says of rounds without a value.
    shock_note
        What a table of recovery adds on shocks that depend on what agents do.
    ranges
        Between which values a metric lies; intervals are drawn within.
    """

    metrics: tuple[str, ...]
    headline: str
    performance: str
    deviation: str
    shock: str
    lower_is_better: bool = False
    ends_early: bool = False
    gaps: str = ""
    shock_note: str = ""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class WorldDefinition:
    """A world with all that belongs to it.

    Attributes
    ----------
    world
        The class of its state machine, made of the number of agents and the settings.
    settings
        The class of its settings: its fields are the keys that can be set.
    agent_name
        What the others call an agent, before its number.
    policies
        The scripted reference policies by name.
    acting
        How simulated agents act in it.
    display
        How tables and figures show it.
    scene
        Draws a run for the explorer: from the world, the records of its rounds and the names of
        its units to a :class:`plenum_worlds.scene.Scene`. A world may have none.
    endless
        Settings under which no episode ends before its planned rounds.
    data
        A digest of the data that its texts are made of, where it has any.
    """

    world: type[World[Any, Any]]
    settings: type[Any]
    agent_name: str
    policies: Mapping[str, Policy]
    acting: Acting
    display: Display
    scene: Callable[[Any, Sequence[Round], Sequence[str]], Scene] | None = None
    endless: Mapping[str, Any] = field(default_factory=dict)
    data: str = ""
