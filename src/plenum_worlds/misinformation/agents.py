"""Behaviour in the misinformation world: reference policies, and simulated defenders.

A policy sees what agents see, never the state.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plenum_worlds.definition import Behaviour, Duty, Preferences, read_traits
from plenum_worlds.draws import Draws
from plenum_worlds.world import Plain, Policy

_SUSPECT = re.compile(r"([0-9]+) \(since round ([0-9]+)(?:, next to ([0-9, ]+))?\)")
_DEGREE = re.compile(r"([0-9]+):([0-9]+)")
_LIMIT = re.compile(r"check up to\s+([0-9]+)")


def highest_degree(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Let all defenders check the same suspected nodes, those with most neighbours."""
    degrees = views[0]["degrees"]
    return _same_checks(views, lambda item: -degrees[item["node"]])


def most_recent(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Let all check the same suspected nodes: the latest, and of these the best connected."""
    degrees = views[0]["degrees"]
    return _same_checks(views, lambda item: (-item["since"], -degrees[item["node"]]))


def divide_suspects(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Divide the suspected nodes: the first defender checks the best connected, and so on."""
    checks, degrees = views[0]["checks"], views[0]["degrees"]
    ranked = _rank(views[0], lambda item: -degrees[item["node"]])
    return [tuple(sorted(ranked[i * checks : (i + 1) * checks])) for i in range(len(views))]


def random_nodes(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Let each defender check uniformly drawn nodes."""
    drawn = draws.uniforms("policy", round, (len(views), views[0]["nodes"]))
    return [
        tuple(sorted(int(node) for node in row.argsort()[: views[0]["checks"]])) for row in drawn
    ]


POLICIES: Mapping[str, Policy] = {
    "highest_degree": highest_degree,
    "most_recent": most_recent,
    "divided": divide_suspects,
    "random": random_nodes,
}
"""The reference policies by name."""


def _rank(view: Plain, key: Callable[[Plain], Any]) -> list[int]:
    return [item["node"] for item in sorted(view["suspected"], key=key)]


def _same_checks(views: Sequence[Plain], key: Callable[[Plain], Any]) -> list[Any]:
    nodes = tuple(sorted(_rank(views[0], key)[: views[0]["checks"]]))
    return [nodes] * len(views)


def choose(duty: Duty, agent: Preferences) -> list[int]:
    """Choose suspected nodes by degree, recency, links to other suspects, and others' checks."""
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
    selected = []
    for _ in range(min(int(limit[1]) if limit else 3, len(left))):
        node = list(left)[agent.best(list(left.values()))]
        selected.append(node)
        del left[node]
    return sorted(selected)


ACTING = Behaviour(
    phrase="Suspected nodes: ",
    traits=read_traits(__file__),
    choose=choose,
)
