"""What plenum knows of a world: each world's package holds one value of :class:`WorldDefinition`.

Whoever needs something that depends on the world looks it up there; no code outside of a world's
package names it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plenum.worlds.acting import Acting
from plenum.worlds.world import Policy, World


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
    endless
        Settings under which no episode ends before its planned rounds.
    """

    world: type[World[Any, Any]]
    settings: type[Any]
    agent_name: str
    policies: Mapping[str, Policy]
    acting: Acting
    display: Display
    endless: Mapping[str, Any] = field(default_factory=dict)
