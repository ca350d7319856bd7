"""How a simulated defender chooses the nodes that it checks."""

import re

from plenum.worlds.acting import Acting, Duty, Preferences

_SUSPECT = re.compile(r"([0-9]+) \(since round ([0-9]+)(?:, next to ([0-9, ]+))?\)")
_DEGREE = re.compile(r"([0-9]+):([0-9]+)")
_LIMIT = re.compile(r"check up to\s+([0-9]+)")


def choose(duty: Duty, agent: Preferences) -> list[int]:
    """Suspected nodes: degree, how recent, how they join others, and who else checks them."""
    limit = _LIMIT.search(duty.known)
    suspects = _SUSPECT.findall(duty.known)
    if not suspects:
        return []
    known = dict(_DEGREE.findall(duty.known))
    nodes = [int(node) for node, _, _ in suspects]
    degrees = [int(known.get(node, 1)) for node, _, _ in suspects]
    since = [int(round) for _, round, _ in suspects]
    pulls = agent.pulls(nodes, [node for p in agent.proposals for node in p.action])
    w = agent.weights
    left = {
        node: w[0] * degrees[i] / max(degrees)
        + w[1] * since[i] / max(since)
        + w[2] * (i % 3) / 3
        + pulls[i]
        for i, node in enumerate(nodes)
    }
    chosen = []
    for _ in range(min(int(limit[1]) if limit else 3, len(left))):
        node = list(left)[agent.best(list(left.values()))]
        chosen.append(node)
        del left[node]
    return sorted(chosen)


ACTING = Acting(
    phrase="Suspected nodes: ",
    traits={
        "highest degree": (6.0, 0.0, 0.0),
        "firebreaks": (4.0, 0.5, 0.5),
        "active sources": (1.0, 3.0, 0.0),
        "join clusters": (3.0, 0.0, 1.5),
        "outbreaks": (0.5, 5.0, 0.0),
        "old traces": (0.5, -4.0, 0.0),
        "sweep widely": (0.5, 0.0, 3.0),
    },
    choose=choose,
)
