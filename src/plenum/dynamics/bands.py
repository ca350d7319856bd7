"""Bands of D(t): the uncertainty of each round's divergence."""

import numpy as np
from numpy.typing import ArrayLike

from plenum.dynamics.divergence import pairwise_distances
from plenum.dynamics.estimate import margin
from plenum.dynamics.fit import Floats, sum_without_each


def divergence_band(ensemble: ArrayLike) -> tuple[Floats, Floats]:
    """Pointwise 95 % intervals of D(t) over replicates.

    D is a mean over pairs. Its delete-one jackknife leaves replicates out whole and pairs none
    with itself, so that the level isn't moved as it is by a bootstrap; log D ± t(R-1) standard
    errors keeps the limits above zero.

    Parameters
    ----------
    ensemble
        Committee mean preferences, shape (R, T, K).

    Returns
    -------
    low, high : arrays, shape (T,)
        NaN with fewer than three replicates, and in rounds in which D is zero or rests on one
        replicate alone. They hold round by round, not for the whole curve at once.
    """
    distances = pairwise_distances(ensemble)
    count, rounds = distances.shape[0], distances.shape[2]
    # Without one of two replicates no pair is left, and so no level to vary.
    if count < 3:
        return np.full(rounds, np.nan), np.full(rounds, np.nan)
    # Every pair stands in the matrix twice, hence R (R - 1) and not C(R, 2).
    level = distances.sum(axis=(0, 1)) / (count * (count - 1))
    # Without one replicate there are C(R - 1, 2) pairs.
    rest = sum_without_each(distances) / ((count - 1) * (count - 2) / 2)
    # The logarithm needs D > 0 also without each replicate in turn.
    known = (level > 0) & (rest > 0).all(axis=0)
    middle = np.log(np.where(known, level, np.nan))
    logs = np.log(np.where(known, rest, np.nan))
    deviations = logs - logs.mean(axis=0)
    # Jackknife standard error (Efron and Tibshirani 1993, eq. 11.5), round by round.
    error = np.sqrt((count - 1) / count * (deviations**2).sum(axis=0))
    half = margin(1.0, count - 1) * error
    return np.exp(middle - half), np.exp(middle + half)
