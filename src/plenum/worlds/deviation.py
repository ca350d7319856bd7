"""Distances to the most frequent item: deviation d_i(t) (paper, section 3.2)."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def from_modes(
    items: Sequence[Any],
    distances: Callable[[Sequence[Any], Sequence[Any]], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Mean distance of each item to the modes: the most frequent ones, equally frequent.

    Parameters
    ----------
    distances
        Of two lists of distinct items: their distances, shape (first, second).

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
