"""Views and texts for the agents of the misinformation world."""

import numpy as np
from numpy.typing import NDArray

from plenum_worlds.draws import Draws
from plenum_worlds.misinformation import claims
from plenum_worlds.misinformation.state import (
    MISINFORMED,
    MisinformationSettings,
    MisinformationState,
    Nodes,
)
from plenum_worlds.world import Kind, Plain, Statement, World, kind_of

STATEMENTS = 4
"""Maximal number of statements in a report."""

DETAILED = 15
"""Number of suspected nodes whose neighbours are shown, those of the best connected ones."""


def view(world: World[MisinformationState, Nodes], state: MisinformationState, agent: int) -> Plain:
    """Return degrees, the last checks, and suspected nodes with their neighbours.

    ``neighbours`` is None if there are too many to show.
    """
    settings = world.settings
    degrees = [len(nodes) for nodes in state.neighbours]
    suspected = [node for node, since in enumerate(state.suspected) if since]
    detailed = set(sorted(suspected, key=lambda node: -degrees[node])[:DETAILED])
    return {
        "agent": agent,
        "agents": world.agents,
        "nodes": settings.nodes,
        "checks": settings.checks,
        "degrees": degrees,
        "suspected": [
            {
                "node": node,
                "since": state.suspected[node],
                "neighbours": list(state.neighbours[node]) if node in detailed else None,
            }
            for node in suspected
        ],
        "checked": list(state.checked),
    }


def without_acts(world: World[MisinformationState, Nodes], view: Plain) -> Plain:
    """Return a view that doesn't show which nodes were checked."""
    return {**view, "checked": None}


def within_sight(
    world: World[MisinformationState, Nodes], view: Plain, seen: NDArray[np.bool_]
) -> Plain:
    """Return a view of the visible suspected nodes."""
    return {**view, "suspected": [item for item in view["suspected"] if seen[item["node"]]]}


def words(world: World[MisinformationState, Nodes], view: Plain) -> str:
    """Describe a view in words."""
    degrees = " ".join(f"{node}:{degree}" for node, degree in enumerate(view["degrees"]))
    suspected = "; ".join(_suspect(item) for item in view["suspected"])
    checked = "not shown" if view["checked"] is None else _list(view["checked"]) or "none"
    return (
        f"Nodes 0 to {view['nodes'] - 1}; {view['agents']} defenders check up to "
        f"{view['checks']} nodes each.\n"
        f"Degrees: {degrees}.\n"
        f"Suspected nodes: {suspected or 'none'}.\n"
        f"Checked in the last round: {checked}."
    )


def report(
    world: World[MisinformationState, Nodes], state: MisinformationState, draws: Draws, round: int
) -> tuple[Statement, ...]:
    """Return statements on up to four nodes that are misinformed or suspected.

    A false claim is stated directly, mixed with something true, or presented as news on another
    topic (paper, B.2: partial truths, and injections that are disguised).
    """
    # by node: whether it is spoken of, what becomes of the statement, which neighbour it names
    noise = draws.uniforms("report", round, (world.settings.nodes, 3))
    words = draws.uniforms("report words", round, (world.settings.nodes, 2))
    known = [n for n, s in enumerate(state.status) if s == MISINFORMED or state.suspected[n]]
    selected = sorted(known, key=lambda node: float(noise[node, 0]))[:STATEMENTS]
    statements = []
    for node in sorted(selected):
        kind = kind_of(noise[node, 1], world.settings.contradictory)
        quoted = _quote(world.settings, state, node, kind, words[node])
        statements.append(Statement(_sentence(state, node, kind, noise[node, 2], quoted), kind))
    return tuple(statements)


def _quote(
    settings: MisinformationSettings,
    state: MisinformationState,
    node: int,
    kind: Kind,
    drawn: NDArray[np.float64],
) -> str:
    """Return the quotation of a node: its false claim, or the truth about its topic.

    In a contradictory statement it is reversed. ``drawn`` determines the topic of a node that has
    none, and the form of a false claim.
    """
    spreads = state.status[node] == MISINFORMED
    topics = claims.topics()
    topic = state.topic(node) if spreads else int(drawn[0] * len(topics))
    if spreads == (kind == "contradictory"):
        return topics[topic].fact
    if drawn[1] < settings.partial:
        return topics[topic].partial
    hidden = drawn[1] < settings.partial + settings.disguised
    return topics[topic].disguised if hidden else topics[topic].claim


def _sentence(
    state: MisinformationState, node: int, kind: Kind, uniform: float, quoted: str
) -> str:
    if kind == "incomplete":
        nodes = state.neighbours[node]
        neighbour = nodes[int(uniform * len(nodes))]
        return f'Somebody next to node {neighbour}, it is unclear who, passes on: "{quoted}"'
    return f'Node {node} tells its {len(state.neighbours[node])} neighbours: "{quoted}"'


def _suspect(item: Plain) -> str:
    neighbours = item["neighbours"]
    around = "" if neighbours is None else f", next to {_list(neighbours)}"
    return f"{item['node']} (since round {item['since']}{around})"


def _list(nodes: list[int]) -> str:
    return ", ".join(map(str, nodes))
