"""Deviation d_i(t): how far each agent is from the mode or mean (paper, section 3.2)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenum.worlds.averages import mean_of
from plenum.worlds.world import World


def deviation(world: World[Any, Any], actions: Sequence[Any]) -> NDArray[np.float64]:
    """d_i of one round, with the distance that belongs to the world.

    Parameters
    ----------
    actions
        Proposals or final actions, one an agent; None for one that abstained.

    Returns
    -------
    array, shape (agents,)
        NaN for an agent that abstained.
    """
    given = [None if action is None else world.read(action) for action in actions]
    return DISTANCES[world.name](world, given)


def mean_deviation(world: World[Any, Any], actions: Sequence[Any]) -> float:
    """The mean of d_i over the agents that didn't abstain; NaN where all did."""
    return mean_of(deviation(world, actions))


def abstained(actions: Sequence[Any]) -> int:
    """How many agents abstained."""
    return sum(action is None for action in actions)


def manhattan_to_mode(cells: Sequence[tuple[int, int] | None]) -> NDArray[np.float64]:
    """Manhattan distance to the most frequent cell, averaged over equally frequent ones.

    In cells: 0 to 18 on a 10x10 grid. Shape (agents,), NaN for None.
    """
    return _from_modes(cells, _manhattan)


def jaccard_to_mode(sets: Sequence[Sequence[int] | None]) -> NDArray[np.float64]:
    """Jaccard distance to the most frequent node set, averaged over equally frequent ones.

    0 (the same set) to 1 (no node in common). Two empty sets are the same: 0. Shape (agents,),
    NaN for None.
    """
    return _from_modes([None if s is None else frozenset(s) for s in sets], _jaccard)


def difference_to_mean(contributions: Sequence[float | None], most: float) -> NDArray[np.float64]:
    """Distance to the mean contribution, as a share of the largest one allowed.

    0 to 1. Shape (agents,), NaN for None.
    """
    amounts = np.array([np.nan if c is None else c for c in contributions], dtype=float)
    present = amounts[~np.isnan(amounts)]
    if not present.size:
        return amounts
    centre = min(max(present.mean(), present.min()), present.max())  # equal amounts deviate by 0
    return np.asarray(np.abs(amounts - centre) / most)


def _from_modes(
    items: Sequence[Any],
    distances: Callable[[Sequence[Any], Sequence[Any]], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Mean distance of each item to the modes, computed once for each distinct item."""
    votes = Counter(item for item in items if item is not None)
    most = max(votes.values(), default=0)
    modes = [item for item, count in votes.items() if count == most]
    means = distances(list(votes), modes).mean(axis=1) if votes else []
    of = dict(zip(votes, means, strict=True))
    return np.array([np.nan if item is None else of[item] for item in items], dtype=float)


def _manhattan(cells: Sequence[Any], modes: Sequence[Any]) -> NDArray[np.float64]:
    apart = np.abs(np.array(cells)[:, None] - np.array(modes)[None, :])
    return np.asarray(apart.sum(axis=-1), dtype=float)


def _jaccard(sets: Sequence[Any], modes: Sequence[Any]) -> NDArray[np.float64]:
    nodes = sorted(set().union(*sets))
    rows, columns = (
        np.array([[node in nodes_of for node in nodes] for nodes_of in group], dtype=float)
        for group in (sets, modes)
    )
    common = rows @ columns.T
    union = rows.sum(axis=1)[:, None] + columns.sum(axis=1)[None, :] - common
    return np.where(union > 0, 1 - common / np.maximum(union, 1), 0.0)


DISTANCES: Mapping[str, Callable[[Any, Any], NDArray[np.float64]]] = {
    "disaster": lambda world, cells: manhattan_to_mode(cells),
    "misinformation": lambda world, sets: jaccard_to_mode(sets),
    "public_goods": lambda world, amounts: difference_to_mean(amounts, world.settings.most),
}
