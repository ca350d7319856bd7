"""State machine of the misinformation world: a rumour on a network (paper B.2 and C.2)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from plenum_worlds.draws import Draws, uniform_integer
from plenum_worlds.misinformation import claims, metrics, text
from plenum_worlds.misinformation.state import (
    INFORMED,
    MISINFORMED,
    UNAWARE,
    MisinformationSettings,
    MisinformationState,
    Nodes,
)
from plenum_worlds.world import (
    Plain,
    RoundOutcome,
    World,
    check_actions,
    is_whole,
    make_list_schema,
    whole_schema,
)


@dataclass(frozen=True)
class MisinformationWorld(World[MisinformationState, Nodes]):
    """A world in which each agent checks nodes; an action is a list of up to ``checks`` ids."""

    settings: MisinformationSettings = field(default_factory=MisinformationSettings)

    name: ClassVar[str] = "misinformation"
    key: ClassVar[str] = "target_nodes"

    view = text.view
    words = text.words
    without_acts = text.without_acts
    within_sight = text.within_sight
    report = text.report
    distances = metrics.distances
    performance = metrics.performance
    summary = metrics.summary

    @property
    def example(self) -> list[int]:
        """A legal action."""
        return list(range(1, min(self.settings.checks + 1, self.settings.nodes)))

    @property
    def longest(self) -> list[int]:
        """The maximal number of nodes, with the largest ids."""
        return [self.settings.nodes - 1] * self.settings.checks

    @property
    def schema(self) -> Plain:
        """Up to ``checks`` node ids; :meth:`settle` sees to it that each is another one."""
        s = self.settings
        return make_list_schema(whole_schema(s.nodes - 1), 0, s.checks)

    @property
    def lags(self) -> bool:
        """The setting ``lag``."""
        return bool(self.settings.lag)

    @property
    def components(self) -> int:
        """One per node."""
        return self.settings.nodes

    def start(self, draws: Draws) -> MisinformationState:
        """Build a Barabási-Albert network with some misinformed nodes."""
        s = self.settings
        edges = scale_free(s.nodes, s.attachment, draws.seed("network"))
        drawn = draws.uniforms("start", 1, 2 + s.nodes)
        due = uniform_integer(drawn[1], s.injection_gap_least, s.injection_gap_most) + (not s.lag)
        state = MisinformationState(edges, UNAWARE * s.nodes, (), (0,) * s.nodes, due)
        first = uniform_integer(drawn[0], s.initial_least, s.initial_most)
        status = np.full(s.nodes, UNAWARE)
        status[self._order_targets(state, drawn[2:])[:first]] = MISINFORMED
        state = replace(state, status="".join(status))
        return self._suspect(replace(state, topics=claims.begun(state, draws)), draws, 1)

    def update(self, state: MisinformationState, draws: Draws, round: int) -> MisinformationState:
        """Spread misinformation, maybe inject more, and raise suspicions.

        Nothing happens in round 1, unless agents see the state before the update (``lag``).
        """
        if round <= 1 and not self.settings.lag:
            return state
        misinformed = self._spread(state, draws, round)
        events: tuple[str, ...] = ()
        hit = np.array([], dtype=int)
        due = state.next_injection
        if round >= due:
            drawn = draws.uniforms("injection", round, 3 + self.settings.nodes)
            hit = self._find_injected(state, misinformed, drawn)
            misinformed[hit] = True
            events = ("injection",) if len(hit) else ()
            due = round + uniform_integer(
                drawn[2], self.settings.injection_gap_least, self.settings.injection_gap_most
            )
        status = np.where(misinformed, MISINFORMED, list(state.status))
        new = replace(state, status="".join(status), next_injection=due, events=events)
        topics = claims.update_topics(state, new, frozenset(hit.tolist()), draws, round)
        return self._suspect(replace(new, topics=topics), draws, round)

    def read(self, value: Any) -> Nodes:
        """Check a list of at most ``checks`` distinct node ids; return them in ascending order.

        It may be shorter or empty. ``3.0``, ``true`` and repeated ids aren't allowed.

        Raises
        ------
        ValueError
            It is anything else.
        """
        s = self.settings
        if not isinstance(value, (list, tuple)) or len(value) > s.checks:
            raise ValueError(f"target_nodes is no list of at most {s.checks} node ids")
        if not all(is_whole(item) and 0 <= item < s.nodes for item in value):
            raise ValueError(f"target_nodes needs whole numbers from 0 to {s.nodes - 1}")
        if len(set(value)) != len(value):
            raise ValueError("target_nodes names a node twice")
        return tuple(sorted(value))

    def settle(self, value: Any) -> Any:
        """Name a node once that is named twice."""
        ids = isinstance(value, list) and all(map(is_whole, value))
        return list(dict.fromkeys(value)) if ids else value

    def act(
        self, state: MisinformationState, actions: Sequence[Nodes | None]
    ) -> RoundOutcome[MisinformationState]:
        """Inform every checked node; the score is the share that isn't misinformed."""
        targets = sorted({node for nodes in check_actions(self, actions) for node in nodes or ()})
        status = list(state.status)
        corrected = [node for node in targets if status[node] == MISINFORMED]
        for node in targets:
            status[node] = INFORMED
        after = replace(state, status="".join(status), checked=tuple(targets), events=())
        if self.settings.lag:  # the next round shows this state: who was checked isn't suspected
            since = enumerate(state.suspected)
            left = tuple(0 if node in targets else round for node, round in since)
            after = replace(after, suspected=left)
        share = status.count(MISINFORMED) / len(status)
        facts: Plain = {"checked": targets, "corrected": corrected, "misinformed": share}
        return RoundOutcome(after, 1 - share, facts)

    def over(self, state: MisinformationState) -> bool:
        """Return whether more than ``stop`` of the nodes are misinformed."""
        return state.status.count(MISINFORMED) > self.settings.stop * len(state.status)

    def merge(
        self, proposals: Sequence[Nodes], draws: Draws, round: int, state: MisinformationState
    ) -> tuple[Nodes, bool]:
        """Return the nodes with most votes; ties for the last places go to the smallest draws.

        A node with a vote has ``degree_votes`` more for each of its neighbours.
        """
        named = Counter(node for nodes in proposals for node in nodes)
        each = self.settings.degree_votes
        votes = {n: v + (each * len(state.neighbours[n]) if each else 0) for n, v in named.items()}
        keys = draws.uniforms("tie", round, self.settings.nodes)
        ranked = sorted(votes, key=lambda node: (-votes[node], float(keys[node])))
        places = self.settings.checks
        tied = len(ranked) > places and votes[ranked[places - 1]] == votes[ranked[places]]
        return tuple(sorted(ranked[:places])), tied

    def places(self, action: Nodes) -> list[int]:
        """Return the nodes."""
        return list(action)

    def _spread(self, state: MisinformationState, draws: Draws, round: int) -> NDArray[np.bool_]:
        """Return the nodes that are misinformed after every edge has carried its claims.

        There is one draw per edge, so that it has the same luck under every policy; only one of its
        ends can infect the other in a round.
        """
        status = np.array(list(state.status))
        misinformed = status == MISINFORMED
        ends = np.array(state.edges)
        s = self.settings
        informed = 0.0 if s.immune else s.susceptibility
        chance = s.spread * np.where(status == INFORMED, informed, 1.0)
        chance[list(state.checked)] = 0.0
        drawn = draws.uniforms("spread", round, len(ends))
        new = misinformed.copy()
        for source, target in ((0, 1), (1, 0)):
            reached = ends[:, target]
            new[reached[misinformed[ends[:, source]] & (drawn < chance[reached])]] = True
        return np.asarray(new)

    def _find_injected(
        self, state: MisinformationState, misinformed: NDArray[np.bool_], drawn: NDArray[Any]
    ) -> NDArray[np.int_]:
        """Return the nodes hit by an injection: not misinformed when targeted, and not checked.

        Informed nodes that are ``immune`` aren't targeted either. ``drawn`` determines whether it
        happens, its size, the next gap, and one key per node.
        """
        s = self.settings
        if drawn[0] >= s.injection_probability:
            return np.array([], dtype=int)
        order = self._order_targets(state, drawn[3:])
        safe = misinformed | (s.immune & (np.array(list(state.status)) == INFORMED))
        aimed = order[~safe[order]][
            : uniform_integer(drawn[1], s.injection_least, s.injection_most)
        ]
        return np.asarray(aimed[~np.isin(aimed, state.checked)])

    def _order_targets(self, state: MisinformationState, keys: NDArray[Any]) -> NDArray[np.int_]:
        """Return all nodes in the order in which the adversary targets them."""
        if not self.settings.hubs_first:
            return keys.argsort()
        degrees = np.array([len(nodes) for nodes in state.neighbours])
        return (-degrees).argsort(kind="stable")

    def _suspect(self, state: MisinformationState, draws: Draws, round: int) -> MisinformationState:
        s = self.settings
        misinformed = np.array(list(state.status)) == MISINFORMED
        flagged = draws.uniforms("reading", round, s.nodes) < np.where(
            misinformed, 1 - s.missed, s.false_alarm
        )
        since = np.where(flagged, np.where(state.suspected, state.suspected, round), 0)
        return replace(state, suspected=tuple(int(number) for number in since))


def scale_free(nodes: int, attachment: int, seed: int) -> tuple[tuple[int, int], ...]:
    """Return the edges of a Barabási-Albert network in ascending order, smaller node first."""
    import networkx  # type: ignore[import-untyped]  # 0.1 s that no other world has to wait for

    graph = networkx.barabasi_albert_graph(nodes, attachment, seed=seed)
    return tuple(sorted((int(min(edge)), int(max(edge))) for edge in graph.edges))
