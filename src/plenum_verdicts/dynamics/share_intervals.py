"""Anytime-valid intervals of the share of the modal decision, for many cases at once.

A share is refuted if an e-process against it ever reached the bound. Each case's limit is the
largest (or smallest) of those from its single numbers of runs. It is found by going from one number
to the next better one, for all cases together.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenum.dynamics.fit import Floats
from plenum_verdicts.dynamics.sequential import ALPHA, compute_unstable, count_decisions, stable_at

_LEAST, _MOST = 1e-6, 1 - 1e-6
"""At 0 and 1 the logarithms of likelihood ratios are infinite; a limit there is written as 0 or
1."""
_ROWS = 1 << 15
"""Number of rows evaluated at once, to limit memory. The number is plenum's own: with five outcomes
and four alternatives arrays of 5 MB."""

_HALVINGS = 44
"""Of a range of 1 so many leave 6e-14, which no output shows."""

Process = Callable[[NDArray[np.int_], NDArray[np.int_], Floats], Floats]
"""A function of counts by option, run 1's decision, and shares that returns log e-values."""


def share_interval(
    decisions: ArrayLike, options: int, alpha: float = ALPHA, modes: int | None = None
) -> tuple[float, float]:
    """Return the shares of the modal decision that are never refuted.

    Each side misses the share with a probability of at most ``alpha``. A verdict is reached if the
    interval is above ``unacceptable``, or below ``acceptable``.

    Parameters
    ----------
    decisions, options, modes
        As for :class:`plenum_verdicts.dynamics.sequential.RunningEvidence`.
    """
    return share_intervals([np.asarray(decisions, int)], options, alpha, modes)[0]


def share_intervals(
    paths: Sequence[NDArray[np.int_]], options: int, alpha: float = ALPHA, modes: int | None = None
) -> list[tuple[float, float]]:
    """Return the intervals of :func:`share_interval` for the runs of several cases."""
    known = [index for index, path in enumerate(paths) if len(path)]
    limits = [(0.0, 1.0)] * len(paths)
    if not known:
        return limits
    counts = np.concatenate([count_decisions(paths[index], options) for index in known])
    first = np.array([paths[index][0] for index in known])
    lengths = np.array([len(paths[index]) for index in known])
    bound = -math.log(alpha)
    stable: Process = lambda n, one, share: stable_at(n, one, share, modes)  # noqa: E731
    unstable: Process = lambda n, _, share: compute_unstable(n, share, modes)  # noqa: E731
    # From the share that is refuted most easily towards the other end, as far as any run refutes.
    low = _limits(stable, counts, first, lengths, bound, _LEAST, _MOST)
    high = _limits(unstable, counts, first, lengths, bound, _MOST, _LEAST)
    for index, *limit in zip(
        known, np.where(low == _LEAST, 0.0, low), np.where(high == _MOST, 1.0, high), strict=True
    ):
        limits[index] = float(limit[0]), float(limit[1])
    return limits


def _limits(
    process: Process,
    counts: NDArray[np.int_],
    first: NDArray[np.int_],
    lengths: NDArray[np.int_],
    bound: float,
    easy: float,
    hard: float,
) -> Floats:
    """Return the limits of the shares that a process ever refutes; ``easy`` if it never does.

    Parameters
    ----------
    counts
        Counts after each run of each case, concatenated over cases, shape (rows, options).
    first, lengths
        Decision of run 1, and number of runs, for each case.
    easy, hard
        The range of limits; the first one is refuted most easily.
    """
    shares = np.full(len(first), easy)
    ends = np.cumsum(lengths)
    going = np.arange(len(first))
    while len(going):
        # Only cases whose limit still moves: most are done after a few rounds.
        rows = np.concatenate([np.arange(ends[c] - lengths[c], ends[c]) for c in going])
        case = np.repeat(going, lengths[going])
        values = _in_parts(process, counts[rows], first[case][:, None], shares[case])
        starts = np.cumsum(lengths[going]) - lengths[going]
        best = np.maximum.reduceat(values, starts)
        open_ = best >= bound
        position = np.arange(len(values)) - np.repeat(starts, lengths[going])
        # Of equal values the first number of runs, so that every machine goes the same way.
        where = np.where(values == np.repeat(best, lengths[going]), position, len(values))
        at = rows[starts + np.minimum.reduceat(where, starts)][open_]
        going = going[open_]
        if len(going):
            refutes = partial(process, counts[at], first[going][:, None])
            # This number of runs refutes up to here; at the next share another one may refute more.
            shares[going] = _find_crossing(refutes, shares[going], hard, bound)
    return shares


def _find_crossing(
    process: Callable[[Floats], Floats], shares: Floats, hard: float, bound: float
) -> Floats:
    """Find by bisection the shares at which log e-values fall below the bound."""
    above, below = shares, np.full(len(shares), hard)
    for _ in range(_HALVINGS):
        middle = (above + below) / 2
        refuted = process(middle) >= bound
        above, below = np.where(refuted, middle, above), np.where(refuted, below, middle)
    return np.asarray(below)  # where this number of runs refutes it no more


def _in_parts(
    process: Process, counts: NDArray[np.int_], first: NDArray[np.int_], shares: Floats
) -> Floats:
    """Evaluate a process in parts, to limit memory."""
    cuts = [slice(at, at + _ROWS) for at in range(0, len(counts), _ROWS)]
    return np.concatenate([process(counts[cut], first[cut], shares[cut]) for cut in cuts])
