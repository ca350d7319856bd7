"""Decisions of an ensemble: how often they differ, and how soon a majority stands."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray


def flip_rate(decisions: Sequence[str]) -> float:
    """Share of replicates whose decision isn't the modal one (Table S5).

    ``NONE`` is a decision of its own. NaN without replicates. From 0 to 1 - 1/categories.
    """
    if not decisions:
        return float("nan")
    return 1.0 - Counter(decisions).most_common(1)[0][1] / len(decisions)


def majority_rounds(preferences: ArrayLike) -> NDArray[np.float64]:
    """First round in which a strict majority of seats shares its top option (Fig. S4).

    Parameters
    ----------
    preferences
        Preferences of every seat, shape (replicates, rounds, seats, options). A seat whose top
        preference is tied has no top option in that round.

    Returns
    -------
    array, shape (replicates,)
        Rounds counted from 1; infinite where no round has a majority.
    """
    array = np.asarray(preferences, dtype=float)
    if array.ndim != 4:
        raise ValueError(
            f"preferences have shape (replicates, rounds, seats, options), not {array.shape}"
        )
    top = array == array.max(axis=-1, keepdims=True)
    sole = top & (top.sum(axis=-1, keepdims=True) == 1)
    majority = (2 * sole.sum(axis=2) > array.shape[2]).any(axis=-1)
    first = np.where(majority.any(axis=1), majority.argmax(axis=1) + 1.0, np.inf)
    return np.asarray(first, dtype=float)


def time_to_majority(preferences: ArrayLike) -> float:
    """Median first majority round over replicates; infinite where half of them never have one.

    Parameters
    ----------
    preferences
        Shape (replicates, rounds, seats, options).

    Returns
    -------
    float
        In rounds; NaN without replicates.
    """
    rounds = majority_rounds(preferences)
    if not rounds.size:
        return float("nan")
    return float(np.median(rounds))
