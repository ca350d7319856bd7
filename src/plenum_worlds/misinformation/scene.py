"""Drawing of a run in the misinformation world: a network with its rumour and checks."""

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from math import sqrt

import numpy as np

from plenum_worlds.misinformation.state import INFORMED, MISINFORMED, MisinformationState, Nodes
from plenum_worlds.scene import Ground, Mark, RoundPicture, RunScene, Tone, join_numbered
from plenum_worlds.world import Round, World

_LEGEND: list[Mark] = [
    {"at": [], "tone": "bad", "text": "", "words": "misinformed"},
    {"at": [], "tone": "good", "text": "", "words": "informed"},
    {"at": [], "tone": "plain", "text": "", "words": "unaware"},
    {"at": [], "tone": "plain", "text": "", "dashed": True, "words": "suspected"},
    {"at": [], "tone": "plain", "text": "", "units": [1], "words": "checked, by so many"},
]


def scene(
    world: World[MisinformationState, Nodes], records: Sequence[Round], names: Sequence[str]
) -> RunScene:
    """Draw the network; a node's tone is its status at the beginning of the round."""
    edges = records[0]["state"]["edges"] if records else []
    nodes = world.settings.nodes
    places = layout(nodes, tuple((first, second) for first, second in edges))
    pictures = [_picture(record, names) for record in records]
    ground: Ground = {"nodes": places, "edges": edges}
    return {"ground": ground, "legend": _LEGEND, "pictures": pictures}


@lru_cache(maxsize=64)
def layout(nodes: int, edges: tuple[tuple[int, int], ...]) -> list[list[float]]:
    """Return positions of a network's nodes from 0 to 1, equal for equal networks."""
    import networkx  # type: ignore[import-untyped]  # 0.1 s that no other world has to wait for

    graph = networkx.Graph(edges)
    graph.add_nodes_from(range(nodes))
    steps = max(5, min(200, 60_000 // nodes))
    placed = networkx.spring_layout(graph, k=2.2 / sqrt(nodes), iterations=steps, seed=0)
    places = np.array([placed[node] for node in range(nodes)])
    fitted = (places - places.min(axis=0)) / np.ptp(places, axis=0)
    return [[round(x, 3), round(y, 3)] for x, y in fitted.tolist()]


def _picture(record: Round, names: Sequence[str]) -> RoundPicture:
    checks: dict[int, list[int]] = defaultdict(list)
    for unit, nodes in enumerate(record["actions"]):
        for node in nodes or ():
            checks[node].append(unit)
    suspected, status = record["state"]["suspected"], record["state"]["status"]
    marks = []
    for node, letter in enumerate(status):
        mark: Mark = {"at": [node], "tone": _TONES.get(letter, "plain"), "text": "", "words": ""}
        if letter == MISINFORMED or checks[node] or suspected[node]:
            mark["words"] = _words(node, record, [names[unit] for unit in checks[node]])
        mark |= {"dashed": bool(suspected[node]), "units": [unit + 1 for unit in checks[node]]}
        if mark["words"] or letter == INFORMED:
            marks.append(mark)
    informed = [f"node {node}" for node, letter in enumerate(status) if letter == INFORMED]
    words = f"Informed: {join_numbered(informed) or 'none'}."
    return {"marks": [*marks, {"at": [], "tone": "good", "text": "", "words": words}]}


_TONES: dict[str, Tone] = {MISINFORMED: "bad", INFORMED: "good"}


def _words(node: int, record: Round, checkers: Sequence[str]) -> str:
    since = record["state"]["suspected"][node]
    states = {MISINFORMED: "misinformed", INFORMED: "informed"}
    known = [states.get(record["state"]["status"][node], "unaware")]
    if since:
        known.append(f"suspected since round {since}")
    if checkers:
        known.append(f"checked by {join_numbered(checkers)}")
    if node in record["facts"]["corrected"]:
        known.append("corrected")
    return f"Node {node}: {', '.join(known)}."
