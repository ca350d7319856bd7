"""Scripted reference policies of defenders: they see what agents see, never the state."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plenum.worlds.draws import Draws
from plenum.worlds.world import Plain, Policy


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


POLICIES: Mapping[str, Policy] = {
    "highest_degree": highest_degree,
    "most_recent": most_recent,
    "divided": divided,
    "random": random_nodes,
}
"""The reference policies by name."""


def _ranked(view: Plain, key: Callable[[Plain], Any]) -> list[int]:
    return [item["node"] for item in sorted(view["suspected"], key=key)]


def _same_checks(views: Sequence[Plain], key: Callable[[Plain], Any]) -> list[Any]:
    nodes = tuple(sorted(_ranked(views[0], key)[: views[0]["checks"]]))
    return [nodes] * len(views)
