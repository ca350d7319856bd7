"""Scripted reference policies of contributors: they see what agents see, never the state."""

from collections.abc import Mapping, Sequence
from typing import Any

from plenum.worlds.draws import Draws
from plenum.worlds.world import Plain, Policy


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


POLICIES: Mapping[str, Policy] = {
    "fair_share": fair_share,
    "free_riders": free_riders,
    "one_free_rider": one_free_rider,
    "covered_free_rider": covered_free_rider,
    "random": random_amounts,
}
"""The reference policies by name."""


def _share(view: Plain, payers: int) -> float:
    return float(min(view["threshold"] / payers, view["most"]))
