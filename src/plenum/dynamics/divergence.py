"""Divergence of an ensemble: the distances between its replicates, round by round."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

ZERO = 1e-9
"""Distances below this are exact zeros; float residue would otherwise enter logarithms. Preferences
are stated with a few decimals, whose distances are far larger."""


def as_ensemble(ensemble: ArrayLike) -> NDArray[np.float64]:
    """Check an ensemble.

    Parameters
    ----------
    ensemble
        Committee mean preferences, shape (replicates, rounds, options).

    Raises
    ------
    ValueError
        The shape isn't (R, T, K) with T >= 1 and K >= 2, or a value isn't finite.
    """
    array = np.asarray(ensemble, dtype=float)
    # A single option would always have all of the preference, and D would be 0.
    if array.ndim != 3 or array.shape[1] < 1 or array.shape[2] < 2:
        raise ValueError(
            f"an ensemble has shape (replicates, rounds >= 1, options >= 2), not {array.shape}"
        )
    if not np.isfinite(array).all():
        raise ValueError("an ensemble holds finite numbers only")
    return array


def pairwise_distances(ensemble: ArrayLike) -> NDArray[np.float64]:
    """Euclidean distance of every pair of replicates in every round.

    Parameters
    ----------
    ensemble
        Shape (R, T, K).

    Returns
    -------
    array, shape (R, R, T)
        Symmetric in its first two axes; values below 1e-9 are exact zeros.
    """
    array = as_ensemble(ensemble)
    replicates, rounds, options = array.shape
    squares = np.zeros((replicates, replicates, rounds))
    for k in range(options):  # one by one: all at once take a third axis of gigabytes
        squares += (array[:, None, :, k] - array[None, :, :, k]) ** 2
    distances = np.sqrt(squares)
    return np.where(distances < ZERO, 0.0, distances)


def divergence(ensemble: ArrayLike) -> NDArray[np.float64]:
    """Mean pairwise distance per round, D(t) (Eq. 1 of both instability papers).

    Parameters
    ----------
    ensemble
        Committee mean preferences, shape (R, T, K).

    Returns
    -------
    array, shape (T,)
        From 0 to about 0.94 for many replicates and three options; NaN for fewer than two
        replicates.

    Raises
    ------
    ValueError
        The shape isn't (R, T, K) with T >= 1 and K >= 2, or a value isn't finite.

    Examples
    --------
    Two replicates that agree in the first of two rounds:

    >>> import plenum
    >>> plenum.divergence([[[0.5, 0.5], [0.6, 0.4]], [[0.5, 0.5], [0.4, 0.6]]]).round(3)
    array([0.   , 0.283])
    """
    distances = pairwise_distances(ensemble)
    replicates = distances.shape[0]
    if replicates < 2:
        return np.full(distances.shape[2], np.nan)
    return np.asarray(distances.sum(axis=(0, 1)) / (replicates * (replicates - 1)))


def sort_replicates(ensemble: ArrayLike) -> NDArray[np.float64]:
    """Sort replicates by what they hold, so that their order changes no draw of a random test.

    Parameters
    ----------
    ensemble
        Committee mean preferences, shape (R, T, K).

    Raises
    ------
    ValueError
        The ensemble is malformed.

    Examples
    --------
    >>> from plenum.dynamics.divergence import sort_replicates
    >>> sort_replicates([[[0.6, 0.4]], [[0.2, 0.8]]])[:, 0, 0]
    array([0.6, 0.2])
    """
    array = as_ensemble(ensemble)
    # An ensemble without replicates has no keys, which `lexsort` refuses.
    return array[np.lexsort(array.reshape(len(array), -1).T)] if array.size else array
