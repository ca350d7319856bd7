"""Intervals of the share of the modal decision that hold at any number of runs: of many cases.

A share is refuted where an e-process against it ever reached the bound. Each case's limit is the
largest (or smallest) of those that its numbers of runs give one by one, and is found by going from
one number to the next better one: all cases are looked at together.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenum.dynamics.fit import Floats
from plenum_audit.dynamics.sequential import ALPHA, stable_at, unstable_at

_LEAST, _MOST = 1e-6, 1 - 1e-6
_ROWS = 1 << 15
"""Rows that are evaluated at once, so that memory stays small."""

_HALVINGS = 44

Process = Callable[[NDArray[np.int_], NDArray[np.int_], Floats], Floats]
"""Log e-values from counts by option, from what run 1 decided, and from the shares refuted."""


def share_interval(
    decisions: ArrayLike, options: int, alpha: float = ALPHA, modes: int | None = None
) -> tuple[float, float]:
    """The shares of the modal decision that neither e-process refutes, at any number of runs.

    Each side misses the share with a chance of at most ``alpha``. A verdict stands where the
    interval lies above ``unacceptable``, or below ``acceptable``.

    Parameters
    ----------
    decisions, options, modes
        As of :func:`plenum_audit.dynamics.sequential.evidence`.
    """
    return share_intervals([np.asarray(decisions, int)], options, alpha, modes)[0]


def share_intervals(
    paths: Sequence[NDArray[np.int_]],
    options: int,
    alpha: float = ALPHA,
    modes: int | None = None,
) -> list[tuple[float, float]]:
    """As :func:`share_interval`, for the runs of each of several cases."""
    known = [index for index, path in enumerate(paths) if len(path)]
    limits = [(0.0, 1.0)] * len(paths)
    if not known:
        return limits
    counts = np.concatenate([_counts(paths[index], options) for index in known])
    first = np.array([paths[index][0] for index in known])
    lengths = np.array([len(paths[index]) for index in known])
    bound = -math.log(alpha)
    stable: Process = lambda n, one, share: stable_at(n, one, share, modes)  # noqa: E731
    unstable: Process = lambda n, _, share: unstable_at(n, share, modes)  # noqa: E731
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
    """The shares of cases up to which a process ever refutes them; ``easy`` where it never does.

    Parameters
    ----------
    counts
        After each run of each case, one case after the other, shape (rows, options).
    first, lengths
        Of each case: what run 1 decided, and how many runs there are.
    easy, hard
        The shares between which limits lie: a process refutes the first one most readily.
    """
    shares = np.full(len(first), easy)
    ends = np.cumsum(lengths)
    going = np.arange(len(first))
    while len(going):
        rows = np.concatenate([np.arange(ends[c] - lengths[c], ends[c]) for c in going])
        case = np.repeat(going, lengths[going])
        values = _in_parts(process, counts[rows], first[case][:, None], shares[case])
        starts = np.cumsum(lengths[going]) - lengths[going]
        best = np.maximum.reduceat(values, starts)
        open_ = best >= bound
        position = np.arange(len(values)) - np.repeat(starts, lengths[going])
        where = np.where(values == np.repeat(best, lengths[going]), position, len(values))
        at = rows[starts + np.minimum.reduceat(where, starts)][open_]
        going = going[open_]
        if len(going):
            refutes = partial(process, counts[at], first[going][:, None])
            shares[going] = _crossing(refutes, shares[going], hard, bound)
    return shares


def _crossing(
    process: Callable[[Floats], Floats], shares: Floats, hard: float, bound: float
) -> Floats:
    """Where log e-values that are above the bound at some shares fall below it, by halving."""
    above, below = shares, np.full(len(shares), hard)
    for _ in range(_HALVINGS):
        middle = (above + below) / 2
        refuted = process(middle) >= bound
        above, below = np.where(refuted, middle, above), np.where(refuted, below, middle)
    return np.asarray(below)  # where this number of runs refutes it no more


def _in_parts(
    process: Process, counts: NDArray[np.int_], first: NDArray[np.int_], shares: Floats
) -> Floats:
    """The values of a process, in parts whose memory is small."""
    cuts = [slice(at, at + _ROWS) for at in range(0, len(counts), _ROWS)]
    return np.concatenate([process(counts[cut], first[cut], shares[cut]) for cut in cuts])


def _counts(path: NDArray[np.int_], options: int) -> NDArray[np.int_]:
    return np.asarray(np.cumsum(path[:, None] == np.arange(options), axis=0))
