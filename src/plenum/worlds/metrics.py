"""Metrics that all worlds share: series for plots, action distributions, and the summary."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from plenum.worlds.averages import mean_of
from plenum.worlds.deviation import abstained, mean_deviation
from plenum.worlds.disaster import metrics as metrics_disaster
from plenum.worlds.misinformation import metrics as metrics_misinformation
from plenum.worlds.public_goods import metrics as metrics_public_goods
from plenum.worlds.world import Round, World

BINS = 10
"""Contributions are counted in so many bins of equal width."""

Of = Literal["proposals", "actions"]


def performance(world: World[Any, Any], records: Sequence[Round]) -> NDArray[np.float64]:
    """The world's performance per round, shape (rounds,), 0 to 1: higher is better.

    Disaster: coverage (NaN in rounds without a disaster). Misinformation: share of the nodes that
    aren't misinformed. Public goods: 1 where the good is funded, otherwise 0.
    """
    return PERFORMANCE[world.name](records)


def deviations(
    world: World[Any, Any], records: Sequence[Round], of: Of = "actions"
) -> NDArray[np.float64]:
    """Mean deviation d̄(t) of proposals or of final actions, shape (rounds,); NaN without any."""
    return np.array([mean_deviation(world, record[of]) for record in records], dtype=float)


def abstentions(records: Sequence[Round], of: Of = "proposals") -> NDArray[np.int_]:
    """How many agents abstained in each round, shape (rounds,)."""
    return np.array([abstained(record[of]) for record in records], dtype=int)


def action_distribution(world: World[Any, Any], actions: Sequence[Any]) -> NDArray[np.float64]:
    """C(t) on a simplex that is the same in every round (paper, Eq. 3), to compare replicates.

    Every agent has the weight 1/N. Disaster: one component a cell, row by row of x. Misinformation:
    one a node, an agent's weight shared equally by the nodes it checks. Public goods: one for each
    of ten bins of [0, most], the upper edge belonging to the last.

    Returns
    -------
    array, shape (components + 1,)
        Sums to 1. The last component is the weight of the agents that did nothing: they abstained,
        or checked no node. So a round without any action is a vertex, and neither NaN nor uniform.
    """
    size, place = _SIMPLEX[world.name](world)
    weights = np.zeros(size + 1)
    for action in actions:
        places = [] if action is None else place(world.read(action))
        weights[places or [size]] += 1 / (len(actions) * max(len(places), 1))
    return weights


def distributions(
    world: World[Any, Any], records: Sequence[Round], of: Of = "actions"
) -> NDArray[np.float64]:
    """:func:`action_distribution` of each round: shape (rounds, components + 1)."""
    return np.array([action_distribution(world, record[of]) for record in records])


def summary(
    world: World[Any, Any], records: Sequence[Round], planned: int | None = None
) -> dict[str, float]:
    """All metrics of an episode, one number each: the world's own, and those that all share.

    Parameters
    ----------
    planned
        Planned rounds, for episodes that ended early; by default those played.
    """
    return SUMMARIES[world.name](world, records, planned) | {
        "deviation_actions": mean_of(deviations(world, records)),
        "deviation_proposals": mean_of(deviations(world, records, "proposals")),
        "abstentions": float(abstentions(records).sum()),
        "idle": float(abstentions(records, "actions").sum()),
        "ties": float(sum(record["tied"] for record in records)),
    }


def _of_cells(world: World[Any, Any]) -> tuple[int, Callable[[Any], list[int]]]:
    grid = world.settings.grid
    return grid**2, lambda cell: [cell[0] * grid + cell[1]]


def _of_nodes(world: World[Any, Any]) -> tuple[int, Callable[[Any], list[int]]]:
    return world.settings.nodes, list


def _of_amounts(world: World[Any, Any]) -> tuple[int, Callable[[Any], list[int]]]:
    most = world.settings.most
    return BINS, lambda amount: [min(int(BINS * amount / most), BINS - 1)]


_SIMPLEX: Mapping[str, Callable[[Any], tuple[int, Callable[[Any], list[int]]]]] = {
    "disaster": _of_cells,
    "misinformation": _of_nodes,
    "public_goods": _of_amounts,
}

PERFORMANCE: Mapping[str, Callable[[Sequence[Round]], NDArray[np.float64]]] = {
    "disaster": metrics_disaster.coverage,
    "misinformation": lambda records: 1 - metrics_misinformation.spread(records),
    "public_goods": metrics_public_goods.funded,
}

SUMMARIES: Mapping[str, Callable[[Any, Sequence[Round], int | None], dict[str, float]]] = {
    "disaster": lambda world, records, _: metrics_disaster.summary(records, world.settings),
    "misinformation": lambda _, records, planned: metrics_misinformation.summary(records, planned),
    "public_goods": lambda _world, records, _: metrics_public_goods.summary(records),
}
