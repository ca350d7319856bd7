"""Consensus mechanisms, which turn agents' proposals into actions; each is a pure function.

A proposal is None if its agent abstains. A collective decision also binds agents that abstained. If
all abstain, no agent acts.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Generic, TypeVar

from plenum_worlds.draws import Draws
from plenum_worlds.world import World

A = TypeVar("A")
Plan = tuple[Any, ...]


@dataclass(frozen=True)
class WorldDecision(Generic[A]):
    """One action per agent (None: no action), and whether a draw had to break a tie."""

    actions: tuple[A | None, ...]
    tied: bool = False


_World = World[Any, Any]
_Proposals = Sequence[Any]
_Decision = WorldDecision[Any]
Mechanism = Callable[[_World, _Proposals, Draws, int, Any], _Decision]
"""A function of (world, proposals, draws, round, state) that returns a decision.

It breaks ties by the stream ``tie``. The state is the one that the agents see in the round.
"""


def implicit(
    world: _World, proposals: _Proposals, draws: Draws, round: int, state: Any
) -> _Decision:
    """Let every agent do what it proposed (paper, Eq. 2)."""
    return WorldDecision(tuple(proposals))


def explicit(
    world: _World, proposals: _Proposals, draws: Draws, round: int, state: Any
) -> _Decision:
    """Let all agents do the same, as the world merges proposals (paper, Eq. 1, appendix B)."""
    given = [proposal for proposal in proposals if proposal is not None]
    if not given:
        return _all(world, None)
    return _all(world, *world.merge(given, draws, round, state))


def plan(world: _World, proposals: _Proposals, draws: Draws, round: int, state: Any) -> _Decision:
    """Vote on joint assignments: the most frequent plan, compared exactly, binds all.

    Each proposal assigns an action to every agent (see :func:`read_plan`). If all plans differ, one
    is drawn.
    """
    given = [tuple(proposal) for proposal in proposals if proposal is not None]
    if not given:
        return _all(world, None)
    return WorldDecision(*plurality(given, draws, round))


def mean(world: _World, proposals: _Proposals, draws: Draws, round: int, state: Any) -> _Decision:
    """Let all agents do the mean proposal, in a world whose actions are amounts."""
    given = [proposal for proposal in proposals if proposal is not None]
    # rounding must not carry the mean of equal amounts past the largest of them
    return _all(world, min(fmean(given), max(given)) if given else None)


def manager(
    world: _World, proposals: _Proposals, draws: Draws, round: int, state: Any
) -> _Decision:
    """Let agent 0's proposal bind all; if it abstains, no agent acts."""
    return _all(world, proposals[0])


def unanimity(
    world: _World, proposals: _Proposals, draws: Draws, round: int, state: Any
) -> _Decision:
    """Do what all agents propose; unless all propose the same, no agent acts."""
    agreed = all(proposal == proposals[0] for proposal in proposals)
    return _all(world, proposals[0] if agreed else None)


PROMPTED = "prompted"
"""The mechanism that asks for agreement in words, without enforcing it (paper, 3.1)."""

SCRIPT = "script"
"""The mechanism that tells all agents to go where it is most urgent (paper, B.1)."""

MECHANISMS: Mapping[str, Mechanism] = {
    "implicit": implicit, PROMPTED: implicit, SCRIPT: implicit, "explicit": explicit, "plan": plan,
    "mean": mean, "manager": manager, "unanimity": unanimity,
}  # fmt: skip


def read_plan(world: World[Any, A], value: Any) -> tuple[A, ...]:
    """Check a joint assignment from JSON: a list with one action for every agent, in order.

    Raises
    ------
    ValueError
        It isn't such a list, or an action is outside the world's action space.
    """
    if not isinstance(value, (list, tuple)) or len(value) != world.agents:
        raise ValueError(f"plan is no list of {world.agents} actions, one an agent")
    actions = []
    for agent, action in enumerate(value):
        try:
            actions.append(world.read(action))
        except ValueError as error:
            raise ValueError(f"plan for agent {agent}: {error}") from None
    return tuple(actions)


def list_assigned(plans: Sequence[Sequence[A] | None]) -> list[A | None]:
    """Return each agent's own action in its plan, comparable with other proposals."""
    return [None if assigned is None else assigned[agent] for agent, assigned in enumerate(plans)]


def _all(world: World[Any, A], action: A | None, tied: bool = False) -> WorldDecision[A]:
    return WorldDecision((action,) * world.agents, tied)


def plurality(given: Sequence[Any], draws: Draws, round: int) -> tuple[Any, bool]:
    """Return the most frequent item, drawn uniformly if several tie, and whether they did."""
    votes = Counter(given)
    most = max(votes.values())
    winners = sorted(item for item, count in votes.items() if count == most)
    uniform = draws.uniforms("tie", round, 1)[0]
    return winners[int(uniform * len(winners))], len(winners) > 1
