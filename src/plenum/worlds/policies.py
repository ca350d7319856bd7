"""Scripted reference policies, and the round loop without language models.

A policy sees what an agent sees (the views), never the state.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plenum.worlds.consensus import Mechanism, implicit
from plenum.worlds.draws import Draws
from plenum.worlds.world import Plain, Round, World, as_plain

Policy = Callable[[Sequence[Plain], Draws, int], list[Any]]
"""(the agents' views, draws, round) to one proposal an agent."""


def play(
    world: World[Any, Any],
    policy: Policy,
    draws: Draws,
    rounds: int,
    mechanism: Mechanism = implicit,
) -> list[Round]:
    """One episode of scripted agents.

    Parameters
    ----------
    rounds
        Planned rounds; fewer are played where the world ends early.
    mechanism
        What makes actions of the policy's proposals.

    Returns
    -------
    list
        The plain records of the rounds, as metrics take them.
    """
    records: list[Round] = []
    state = world.start(draws)
    for number in range(1, rounds + 1):
        state = world.update(state, draws, number)
        views = [world.view(state, agent) for agent in range(world.agents)]
        proposals = policy(views, draws, number)
        decision = mechanism(world, proposals, draws, number)
        outcome = world.act(state, decision.actions)
        records.append(
            {
                "round": number,
                "state": as_plain(state),
                "report": as_plain(world.report(state, draws, number)),
                "proposals": as_plain(proposals),
                "actions": as_plain(decision.actions),
                "tied": decision.tied,
                "score": outcome.score,
                "facts": as_plain(outcome.facts),
                "after": as_plain(outcome.state),
            }
        )
        state = outcome.state
        if world.over(state):
            break
    return records


def all_to_worst(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """All drones to the highest reported severity (the first of equal ones)."""
    worst = max(views[0]["disasters"], key=lambda d: d["severity"], default=_middle(views[0]))
    return [tuple(worst["cell"])] * len(views)


def greedy_assignment(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """One drone to each disaster, the worst first; the others where most severity is left.

    Disasters that can lose no more in this round come after those that can.
    """
    disasters = views[0]["disasters"] or [_middle(views[0])]
    most = views[0]["reduction_most"]
    left = {i: d["severity"] for i, d in enumerate(disasters)}
    room = dict.fromkeys(left, math.inf if most is None else most)
    uncovered = sorted(left, key=lambda i: -left[i])
    actions = []
    for _ in views:
        goal = uncovered.pop(0) if uncovered else max(left, key=lambda i: (room[i] > 0, left[i]))
        taken = min(views[0]["reduction"], room[goal])
        left[goal] -= taken
        room[goal] -= taken
        actions.append(tuple(disasters[goal]["cell"]))
    return actions


def to_nearest(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Each drone to the disaster nearest to its last cell (Manhattan), the worst of equal ones.

    A drone that hasn't been anywhere starts from the middle of the grid.
    """
    actions = []
    for view in views:
        x, y = view["own"] or _middle(view)["cell"]
        goal = min(
            view["disasters"] or [_middle(view)],
            key=lambda d: (abs(d["cell"][0] - x) + abs(d["cell"][1] - y), -d["severity"]),
        )
        actions.append(tuple(goal["cell"]))
    return actions


def random_cells(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Each drone to a uniformly drawn cell."""
    grid = views[0]["grid"]
    drawn = draws.uniforms("policy", round, (len(views), 2))
    return [(int(x * grid), int(y * grid)) for x, y in drawn]


def highest_degree(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """All defenders check the same suspected nodes: those with most neighbours."""
    degrees = views[0]["degrees"]
    return _same_checks(views, lambda item: -degrees[item["node"]])


def most_recent(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """All check the same suspected nodes: the latest ones, of these the best connected."""
    degrees = views[0]["degrees"]
    return _same_checks(views, lambda item: (-item["since"], -degrees[item["node"]]))


def divided(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """The defenders share the suspected nodes: the first takes the best connected, and so on."""
    checks, degrees = views[0]["checks"], views[0]["degrees"]
    ranked = _ranked(views[0], lambda item: -degrees[item["node"]])
    return [tuple(sorted(ranked[i * checks : (i + 1) * checks])) for i in range(len(views))]


def random_nodes(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Each defender checks uniformly drawn nodes."""
    drawn = draws.uniforms("policy", round, (len(views), views[0]["nodes"]))
    return [
        tuple(sorted(int(node) for node in row.argsort()[: views[0]["checks"]])) for row in drawn
    ]


def fair_share(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Everybody pays an equal share of the reported threshold."""
    return [_share(view, len(views)) for view in views]


def free_riders(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Nobody pays."""
    return [0.0] * len(views)


def one_free_rider(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Agent 0 pays nothing, the others pay their fair share and no more."""
    return [0.0] + [_share(view, len(views)) for view in views[1:]]


def covered_free_rider(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Agent 0 pays nothing, and the others make up for it as far as they can."""
    return [0.0] + [_share(view, len(views) - 1) for view in views[1:]]


def random_amounts(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Each agent pays a uniformly drawn amount."""
    drawn = draws.uniforms("policy", round, len(views))
    return [float(u) * views[0]["most"] for u in drawn]


POLICIES: Mapping[str, Mapping[str, Policy]] = {
    "disaster": {
        "all_to_worst": all_to_worst,
        "greedy_assignment": greedy_assignment,
        "to_nearest": to_nearest,
        "random": random_cells,
    },
    "misinformation": {
        "highest_degree": highest_degree,
        "most_recent": most_recent,
        "divided": divided,
        "random": random_nodes,
    },
    "public_goods": {
        "fair_share": fair_share,
        "free_riders": free_riders,
        "one_free_rider": one_free_rider,
        "covered_free_rider": covered_free_rider,
        "random": random_amounts,
    },
}
"""The reference policies of each world, by name."""


def _middle(view: Plain) -> Plain:
    """Where drones wait while no disaster is active."""
    return {"cell": [view["grid"] // 2] * 2, "severity": 0}


def _ranked(view: Plain, key: Callable[[Plain], Any]) -> list[int]:
    return [item["node"] for item in sorted(view["suspected"], key=key)]


def _same_checks(views: Sequence[Plain], key: Callable[[Plain], Any]) -> list[Any]:
    nodes = tuple(sorted(_ranked(views[0], key)[: views[0]["checks"]]))
    return [nodes] * len(views)


def _share(view: Plain, payers: int) -> float:
    return float(min(view["threshold"] / payers, view["most"]))
