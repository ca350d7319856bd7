"""Sequential evidence on whether a committee's decisions agree, valid at any stopping time.

Runs are independent draws of one decision out of K. Two e-processes are checked after every run;
each bounds by ``alpha`` the probability of a false verdict, at any stopping time (Ville 1939).
E-values of nights, of cases or of options are combined as p-values 1 / e of the largest e so far:
:func:`~plenum.dynamics.multiplicity.holm` holds under any dependence,
:func:`~plenum.dynamics.multiplicity.benjamini_hochberg` if they are independent. The evidence after
n runs depends only on counts (:class:`DecisionTally`), and is kept as logarithms.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenum.dynamics.fit import Floats

ALPHA = 0.05
"""The probability of a false ``stable``, and of a false ``unstable``."""

LARGEST = 1e300
"""Largest e-value in outputs, below the largest float; decisions use the exact logarithms."""

BLOCK = 4096
"""Number of runs that are evaluated together, to limit memory."""

_ABOVE = np.array([0.5, 0.75, 0.95, 0.995])
"""Alternatives to ``unacceptable``, as fractions of the way from it to 1: the true share isn't
known, and the mean over several is never far below that of the nearest one. Below half of the way
an alternative would serve shares that need very many runs: of 0.85, with 0.8 unacceptable, the
evidence of none of these grows."""

_BELOW = np.array([0.1, 0.3, 0.5, 0.7, 0.8, 0.9])
"""Alternatives to ``acceptable``, as fractions of it. With 0.95 acceptable their best grows nearly
as fast as the true share's own would, up to a share of 0.8."""

_NOMINEE = 0.9
"""Weight of the option that run 1 decided for; the others share the rest. With equal weights 22
equal runs of three options would show what 18 do."""


@dataclass(frozen=True)
class Evidence:
    """The evidence of the runs so far on the share of the modal decision.

    Attributes
    ----------
    verdict
        ``stable``: the share is above ``unacceptable``; ``unstable``: it is below ``acceptable``;
        ``undecided``.
    runs
        Number of runs after which the verdict was reached; all of them if there is none.
    log_stable, log_unstable
        Natural logarithms of the largest e-values so far against a share of at most
        ``unacceptable``, and of at least ``acceptable``; a verdict is reached at -log(``alpha``).
    """

    verdict: str
    runs: int
    log_stable: float
    log_unstable: float

    @property
    def stable(self) -> float:
        """The largest e-value for ``stable``, capped by :func:`e_value`."""
        return e_value(self.log_stable)

    @property
    def unstable(self) -> float:
        """The largest e-value for ``unstable``, capped by :func:`e_value`."""
        return e_value(self.log_unstable)


def e_value(log: float) -> float:
    """Return an e-value for output, given its logarithm; at most :data:`LARGEST`."""
    return math.exp(log) if log < math.log(LARGEST) else LARGEST


class RunningEvidence:
    """The evidence on runs that arrive singly or in groups; each run is tested once.

    Parameters
    ----------
    options
        K, at least 2; no decision and a failure are options of their own.
    acceptable, unacceptable
        Shares of the modal decision, 0 < ``unacceptable`` < ``acceptable`` < 1.
    modes
        Number of first options that may be the mode, at least 2; ``None``: all. The others, such as
        failures, never count as a decision that a committee is stable in.

    Raises
    ------
    ValueError
        The shares aren't in order.
    """

    def __init__(
        self,
        options: int,
        *,
        acceptable: float,
        unacceptable: float,
        alpha: float = ALPHA,
        modes: int | None = None,
    ) -> None:
        if not 0 < unacceptable < acceptable < 1:
            raise ValueError(
                f"0 < unacceptable < acceptable < 1, not {unacceptable:g} and {acceptable:g}"
            )
        self._options, self._modes, self._bound = options, modes, -math.log(alpha)
        self._shares = acceptable, unacceptable
        self.tally = DecisionTally.empty(options)
        self._verdict, self._stood = "undecided", 0
        self._stable = self._unstable = 0.0

    @property
    def evidence(self) -> Evidence:
        """The evidence on the runs so far."""
        runs = self._stood or self.tally.runs
        return Evidence(self._verdict, runs, self._stable, self._unstable)

    def add(self, decisions: ArrayLike) -> None:
        """Add the decisions, from 0 to ``options`` - 1, of further runs in their order.

        Raises
        ------
        ValueError
            A decision isn't one of the options.
        """
        path = np.asarray(decisions, int)
        if path.ndim != 1 or self._options < 2 or ((path < 0) | (path >= self._options)).any():
            raise ValueError(f"decisions: a list of numbers from 0 to {self._options - 1}")
        for start in range(0, len(path), BLOCK):
            self._take(path[start : start + BLOCK])

    def _take(self, block: NDArray[np.int_]) -> None:
        acceptable, unacceptable = self._shares
        before = self.tally
        stable = log_stable(block[None], self._options, unacceptable, self._modes, before)[0]
        unstable = log_unstable(block[None], self._options, acceptable, self._modes, before)[0]
        # Only the first crossing counts: the guarantee is for a rule that stops there.
        stands = np.maximum(stable, unstable) >= self._bound
        if not self._stood and stands.any():
            at = int(stands.argmax())
            self._verdict = "stable" if stable[at] >= self._bound else "unstable"
            self._stood = before.runs + at + 1
        first = before.runs == 0
        best = (float(stable.max()), float(unstable.max()))
        # An e-value before any run would be 1, which later ones may never reach.
        self._stable = best[0] if first else max(self._stable, best[0])
        self._unstable = best[1] if first else max(self._unstable, best[1])
        self.tally = before.after(block)


@dataclass(frozen=True)
class DecisionTally:
    """The part of one case's runs that the evidence depends on: counts of decisions.

    Attributes
    ----------
    counts
        Number of decisions for each option, shape (options,).
    first
        The decision of run 1; -1 before it.
    """

    counts: NDArray[np.int_]
    first: int = -1

    @classmethod
    def empty(cls, options: int) -> "DecisionTally":
        """Return the tally before any run."""
        return cls(np.zeros(options, int))

    @property
    def runs(self) -> int:
        """Number of runs."""
        return int(self.counts.sum())

    def after(self, path: NDArray[np.int_]) -> "DecisionTally":
        """Return the tally with further runs."""
        # Run 1 nominates, so that later blocks must know it.
        first = int(path[0]) if self.first < 0 and len(path) else self.first
        return DecisionTally(self.counts + np.bincount(path, minlength=len(self.counts)), first)


def log_stable(
    paths: NDArray[np.int_],
    options: int,
    unacceptable: float,
    modes: int | None = None,
    before: DecisionTally | None = None,
) -> Floats:
    """Return log e-values against: no option has a share above ``unacceptable``.

    Run 1 nominates the option with the highest weight, and isn't used as evidence.

    Parameters
    ----------
    paths
        Decisions of repeated audits, shape (audits, runs).
    modes
        As for :class:`RunningEvidence`.
    before
        The tally of preceding runs, common to all audits; none by default.

    Returns
    -------
    array, shape (audits, runs)
        After each run.
    """
    counts = count_decisions(paths, options)
    first = paths[:, :1]
    if before is not None and before.first >= 0:
        counts, first = counts + before.counts, np.full_like(first, before.first)
    return stable_at(counts, first[..., None], unacceptable, modes)


def log_unstable(
    paths: NDArray[np.int_],
    options: int,
    acceptable: float,
    modes: int | None = None,
    before: DecisionTally | None = None,
) -> Floats:
    """Return log e-values against: some option has a share of at least ``acceptable``.

    Every option must be refuted, so this is the smallest of their e-values. Parameters and result
    are those of :func:`log_stable`.
    """
    counts = count_decisions(paths, options)
    return compute_unstable(counts if before is None else counts + before.counts, acceptable, modes)


def stable_at(
    counts: NDArray[np.int_], first: NDArray[np.int_], share: Any, modes: int | None = None
) -> Floats:
    """Return the values of :func:`log_stable` for counts by option, shape (..., options).

    Parameters
    ----------
    first
        The decision of run 1, broadcastable to shape (..., 1).
    share
        ``unacceptable``, a number or an array broadcastable to (...).
    """
    p = np.asarray(share, float)[..., None]
    among = modes or counts.shape[-1]
    named = np.arange(counts.shape[-1]) == first
    # Run 1 chose the weights: used again as evidence it would be counted twice.
    hits = counts[..., :among] - named[..., :among]
    misses = counts.sum(axis=-1, keepdims=True) - 1 - hits
    bets = _mix(hits, misses, p, p[..., None] + (1 - p[..., None]) * _ABOVE)
    weights = np.where(named[..., :among], _NOMINEE, (1 - _NOMINEE) / (among - 1))
    # Run 1 failed or decided nothing: no option is favoured.
    weights = np.where(named[..., :among].any(axis=-1, keepdims=True), weights, 1 / among)
    return _log_sum(bets + np.log(weights))


def compute_unstable(counts: NDArray[np.int_], share: Any, modes: int | None = None) -> Floats:
    """Return the values of :func:`log_unstable` for counts, shape (..., options)."""
    p = np.asarray(share, float)[..., None]
    # the option that is decided on most is refuted least, since every alternative is below p
    hits = counts[..., :modes].max(axis=-1, keepdims=True)
    misses = counts.sum(axis=-1, keepdims=True) - hits
    return np.asarray(_mix(hits, misses, p, p[..., None] * _BELOW)[..., 0])


def _mix(hits: NDArray[np.int_], misses: NDArray[np.int_], p: Floats, q: Floats) -> Floats:
    """Return the log of the mean likelihood ratio of shares ``q`` to ``p``, shaped as ``hits``.

    Parameters
    ----------
    p, q
        Shapes (..., 1) and (..., 1, alternatives).
    """
    most, worst = (int(counts.max(initial=0)) + 1 for counts in (hits, misses))
    # From twice as many runs as cells of the table on, since making it and looking it up take time,
    # too.
    if p.size == 1 and hits.size > 2 * most * worst:  # of many audits each pair of counts once
        each = np.broadcast_to(np.arange(most)[:, None], (most, worst))
        table = _mix(each, np.broadcast_to(np.arange(worst), each.shape), p, q)
        return np.asarray(table[hits, misses])
    gains: Floats = np.log(q / p[..., None]) * hits[..., None]
    gains += np.log((1 - q) / (1 - p[..., None])) * misses[..., None]
    return np.asarray(_log_sum(gains) - math.log(q.shape[-1]))


def _log_sum(logs: Floats) -> Floats:
    """Return the log of the sum of exponentials over the last axis."""
    # Less the largest: exponentials of long evidence overflow.
    most = logs.max(axis=-1, keepdims=True)
    return np.asarray(np.log(np.exp(logs - most).sum(axis=-1)) + most[..., 0])


def count_decisions(paths: NDArray[np.int_], options: int) -> NDArray[np.int_]:
    """Return cumulative counts of decisions for each option, shape (..., runs, options)."""
    return np.asarray(np.cumsum(paths[..., None] == np.arange(options), axis=-2))


def all_alike(counts: Sequence[int], runs: int) -> float:
    """Return an unbiased estimate of the probability that so many further runs agree.

    Raises
    ------
    ValueError
        There are fewer runs than that.
    """
    total = sum(counts)
    if not 1 <= runs <= total:
        raise ValueError(f"runs: from 1 to {total}")
    return sum(math.comb(count, runs) for count in counts) / math.comb(total, runs)
