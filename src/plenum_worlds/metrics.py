"""Metrics that all worlds share: mean deviation, the action distribution, and the summary."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenum_worlds.world import Round, World


def average(values: ArrayLike) -> float:
    """Return the mean of the values that aren't NaN; NaN if there is none."""
    array = np.asarray(values, dtype=float)
    present = array[~np.isnan(array)]
    return float(present.mean()) if present.size else float("nan")


def measure_from_modes(
    items: Sequence[Any], distances: Callable[[Sequence[Any], Sequence[Any]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return the mean distance of each item to the modes, the most frequent items.

    Parameters
    ----------
    distances
        A function of two lists of distinct items that returns their distances, shape (first,
        second).

    Returns
    -------
    array, shape (items,)
        NaN for None.
    """
    votes = Counter(item for item in items if item is not None)
    most = max(votes.values(), default=0)
    modes = [item for item, count in votes.items() if count == most]
    means = distances(list(votes), modes).mean(axis=1) if votes else []
    by_item = dict(zip(votes, means, strict=True))
    return np.array([np.nan if item is None else by_item[item] for item in items], dtype=float)


def mean_deviation(world: World[Any, Any], actions: Sequence[Any]) -> float:
    """Return the mean of d_i over a round's agents that didn't abstain; NaN if all did.

    Parameters
    ----------
    actions
        Proposals or final actions, one per agent; None for an abstention.
    """
    return average(world.distances([None if a is None else world.read(a) for a in actions]))


def action_distribution(world: World[Any, Any], actions: Sequence[Any]) -> NDArray[np.float64]:
    """Return C(t) on a simplex that is fixed over rounds (paper, Eq. 3).

    Every agent has the weight 1/N, shared equally by the components of its action. Replicates can
    be compared, since all rounds have the same components.

    Returns
    -------
    array, shape (components + 1,)
        Sums to 1. The last component is the weight of the agents that did nothing: they abstained,
        or their action has no component. So a round without any action is a vertex, and neither NaN
        nor uniform.
    """
    weights = np.zeros(world.components + 1)
    for action in actions:
        places = [] if action is None else world.places(world.read(action))
        weights[places or [world.components]] += 1 / (len(actions) * max(len(places), 1))
    return weights


def summary(
    world: World[Any, Any], records: Sequence[Round], planned: int | None = None
) -> dict[str, float]:
    """Return all metrics of an episode: the world's own, and those that all worlds share.

    Parameters
    ----------
    planned
        Planned rounds, for episodes that ended early; by default those played.
    """
    return world.summary(records, len(records) if planned is None else planned) | {
        "deviation_actions": average([mean_deviation(world, r["actions"]) for r in records]),
        "deviation_proposals": average([mean_deviation(world, r["proposals"]) for r in records]),
        "abstentions": float(sum(r["proposals"].count(None) for r in records)),
        "idle": float(sum(r["actions"].count(None) for r in records)),
        "ties": float(sum(r["tied"] for r in records)),
    }
