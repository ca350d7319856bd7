"""Metrics of the public-goods world, from the records of an episode (paper B.3 and C.3)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenum_worlds.metrics import average
from plenum_worlds.public_goods.state import PublicGoodsState
from plenum_worlds.world import Round, World

BINS = 10
"""Number of bins of equal width in which contributions are counted."""


def gini(amounts: ArrayLike) -> float:
    """Return the Gini coefficient: half the mean absolute difference over the mean.

    Parameters
    ----------
    amounts
        Not negative, shape (n,).

    Returns
    -------
    float
        0 if all are equal, even if all are zero; (n - 1)/n if one has everything; NaN for an empty
        array.

    Raises
    ------
    ValueError
        An amount is negative or isn't a number.
    """
    array = np.sort(np.asarray(amounts, dtype=float).ravel())
    if not (array >= 0).all():
        raise ValueError("the Gini coefficient needs amounts of 0 or more")
    if not array.size:
        return float("nan")
    if array[0] == array[-1]:
        return 0.0
    ranks = 2 * np.arange(1, array.size + 1) - array.size - 1
    return float((ranks * array).sum() / (array.size * array.sum()))


def distances(
    world: World[PublicGoodsState, float], actions: Sequence[float | None]
) -> NDArray[np.float64]:
    """Return distances to the mean contribution, as shares of the largest allowed one.

    0 to 1. Shape (agents,), NaN for None.
    """
    amounts = np.array([np.nan if a is None else a for a in actions], dtype=float)
    present = amounts[~np.isnan(amounts)]
    if not present.size:
        return amounts
    centre = min(max(present.mean(), present.min()), present.max())  # equal amounts deviate by 0
    return np.asarray(np.abs(amounts - centre) / world.settings.most)


def performance(
    world: World[PublicGoodsState, float], records: Sequence[Round]
) -> NDArray[np.float64]:
    """Return 1 for each round in which the good was funded, or else 0: shape (rounds,)."""
    return np.array([record["facts"]["funded"] for record in records], dtype=float)


def spread_by_round(records: Sequence[Round], *, proposals: bool = False) -> NDArray[np.float64]:
    """Return the standard deviation of each round's contributions or proposals (paper C.3).

    Shape (rounds,), in units. Of the agents that decided, as a whole: divided by their number.
    """
    return np.array([_spread(given) for given in _list_given(records, proposals)], dtype=float)


def _spread(amounts: Sequence[float]) -> float:
    """Return the standard deviation; exactly 0 where all are equal."""
    if not amounts:
        return float("nan")
    return 0.0 if min(amounts) == max(amounts) else float(np.std(amounts))


def gini_by_round(records: Sequence[Round], *, proposals: bool = False) -> NDArray[np.float64]:
    """Return the Gini coefficient of each round's contributions or proposals.

    Shape (rounds,). Agents that abstained are left out, since they decided nothing.
    """
    return np.array([gini(amounts) for amounts in _list_given(records, proposals)], dtype=float)


def _list_given(records: Sequence[Round], proposals: bool) -> list[list[float]]:
    entries = [record["proposals"] if proposals else record["actions"] for record in records]
    return [[amount for amount in amounts if amount is not None] for amounts in entries]


def gini_cumulated(records: Sequence[Round], *, proposals: bool = False) -> float:
    """Return the Gini coefficient of each agent's total contributions or proposals.

    An agent that abstained paid nothing in that round.
    """
    entries = [record["proposals"] if proposals else record["actions"] for record in records]
    if not entries:
        return float("nan")
    return gini(np.array([[amount or 0.0 for amount in amounts] for amounts in entries]).sum(0))


def summary(
    world: World[PublicGoodsState, float], records: Sequence[Round], planned: int
) -> dict[str, float]:
    """Return all metrics of an episode; welfare is the sum of all agents' payoffs."""
    welfare = float(sum(record["score"] for record in records))
    spread, spread_proposals = (spread_by_round(records, proposals=p) for p in (False, True))
    return {
        "provision_rate": average(performance(world, records)),
        "total_welfare": welfare,
        "mean_welfare": welfare / len(records) if records else float("nan"),
        "gini": average(gini_by_round(records)),
        "gini_proposals": average(gini_by_round(records, proposals=True)),
        "spread": average(spread),
        "spread_proposals": average(spread_proposals),
        "variance": average(spread**2),
        "variance_proposals": average(spread_proposals**2),
        "gini_cumulated": gini_cumulated(records),
        "gini_cumulated_proposals": gini_cumulated(records, proposals=True),
    }
