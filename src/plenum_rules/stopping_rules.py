"""Rules of stopping: pure functions from the states of all rounds to the round that is the last.

Each takes preferences of shape (runs, rounds, seats, options) and returns one round a run, from 1.
Where a rule never stops a run, that is the run's last round.
"""

from functools import cache

import numpy as np
import scipy
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from plenum_rules.aggregation import (
    NONE,
    Floats,
    Options,
    count_votes,
    decide_by_majority,
    find_sole_top,
)

_MEANS = np.linspace(0.01, 0.99, 99)
_CONCENTRATIONS = np.geomspace(0.1, 300, 40)
"""The grid on which a Beta-binomial is fitted: its mean, and the sum of its two parameters."""


def stop_at_round(preferences: ArrayLike, number: int) -> Options:
    """Stop every run after a round.

    Examples
    --------
    >>> import numpy as np
    >>> from plenum_rules.stopping_rules import stop_at_round
    >>> stop_at_round(np.full((2, 6, 3, 2), 0.5), 4).tolist()
    [4, 4]
    """
    runs, rounds = np.shape(preferences)[:2]
    return np.full(runs, min(number, rounds))


def stop_at_stable_majority(preferences: ArrayLike, rounds: int) -> Options:
    """Stop a run once a majority of seats had the same option on top for some rounds in a row.

    Parameters
    ----------
    rounds
        In how many rounds, the last one included.

    Examples
    --------
    >>> import numpy as np
    >>> from plenum_rules.stopping_rules import stop_at_stable_majority
    >>> run = np.eye(2)[[[0, 1, 1], [0, 0, 1], [0, 0, 1], [0, 0, 0]]][None]
    >>> stop_at_stable_majority(run, 2).tolist()
    [3]
    """
    array = np.asarray(preferences, dtype=float)
    majority = decide_by_majority(find_sole_top(array), array.shape[-1])
    return _first(_lasts(majority, rounds))


def stop_at_unanimity(preferences: ArrayLike) -> Options:
    """Stop a run once all seats have the same option on top.

    Examples
    --------
    >>> import numpy as np
    >>> from plenum_rules.stopping_rules import stop_at_unanimity
    >>> run = np.eye(2)[[[0, 1, 1], [0, 0, 1], [0, 0, 0], [0, 0, 0]]][None]
    >>> stop_at_unanimity(run).tolist()
    [3]
    """
    array = np.asarray(preferences, dtype=float)
    votes = count_votes(find_sole_top(array), array.shape[-1])
    return _first(votes.max(axis=-1) == array.shape[2])


def stop_at_plateau(preferences: ArrayLike, distance: float = 0.05, rounds: int = 2) -> Options:
    """Stop all runs once the number of seats behind the leading option no longer changes.

    In every round a Beta-binomial is fitted to the numbers of seats, over runs, that have the
    round's most frequent option on top. All runs end in the first round in which the fit differs
    from that of the round before by less than ``distance`` (the largest difference of the
    distribution functions, as Kolmogorov and Smirnov's), some rounds in a row. The rule needs
    several runs at once. Its source fits a mixture of two Beta-binomials to many tasks; for five
    seats and one task such a mixture has as many parameters as the counts have degrees of freedom.

    Sources: Hu et al. 2025, arXiv 2510.12697.

    Examples
    --------
    >>> import numpy as np
    >>> from plenum_rules.stopping_rules import stop_at_plateau
    >>> run = np.eye(2)[[[0, 1, 1], [0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]]
    >>> stop_at_plateau(np.stack([run] * 10)).tolist()[:2]
    [5, 5]
    """
    array = np.asarray(preferences, dtype=float)
    runs, length, seats, options = array.shape
    votes = count_votes(find_sole_top(array), options)
    leading = votes.sum(axis=0).argmax(axis=-1)
    counts = votes[:, np.arange(length), leading]
    fitted = np.array([_fit_beta_binomial(counts[:, number], seats) for number in range(length)])
    near = np.abs(np.diff(fitted.cumsum(axis=-1), axis=0)).max(axis=-1) < distance
    still = np.concatenate([[False], near])
    stopped: Options = np.repeat(_first(_lasts(np.where(still, 0, NONE)[None], rounds)), runs)
    return stopped


def _fit_beta_binomial(counts: Options, seats: int) -> Floats:
    """Fit by maximum likelihood on a grid; the probabilities of 0 to ``seats``."""
    frequencies = np.bincount(counts, minlength=seats + 1)
    pmf = _beta_binomials(seats)
    likelihood = frequencies @ np.log(np.maximum(pmf, 1e-300)).T
    return np.asarray(pmf[likelihood.argmax()])


@cache
def _beta_binomials(seats: int) -> Floats:
    """Return the probabilities of 0 to ``seats`` on the grid, shape (points, seats + 1)."""
    mean, sum_of_both = np.meshgrid(_MEANS, _CONCENTRATIONS)
    a, b = (mean * sum_of_both).ravel(), ((1 - mean) * sum_of_both).ravel()
    return np.asarray(
        scipy.stats.betabinom.pmf(np.arange(seats + 1), seats, a[:, None], b[:, None])
    )


def _lasts(options: Options, rounds: int) -> NDArray[np.bool_]:
    """Find where one option, not :data:`NONE`, has stood for some rounds in a row."""
    if rounds > options.shape[1]:
        return np.zeros(options.shape, dtype=bool)
    last = sliding_window_view(options, rounds, axis=1)
    same = (last == last[..., :1]).all(axis=-1) & (last[..., 0] != NONE)
    return np.pad(same, ((0, 0), (rounds - 1, 0)))


def _first(holds: NDArray[np.bool_]) -> Options:
    """Return the first round, from 1, in which it holds; where it never does, the last round."""
    found = holds.any(axis=1)
    return np.asarray(np.where(found, holds.argmax(axis=1) + 1, holds.shape[1]), dtype=int)
