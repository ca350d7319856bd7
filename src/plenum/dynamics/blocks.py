"""Blocks of replicates, such as days: whether replicates of one resemble each other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenum.dynamics.fit import Floats
from plenum.dynamics.resampling import DRAWS


@dataclass(frozen=True)
class BlockSplit:
    """The share of pairs that end differently, within blocks and between them.

    Attributes
    ----------
    blocks, n
        Number of blocks, and of replicates.
    within, between
        Chance that two replicates of one block, and of two blocks, decide differently.
    distance_within, distance_between
        Mean distance between their committees' preferences, over all rounds.
    p
        Of exchangeability over blocks, by permutation; NaN where no order of labels would differ.
    """

    blocks: int
    n: int
    within: float
    between: float
    distance_within: float
    distance_between: float
    p: float


def split_blocks(
    blocks: Sequence[str],
    decisions: Sequence[str],
    preferences: ArrayLike,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> BlockSplit | None:
    """Compare replicates of the same block with those of different ones.

    Where replicates are exchangeable, any order of their blocks' labels is as likely as the one
    that was met (Fisher 1935): p is the share of drawn orders in which replicates of different
    blocks are as much farther apart. There are two such tests, by decisions and by distances, and p
    is twice the smaller one's.

    Parameters
    ----------
    blocks, decisions
        One a replicate.
    preferences
        Committee mean preferences, shape (R, T, K).
    draws, seed
        Permutations, and their seed.

    Returns
    -------
    BlockSplit or None
        ``None`` with fewer than two blocks, or where no block has two replicates.

    Examples
    --------
    Five runs of one day decide otherwise than five of the next:

    >>> import numpy as np
    >>> from plenum.dynamics.blocks import split_blocks
    >>> preferences = np.repeat([[[1.0, 0.0]], [[0.0, 1.0]]], 5, axis=0)
    >>> found = split_blocks(["Mon"] * 5 + ["Tue"] * 5, list("AAAAABBBBB"), preferences)
    >>> found.within, found.between, found.p < 0.05
    (0.0, 1.0, True)
    """
    array = np.asarray(preferences, float)
    # In an order of what replicates hold, so that the draws don't depend on their numbers.
    order = sorted(range(len(blocks)), key=lambda i: (decisions[i], array[i].tobytes(), blocks[i]))
    labels = np.unique([blocks[i] for i in order], return_inverse=True)[1]
    first, second = np.triu_indices(len(order), 1)
    same = labels[first] == labels[second]
    # Without a pair within a block, or between two, there is nothing to compare.
    if not same.any() or same.all():
        return None
    chosen = np.array([decisions[i] for i in order])
    array = array[order]
    # Measured once for every pair: a permutation only moves pairs between the two groups.
    apart = np.array(
        [
            # Two measures: blocks may decide alike and get there otherwise, or the reverse.
            chosen[first] != chosen[second],
            np.linalg.norm(array[first] - array[second], axis=2).mean(1),
        ],
        float,
    )
    found = _compare(apart, same)
    source = np.random.Generator(np.random.PCG64(seed))
    drawn = (source.permutation(labels) for _ in range(draws))
    drawn_found = np.array([_compare(apart, each[first] == each[second]) for each in drawn])
    # An order that only adds up its terms otherwise is a tie, which counts as met.
    more = (drawn_found >= found - 1e-12).sum(0)
    # The order that was met is one of them, so that p is never 0; doubled for two tests.
    # Where no pair is apart every order gives 0: p = 1 would sound like a test that was made.
    p = float(min(1.0, 2 * ((1 + more) / (1 + draws)).min())) if apart.any() else math.nan
    within, between = apart[:, same].mean(1).tolist(), apart[:, ~same].mean(1).tolist()
    return BlockSplit(
        blocks=int(labels.max()) + 1,
        n=len(order),
        within=within[0],
        between=between[0],
        distance_within=within[1],
        distance_between=between[1],
        p=p,
    )


def _compare(apart: Floats, same: NDArray[np.bool_]) -> Floats:
    """Return by how much farther apart pairs of different blocks are, by each measure."""
    means: Floats = apart[:, ~same].mean(1) - apart[:, same].mean(1)
    return means
