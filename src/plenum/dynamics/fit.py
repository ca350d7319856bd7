"""The fit that every estimator uses: distances, rounds, and slopes of log D(t)."""

import operator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenum.dynamics.divergence import as_ensemble, pairwise_distances

WINDOW = (3, 20)
"""The papers' fit window: rounds 3 to 20, both included, counted from 1."""

Floats = NDArray[np.float64]
Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Fit:
    """One ensemble over the rounds of a fit, and its distances.

    Attributes
    ----------
    rounds
        Rounds of the window that the ensemble has, counted from 1, shape (rounds,).
    points
        The ensemble in these rounds, shape (replicates, rounds, options).
    distances
        Between replicates, shape (replicates, replicates, rounds).
    """

    rounds: Floats
    points: Floats
    distances: Floats

    @property
    def replicates(self) -> int:
        """Number of replicates."""
        return len(self.distances)

    @cached_property
    def pairs(self) -> Floats:
        """Distances pair by pair, i < j, shape (pairs, rounds)."""
        # k=1: without the diagonal, a replicate's distance of 0 to itself, which would only dilute
        # D.
        return np.asarray(self.distances[np.triu_indices(self.replicates, 1)])

    @cached_property
    def total(self) -> Floats:
        """Sum of the distances of all pairs, shape (rounds,)."""
        return np.asarray(self.pairs.sum(axis=0))

    @property
    def level(self) -> Floats:
        """D(t) over the window, shape (rounds,)."""
        # One replicate has no pairs: its level is 0 and not 0/0.
        return self.total / max(len(self.pairs), 1)

    @cached_property
    def used(self) -> NDArray[np.bool_]:
        """Rounds with D > 0, shape (rounds,)."""
        return np.asarray(self.total > 0)

    @property
    def value(self) -> float:
        """λ̂; NaN where fewer than two rounds have D > 0."""
        return float(slope(self.rounds, self.total))

    @cached_property
    def left_out(self) -> Floats:
        """λ̂ without each replicate in turn, shape (replicates,)."""
        return slope(self.rounds, sum_without_each(self.distances))


def fit_distances(ensemble: ArrayLike, window: tuple[int, int] = WINDOW) -> Fit:
    """Measure an ensemble's distances over a window.

    Parameters
    ----------
    ensemble
        Committee mean preferences, shape (R, T, K).
    window
        First and last round, counted from 1; rounds beyond T are ignored.

    Raises
    ------
    ValueError
        The ensemble or the window is malformed.
    """
    try:
        # operator.index takes NumPy's integers, and no floats or texts.
        first, last = (operator.index(bound) for bound in window)
    except (TypeError, ValueError):
        # As a window that is none: the message below names what was given.
        first = last = 0
    if not 1 <= first < last:
        raise ValueError(f"a window is (first, last) with 1 <= first < last, not {window!r}")
    points = as_ensemble(ensemble)[:, first - 1 : last]
    distances = pairwise_distances(ensemble)[:, :, first - 1 : last]
    return Fit(np.arange(first, first + points.shape[1], dtype=float), points, distances)


def sum_without_each(distances: Floats) -> Floats:
    """Sum over pairs without each replicate in turn.

    Parameters
    ----------
    distances
        Non-negative, symmetric, zero on the diagonal: shape (R, R, rounds).

    Returns
    -------
    array, shape (R, rounds)
        The residue of sums that are exactly zero is zero.
    """
    # The matrix has each pair twice; a replicate's row has each of its pairs once.
    total = distances.sum(axis=(0, 1)) / 2
    rest = total[None, :] - distances.sum(axis=1)
    # A difference of two equal sums leaves some 1e-16 of them, which log would make a level.
    return np.asarray(np.where(rest < 1e-12 * total, 0.0, rest))


def slope(rounds: Floats, level: Floats) -> Floats:
    """Least-squares slopes of log(level) on the rounds where it is positive.

    Parameters
    ----------
    rounds
        Shape (rounds,).
    level
        Non-negative, shape (..., rounds). Its scale does not matter.

    Returns
    -------
    array, shape (...)
        NaN where fewer than two rounds are positive.
    """
    positive = level > 0
    # A round at zero gets any finite logarithm: its weight x is 0 below.
    logs = np.log(np.where(positive, level, 1.0))
    count = positive.sum(axis=-1, keepdims=True)
    x = np.where(positive, rounds, 0.0)
    # Centred on the rounds that count: the level's scale, an additive constant of log, then drops
    # out.
    x = np.where(positive, rounds - x.sum(axis=-1, keepdims=True) / np.maximum(count, 1), 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        slopes = (x * logs).sum(axis=-1) / (x * x).sum(axis=-1)
    return np.asarray(np.where(count[..., 0] >= 2, slopes, np.nan))


def contrast_weights(rounds: Floats) -> Floats:
    """Weights k with Σ k log D = the least-squares slope, shape (rounds,)."""
    x = rounds - rounds.mean()
    return np.asarray(x / (x @ x))


def jackknife_se(left_out: Floats) -> float:
    """Delete-one jackknife standard error; NaN below three values or with one that is NaN."""
    # Without one of two replicates no pair is left, so that two have no jackknife.
    if len(left_out) < 3 or not np.isfinite(left_out).all():
        return float("nan")
    deviations = left_out - left_out.mean()
    # (n - 1)/n · Σ (θ₋ᵣ - mean)² (Efron and Tibshirani 1993, eq. 11.5).
    return float(np.sqrt((len(left_out) - 1) / len(left_out) * (deviations @ deviations)))
