"""Definitions of worlds: each world's package holds one :class:`WorldDefinition`.

All code that depends on the world looks it up there; none outside the world's package names it.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from plenum.base.yaml_files import read_yaml
from plenum_worlds.scene import RunScene
from plenum_worlds.world import Policy, Round, World

Weights = tuple[float, float, float]


@dataclass(frozen=True)
class Proposal:
    """Another agent's proposal in this round."""

    name: str
    action: Any


@dataclass(frozen=True)
class Duty:
    """A request to an agent, read from its prompt. ``form`` has the keys of its answer."""

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
    """An agent's preferences, apart from the facts.

    Attributes
    ----------
    weights
        Weights of a candidate's features, by the agent's brief.
    proposals
        Proposals of others.
    pull
        Strength with which others' proposals attract, or if negative repel.
    kick
        Scale of the noise on the candidates' values.
    slips
        Probability of picking a candidate at random.
    rng
        Source of both kinds of randomness.
    """

    weights: Weights
    proposals: Sequence[Proposal]
    pull: float
    kick: float
    slips: float
    rng: np.random.Generator

    def best(self, values: Sequence[float]) -> int:
        """Return the place of the best candidate, apart from noise and slips."""
        noisy = np.asarray(values) + self.kick * self.rng.normal(size=len(values))
        if self.rng.random() < self.slips:
            return int(self.rng.integers(len(values)))
        return int(np.argmax(noisy))

    def pulls(self, candidates: Sequence[Any], named: Sequence[Any]) -> list[float]:
        """Return what others' proposals add to each candidate's value.

        ``named`` are the candidates that they propose. Each gets the pull times the share of other
        agents that name it.
        """
        votes, others = Counter(named), max(len(self.proposals), 1)
        return [self.pull * votes[candidate] / others for candidate in candidates]


def read_traits(agents: str) -> dict[str, Weights]:
    """Read the traits of a world's agents from the file beside the module that defines them."""
    read = read_yaml(Path(agents).with_name("traits.yaml"), "traits")
    return {phrase: (first, second, third) for phrase, (first, second, third) in read.items()}


@dataclass(frozen=True)
class Behaviour:
    """The behaviour of simulated agents in one world.

    Attributes
    ----------
    phrase
        A text that occurs in the known facts of this world and of no other one.
    traits
        Weights of an agent by a phrase of its brief.
    choose
        Returns the action of an agent with a duty and preferences.
    """

    phrase: str
    traits: Mapping[str, Weights]
    choose: Callable[[Duty, Preferences], Any]

    def weights(self, brief: str) -> Weights:
        """Return the weights for a brief; without a known phrase they come from its digest."""
        for phrase, weights in self.traits.items():
            if phrase in " ".join(brief.split()):
                return weights
        data = hashlib.blake2b(brief.encode(), digest_size=3).digest()
        first, second, third = (byte / 255 for byte in data)
        return 1.0 + first * (2.0 if brief else 0.0), second, third - 0.5


@dataclass(frozen=True)
class Display:
    """Presentation of a world in tables and figures, as plain data.

    Attributes
    ----------
    metrics
        Metrics in tables; arms are compared in the first one.
    headline
        The metric in a sweep's lines.
    performance, deviation
        Labels of the axes for performance and for the deviation of proposals.
    lower_is_better
        True if smaller values of the first metric are better.
    ends_early
        True if runs may end before their planned rounds; they then keep their last performance.
    gaps
        A note on rounds without a value, for a figure of performance by round.
    ranges
        Limits of a metric, within which intervals are drawn.
    relabelled
        Labels in place of another one where a setting of the world is on, by ``SETTING=True``: the
        label that it replaces, and the new one.
    """

    metrics: tuple[str, ...]
    headline: str
    performance: str
    deviation: str
    lower_is_better: bool = False
    ends_early: bool = False
    gaps: str = ""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    relabelled: Mapping[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class WorldDefinition:
    """A world with all that belongs to it.

    Attributes
    ----------
    world
        The class of its state machine, built from the number of agents and the settings.
    settings
        The class of its settings; its fields are the allowed keys.
    agent_name
        The public name of an agent, before its number.
    policies
        The scripted reference policies by name.
    acting
        The behaviour of simulated agents in it.
    display
        Its presentation in tables and figures.
    scene
        Draws a run for the explorer, given the world, the records of its rounds and the names of
        its units, as a :class:`plenum_worlds.scene.RunScene`. A world may have none.
    endless
        Settings with which no episode ends before its planned rounds.
    data
        A digest of the data in its texts, if any.
    """

    world: type[World[Any, Any]]
    settings: type[Any]
    agent_name: str
    policies: Mapping[str, Policy]
    acting: Behaviour
    display: Display
    scene: Callable[[Any, Sequence[Round], Sequence[str]], RunScene] | None = None
    endless: Mapping[str, Any] = field(default_factory=dict)
    data: str = ""
