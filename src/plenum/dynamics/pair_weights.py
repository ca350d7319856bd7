"""Counts of replicates in bootstrap draws, and weights of their pairs, kept between conditions."""

import math
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenum.dynamics.fit import Array

_KEPT = 4_000_000
"""Most pair weights that are kept for the next condition of as many replicates. The number is
plenum's own: 16 MB in single precision, enough for 10,000 draws of 28 replicates."""

_AT_ONCE = 1_000
"""Draws of one product, few enough that the intermediate arrays stay in the cache. The number is
plenum's own: of 20 replicates they take 0.8 MB in single precision."""

_PRODUCTS = 4_000_000
"""Products of one block at most, of many replicates: 16 MB in single precision; of 500 replicates
1,000 draws would take 500 MB. The number is plenum's own."""


def draw_counts(replicates: int, draws: int, seed: int, stream: int) -> NDArray[np.int64]:
    """Draw how often each replicate occurs in each draw, shape (R, draws)."""
    # By the stream too: each new try at draws with D* = 0 has draws of its own.
    generator = np.random.Generator(np.random.PCG64([seed, replicates, stream]))
    even = np.full(replicates, 1 / replicates)
    return np.ascontiguousarray(generator.multinomial(replicates, even, draws).T)


def weigh_pairs(counts: Array, dtype: np.dtype[Any]) -> Iterator[Array]:
    """Yield the products over pairs i < j of counts, shape (R, draws), block by block."""
    first, second = np.triu_indices(len(counts), 1)
    size = max(1, min(_AT_ONCE, _PRODUCTS // max(len(first), 1)))
    for start in range(0, counts.shape[1], size):
        part = counts[:, start : start + size].astype(dtype)
        products = part[first] * part[second]
        products.flags.writeable = False
        yield products


def draw_weights(
    replicates: int, draws: int, seed: int, dtype: np.dtype[Any]
) -> tuple[Iterable[Array], NDArray[np.intp]]:
    """Return the blocks of all draws, and each draw's index among those of the blocks."""
    counts, order = _draw_kept_counts(replicates, draws, seed)
    # Too large to keep: the products are then made anew for every condition.
    if counts.size * (replicates - 1) // 2 > _KEPT:
        return weigh_pairs(counts, dtype), order
    return _list_kept_blocks(replicates, draws, seed, dtype), order


# As for signs of reversals: a study has few numbers of completed replicates.
@lru_cache(maxsize=4)
def _list_kept_blocks(
    replicates: int, draws: int, seed: int, dtype: np.dtype[Any]
) -> tuple[Array, ...]:
    return tuple(weigh_pairs(_draw_kept_counts(replicates, draws, seed)[0], dtype))


@lru_cache(maxsize=4)
def _draw_kept_counts(
    replicates: int, draws: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Draw counts, shape (R, kept), and each draw's index among them, shape (draws,).

    Few replicates can be drawn in few ways, five in 126, so each way is then kept once.
    """
    counts, order = draw_counts(replicates, draws, seed, 0), np.arange(draws)
    if math.comb(2 * replicates - 1, replicates) < draws:
        # Counts as digits to the base R + 1: one number for each way, and equal numbers for equal
        # ways.
        way = (replicates + 1) ** np.arange(replicates) @ counts
        _, first, order = np.unique(way, return_index=True, return_inverse=True)
        counts = np.ascontiguousarray(counts[:, first])
    # They are kept and lent to every condition of as many replicates.
    counts.flags.writeable = order.flags.writeable = False
    return counts, order


def forget() -> None:
    """Free the memory of counts and pair weights that are kept for the next condition."""
    _draw_kept_counts.cache_clear()
    _list_kept_blocks.cache_clear()
