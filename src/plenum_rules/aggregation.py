"""Rules of aggregation: pure functions from the seats' votes or states to one decision.

Every function takes arrays whose last axes are (seats,) or (seats, options), with any axes before
them, and returns the index of an option with those axes before; :data:`NONE` where it decides for
none. One deliberation is an array without further axes.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Options = NDArray[np.int_]

NONE = -1
"""The index that stands for no decision, and for a seat without one vote."""

_TIE = 1e-9
"""Scores that differ by less are tied: stated shares are decimals, whose sums have rounding."""


@dataclass(frozen=True)
class LastWords:
    """Votes and states at the end of deliberations.

    Attributes
    ----------
    votes
        The option that each seat votes for, shape (..., seats); :data:`NONE` for no one option.
    preferences
        The shares that each seat gives to the options, shape (..., seats, options).
    confidences
        The confidence that each seat states, 0 to 100, shape (..., seats).
    """

    votes: Options
    preferences: Floats
    confidences: Floats

    @property
    def options(self) -> int:
        """The number of options."""
        return int(self.preferences.shape[-1])


def find_sole_top(scores: ArrayLike) -> Options:
    """Find the option with the highest score; :data:`NONE` where several have it.

    Parameters
    ----------
    scores
        Shape (..., options).

    Examples
    --------
    >>> from plenum_rules.aggregation import find_sole_top
    >>> find_sole_top([[0.2, 0.8], [0.5, 0.5]]).tolist()
    [1, -1]
    """
    array = np.asarray(scores, dtype=float)
    top = array >= array.max(axis=-1, keepdims=True) - _TIE
    return np.where(top.sum(axis=-1) == 1, top.argmax(axis=-1), NONE)


def count_votes(votes: ArrayLike, options: int) -> Options:
    """Count the seats that vote for each option, shape (..., options).

    Examples
    --------
    >>> from plenum_rules.aggregation import count_votes
    >>> count_votes([0, 2, 2, -1], 3).tolist()
    [1, 0, 2]
    """
    array = np.asarray(votes, dtype=int)
    return np.asarray((array[..., None] == np.arange(options)).sum(axis=-2))


def decide_by_majority(votes: ArrayLike, options: int) -> Options:
    """Decide for the option that more than half of all seats vote for.

    Examples
    --------
    >>> from plenum_rules.aggregation import decide_by_majority
    >>> decide_by_majority([[0, 0, 0, 1, 2], [0, 0, 1, 1, 2]], 3).tolist()
    [0, -1]
    """
    return _decide_above(votes, options, lambda votes, seats: 2 * votes > seats)


def decide_by_supermajority(votes: ArrayLike, options: int) -> Options:
    """Decide for the option that at least two thirds of all seats vote for.

    Examples
    --------
    >>> from plenum_rules.aggregation import decide_by_supermajority
    >>> decide_by_supermajority([[0, 0, 0, 0, 1], [0, 0, 0, 1, 1]], 2).tolist()
    [0, -1]
    """
    return _decide_above(votes, options, lambda votes, seats: 3 * votes >= 2 * seats)


def decide_by_mean(preferences: ArrayLike) -> Options:
    """Decide for the top of the mean preference: the linear opinion pool (Stone 1961).

    Examples
    --------
    >>> from plenum_rules.aggregation import decide_by_mean
    >>> int(decide_by_mean([[0.6, 0.4], [0.6, 0.4], [0.0, 1.0]]))
    1
    """
    return find_sole_top(np.asarray(preferences, dtype=float).mean(axis=-2))


def decide_by_weighted_mean(preferences: ArrayLike, confidences: ArrayLike) -> Options:
    """Decide for the top of the mean preference in which confident seats weigh more.

    Where no seat is confident at all, all weigh the same.

    Examples
    --------
    >>> from plenum_rules.aggregation import decide_by_weighted_mean
    >>> int(decide_by_weighted_mean([[0.6, 0.4], [0.3, 0.7]], [90, 20]))
    0
    """
    weights = np.asarray(confidences, dtype=float)
    weights = np.where(weights.sum(axis=-1, keepdims=True) > 0, weights, 1.0)
    weighted = weights[..., None] * np.asarray(preferences, dtype=float)
    return find_sole_top(weighted.sum(axis=-2) / weights.sum(axis=-1)[..., None])


def decide_by_median(preferences: ArrayLike) -> Options:
    """Decide for the option with the highest median share over seats.

    Examples
    --------
    >>> from plenum_rules.aggregation import decide_by_median
    >>> int(decide_by_median([[0.6, 0.4], [0.6, 0.4], [0.0, 1.0]]))
    0
    """
    return find_sole_top(np.median(np.asarray(preferences, dtype=float), axis=-2))


def decide_by_borda(preferences: ArrayLike) -> Options:
    """Decide by Borda's count: a seat gives each option the number of options below it.

    Of two options with equal shares each gives half a point to the other.

    Examples
    --------
    >>> from plenum_rules.aggregation import decide_by_borda
    >>> int(decide_by_borda([[0.6, 0.4, 0.0], [0.6, 0.4, 0.0], [0.0, 0.4, 0.6]]))
    0
    """
    shares = np.asarray(preferences, dtype=float)
    apart = shares[..., :, None] - shares[..., None, :]
    below = (apart > _TIE).sum(axis=-1) + 0.5 * (np.abs(apart) <= _TIE).sum(axis=-1)
    return find_sole_top(below.sum(axis=-2))


def decide_for_seat(votes: ArrayLike, seat: int) -> Options:
    """Decide for what one seat votes for: a dictator.

    Examples
    --------
    >>> from plenum_rules.aggregation import decide_for_seat
    >>> decide_for_seat([[2, 0, 0], [1, 1, 0]], 0).tolist()
    [2, 1]
    """
    return np.asarray(votes, dtype=int)[..., seat]


def _decide_above(
    votes: ArrayLike, options: int, enough: Callable[[Options, int], NDArray[np.bool_]]
) -> Options:
    array = np.asarray(votes, dtype=int)
    decided = enough(count_votes(array, options), array.shape[-1])
    return np.where(decided.any(axis=-1), decided.argmax(axis=-1), NONE)


AGGREGATIONS: dict[str, Callable[[LastWords], Options]] = {
    "majority": lambda last: decide_by_majority(last.votes, last.options),
    "supermajority": lambda last: decide_by_supermajority(last.votes, last.options),
    "states": lambda last: decide_by_majority(find_sole_top(last.preferences), last.options),
    "mean": lambda last: decide_by_mean(last.preferences),
    "median": lambda last: decide_by_median(last.preferences),
    "confidence": lambda last: decide_by_weighted_mean(last.preferences, last.confidences),
    "borda": lambda last: decide_by_borda(last.preferences),
}
"""The rules of aggregation by name."""
