"""Settings and state of the misinformation world (paper B.2 and C.2)."""

from dataclasses import dataclass
from functools import cached_property

from plenum_worlds.world import ordered, within

UNAWARE, INFORMED, MISINFORMED = "U", "I", "M"
"""The letters of a node's status."""

Nodes = tuple[int, ...]

_INJECTED = ("injection_least", "injection_most")


@dataclass(frozen=True)
class MisinformationSettings:
    """Settings of the world; ``docs/worlds.md`` explains each one.

    Raises
    ------
    UserError
        A setting is outside its range.
    """

    nodes: int = 50
    attachment: int = 2
    initial_least: int = 2
    initial_most: int = 5
    spread: float = 0.2
    susceptibility: float = 1.0
    injection_gap_least: int = 2
    injection_gap_most: int = 3
    injection_probability: float = 1.0
    injection_least: int = 1
    injection_most: int = 2
    checks: int = 3
    stop: float = 0.8
    missed: float = 0.2
    false_alarm: float = 0.02
    contradictory: float = 0.2
    partial: float = 0.3
    disguised: float = 0.2
    hubs_first: bool = False
    immune: bool = False
    lag: bool = False
    degree_votes: float = 0.0

    def __post_init__(self) -> None:
        shares = ("spread", "susceptibility", "injection_probability", "stop", "missed")
        within(self, "misinformation", **dict.fromkeys(shares, (0, 1)))
        within(self, "misinformation", false_alarm=(0, 1), contradictory=(0, 1))
        within(self, "misinformation", partial=(0, 1), disguised=(0, 1 - self.partial))
        within(self, "misinformation", degree_votes=(0, 1e6))
        within(self, "misinformation", nodes=(2, 10_000), attachment=(1, self.nodes - 1))
        within(self, "misinformation", initial_least=(0, self.nodes), initial_most=(0, self.nodes))
        within(self, "misinformation", injection_gap_least=(1, 1000), checks=(1, self.nodes))
        within(self, "misinformation", **dict.fromkeys(_INJECTED, (0, self.nodes)))
        ordered(
            self,
            "misinformation",
            ("initial_least", "initial_most"),
            ("injection_gap_least", "injection_gap_most"),
            ("injection_least", "injection_most"),
        )


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
