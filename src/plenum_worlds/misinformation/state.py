"""Settings and state of the misinformation world (paper B.2 and C.2)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar

from plenum_worlds.world import Share, WorldSettings

UNAWARE, INFORMED, MISINFORMED = "U", "I", "M"
"""The letters of a node's status."""

Nodes = tuple[int, ...]


@dataclass(frozen=True)
class MisinformationSettings(WorldSettings):
    """The world's settings."""

    world: ClassVar[str] = "misinformation"

    nodes: Annotated[int, (2, 10_000)] = 50
    attachment: int = 2
    initial_least: int = 2
    initial_most: int = 5
    spread: Share = 0.2
    susceptibility: Share = 1.0
    injection_gap_least: Annotated[int, (1, 1000)] = 2
    injection_gap_most: int = 3
    injection_probability: Share = 1.0
    injection_least: int = 1
    injection_most: int = 2
    checks: int = 3
    stop: Share = 0.8
    missed: Share = 0.2
    false_alarm: Share = 0.02
    contradictory: Share = 0.2
    partial: Share = 0.3
    disguised: float = 0.2
    hubs_first: bool = False
    immune: bool = False
    lag: bool = False
    degree_votes: Annotated[float, (0, 1e6)] = 0.0

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """The bounds that depend on other settings."""
        counts = ("initial_least", "initial_most", "injection_least", "injection_most")
        return {
            "disguised": (0, 1 - self.partial),
            "attachment": (1, self.nodes - 1),
            "checks": (1, self.nodes),
            **dict.fromkeys(counts, (0, self.nodes)),
        }


@dataclass(frozen=True)
class MisinformationState:
    """The network and the status of its nodes.

    ``status`` has one letter per node (U, I, M). ``checked`` are the nodes of the last round's
    fact-checks, protected until the next action. ``suspected`` has one number per node: the round
    since which it is under suspicion, or 0. ``next_injection`` is the round of the next planned
    injection. ``events`` names the exogenous changes of the last update: ``injection``. ``topics``
    has the topic of the claim that each node heard last, -1 for none; if it is empty, every node
    has the first topic.
    """

    edges: tuple[tuple[int, int], ...]
    status: str
    checked: Nodes
    suspected: tuple[int, ...]
    next_injection: int
    events: tuple[str, ...] = ()
    topics: tuple[int, ...] = ()

    def topic(self, node: int) -> int:
        """Return the topic of a node's claim."""
        return self.topics[node] if self.topics else 0

    @cached_property
    def neighbours(self) -> tuple[Nodes, ...]:
        """The neighbours of each node, in ascending order."""
        adjacent: list[list[int]] = [[] for _ in self.status]
        for a, b in self.edges:
            adjacent[a].append(b)
            adjacent[b].append(a)
        return tuple(tuple(sorted(nodes)) for nodes in adjacent)
