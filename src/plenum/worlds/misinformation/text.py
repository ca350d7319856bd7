"""What the agents of the misinformation world may see and read."""

from plenum.worlds.draws import Draws
from plenum.worlds.misinformation.state import MisinformationState, Nodes
from plenum.worlds.world import Kind, Plain, Statement, World, kind_of

STATEMENTS = 4
"""A report has at most so many statements."""

DETAILED = 15
"""The neighbours of so many suspected nodes are shown, those of the best connected ones."""


def view(world: World[MisinformationState, Nodes], state: MisinformationState, agent: int) -> Plain:
    """Degrees, what was checked last, and suspected nodes with their neighbours.

    ``neighbours`` is None where there are too many to show.
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


def words(world: World[MisinformationState, Nodes], view: Plain) -> str:
    """A view in words."""
    degrees = " ".join(f"{node}:{degree}" for node, degree in enumerate(view["degrees"]))
    suspected = "; ".join(_suspect(item) for item in view["suspected"])
    return (
        f"Nodes 0 to {view['nodes'] - 1}; {view['agents']} defenders check up to "
        f"{view['checks']} nodes each.\n"
        f"Degrees: {degrees}.\n"
        f"Suspected nodes: {suspected or 'none'}.\n"
        f"Checked in the last round: {_listed(view['checked']) or 'none'}."
    )


def report(
    world: World[MisinformationState, Nodes], state: MisinformationState, draws: Draws, round: int
) -> tuple[Statement, ...]:
    """Statements on up to four nodes that are misinformed or suspected."""
    # by node: whether it is spoken of, what becomes of the statement, which neighbour it names
    noise = draws.uniforms("report", round, (world.settings.nodes, 3))
    known = [n for n, s in enumerate(state.status) if s == "M" or state.suspected[n]]
    selected = sorted(known, key=lambda node: float(noise[node, 0]))[:STATEMENTS]
    statements = []
    for node in sorted(selected):
        kind = kind_of(noise[node, 1], world.settings.contradictory)
        statements.append(Statement(_sentence(state, node, kind, noise[node, 2]), kind))
    return tuple(statements)


def _sentence(state: MisinformationState, node: int, kind: Kind, uniform: float) -> str:
    if kind == "incomplete":
        nodes = state.neighbours[node]
        neighbour = nodes[int(uniform * len(nodes))]
        return f"Somebody next to node {neighbour} may repeat the rumour; it is unclear who."
    if (state.status[node] == "M") == (kind == "plain"):
        return f"Node {node} repeats the rumour to its {len(state.neighbours[node])} neighbours."
    return f"Node {node} doesn't repeat the rumour, say its neighbours."


def _suspect(item: Plain) -> str:
    neighbours = item["neighbours"]
    around = "" if neighbours is None else f", next to {_listed(neighbours)}"
    return f"{item['node']} (since round {item['since']}{around})"


def _listed(nodes: list[int]) -> str:
    return ", ".join(map(str, nodes))
