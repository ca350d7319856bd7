"""Does a committee decide alike often enough: evidence that holds whenever one stops to look.

Runs are independent draws of one decision out of K. Two e-processes are checked after every run;
each bounds by ``alpha`` the chance of a false verdict, at any stopping time (Ville 1939). E-values
of nights, of cases or of options are combined as p-values 1 / e are:
:func:`~plenum.dynamics.multiplicity.holm` gives e-Holm, and
:func:`~plenum.dynamics.multiplicity.benjamini_hochberg` e-BH, under any dependence.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import logsumexp

from plenum.dynamics.fit import Floats

ALPHA = 0.05
"""The chance of a false ``stable``, and of a false ``unstable``."""

_ABOVE = np.array([0.5, 0.75, 0.95, 0.995])
"""Alternatives to ``unacceptable``, as shares of the way from there to 1."""

_BELOW = np.array([0.1, 0.3, 0.5, 0.7, 0.8, 0.9])
"""Alternatives to ``acceptable``, as shares of it."""

_NOMINEE = 0.9
"""The bet on the option that run 1 names; the others share the rest."""


@dataclass(frozen=True)
class Evidence:
    """What the runs so far say of the share of the modal decision.

    Attributes
    ----------
    verdict
        ``stable``: the share is above ``unacceptable``; ``unstable``: it is below ``acceptable``;
        ``undecided``.
    runs
        After how many runs the verdict stood; all of them where it doesn't.
    stable, unstable
        The largest e-values so far against a share of at most ``unacceptable``, and of at least
        ``acceptable``; a verdict stands from 1 / ``alpha`` on.
    """

    verdict: str
    runs: int
    stable: float
    unstable: float


def evidence(
    decisions: ArrayLike,
    options: int,
    *,
    acceptable: float,
    unacceptable: float,
    alpha: float = ALPHA,
    modes: int | None = None,
) -> Evidence:
    """The verdict on runs in the order in which they were made.

    Parameters
    ----------
    decisions
        Of each run, from 0 to ``options`` - 1; no decision and a failure are options of their own.
    options
        K, at least 2.
    modes
        Which first ones of them may be the mode, at least 2; ``None``: all. The rest, such as
        failures, is never a decision that a committee is stable in.
    acceptable, unacceptable
        Shares of the modal decision, 0 < ``unacceptable`` < ``acceptable`` < 1.

    Raises
    ------
    ValueError
        A decision is none of the options, or the shares aren't in order.
    """
    if not 0 < unacceptable < acceptable < 1:
        raise ValueError(
            f"0 < unacceptable < acceptable < 1, not {unacceptable:g} and {acceptable:g}"
        )
    path = np.asarray(decisions, int)
    if path.ndim != 1 or options < 2 or ((path < 0) | (path >= options)).any():
        raise ValueError(f"decisions: a list of numbers from 0 to {options - 1}")
    if not len(path):
        return Evidence("undecided", 0, 1.0, 1.0)
    stable = log_stable(path[None], options, unacceptable, modes)[0]
    unstable = log_unstable(path[None], options, acceptable, modes)[0]
    bound = -math.log(alpha)
    verdict, runs = "undecided", len(path)
    for n, (for_stable, for_unstable) in enumerate(zip(stable, unstable, strict=True), 1):
        if max(for_stable, for_unstable) >= bound:
            verdict, runs = ("stable" if for_stable >= bound else "unstable"), n
            break
    return Evidence(verdict, runs, math.exp(stable.max()), math.exp(unstable.max()))


def log_stable(
    paths: NDArray[np.int_], options: int, unacceptable: float, modes: int | None = None
) -> Floats:
    """Log e-values against: no option has a share above ``unacceptable``.

    Run 1 nominates the option on which most is bet, and doesn't count.

    Parameters
    ----------
    paths
        Decisions of repeated audits, shape (audits, runs).
    modes
        As of :func:`evidence`.

    Returns
    -------
    array, shape (audits, runs)
        After each run.
    """
    q = unacceptable + (1 - unacceptable) * _ABOVE
    hits = _counts(paths, options)
    hits = hits - hits[:, :1]
    misses = np.arange(paths.shape[1])[:, None] - hits
    bets = _mixed(hits, misses, q, unacceptable)
    among = modes or options
    named = np.arange(among) == paths[:, :1]
    weights = np.where(named, _NOMINEE, (1 - _NOMINEE) / (among - 1))
    weights = np.where(named.any(axis=1, keepdims=True), weights, 1 / among)
    return np.asarray(logsumexp(bets[..., :among], axis=-1, b=weights[:, None]))


def log_unstable(
    paths: NDArray[np.int_], options: int, acceptable: float, modes: int | None = None
) -> Floats:
    """Log e-values against: some option has a share of at least ``acceptable``.

    Every option must be refuted, so that it is the smallest of theirs. Parameters and result as of
    :func:`log_stable`.
    """
    q = acceptable * _BELOW
    hits = _counts(paths, options)
    misses = np.arange(1, paths.shape[1] + 1)[:, None] - hits
    bets = _mixed(hits, misses, q, acceptable)
    return np.asarray(bets[..., :modes].min(axis=-1))


def _mixed(hits: NDArray[np.int_], misses: NDArray[np.int_], q: Floats, p: float) -> Floats:
    """Log of the mean likelihood ratio of the shares ``q`` to ``p``, shape of ``hits``."""
    if hits.size > hits.shape[1] ** 2:  # of many audits each pair of counts once
        each = np.arange(hits.shape[1] + 1)[:, None]
        table = _mixed(each + 0 * each.T, each.T + 0 * each, q, p)
        return np.asarray(table[hits, np.broadcast_to(misses, hits.shape)])
    gains = np.multiply.outer(hits, np.log(q / p))
    losses = np.multiply.outer(misses, np.log((1 - q) / (1 - p)))
    return np.asarray(logsumexp(gains + losses, axis=-1) - math.log(len(q)))


def _counts(paths: NDArray[np.int_], options: int) -> NDArray[np.int_]:
    """How often each option was decided on so far, shape (audits, runs, options)."""
    return np.asarray(np.cumsum(paths[..., None] == np.arange(options), axis=1))


def share_interval(
    decisions: ArrayLike, options: int, alpha: float = ALPHA, modes: int | None = None
) -> tuple[float, float]:
    """The shares of the modal decision that neither e-process refutes, at any number of runs.

    Each side misses the share with a chance of at most ``alpha``. A verdict stands where the
    interval lies above ``unacceptable``, or below ``acceptable``.

    Parameters
    ----------
    decisions, options, modes
        As of :func:`evidence`.
    """
    path = np.asarray(decisions, int)[None]
    if not path.size:
        return 0.0, 1.0
    bound = -math.log(alpha)

    def excess(process: Any, share: float) -> float:
        return float(process(path, options, share, modes).max()) - bound

    above, below = partial(excess, log_stable), partial(excess, log_unstable)
    least, most = 1e-6, 1 - 1e-6
    low = brentq(above, least, most) if above(least) > 0 else 0.0
    high = brentq(below, least, most) if below(most) > 0 else 1.0
    return float(low), float(high)


def all_alike(counts: Sequence[int], runs: int) -> float:
    """Chance that so many further runs decide alike: the unbiased estimate, from 0 to 1.

    Raises
    ------
    ValueError
        There are fewer runs than these.
    """
    total = sum(counts)
    if not 1 <= runs <= total:
        raise ValueError(f"runs: from 1 to {total}")
    return sum(math.comb(count, runs) for count in counts) / math.comb(total, runs)


@cache
def growth_bounds(looks: tuple[int, ...], alpha: float = ALPHA) -> tuple[float, ...]:
    """One-sided p below which λ > 0 is shown at each of several looks.

    O'Brien and Fleming's spending (Lan and DeMets 1983) on information that grows with the number
    of replicates.

    Parameters
    ----------
    looks
        Replicates at each look, growing; the last one is the planned end.

    Raises
    ------
    ValueError
        Looks don't grow.
    """
    from scipy.stats import multivariate_normal, norm

    if not looks or any(b <= a for a, b in zip((0, *looks), looks, strict=False)):
        raise ValueError(f"looks: numbers of replicates that grow, not {looks}")
    times = np.array(looks) / looks[-1]
    spent = 2 * norm.sf(norm.isf(alpha / 2) / np.sqrt(times))
    bounds: list[float] = []
    for at, share in enumerate(np.diff(spent, prepend=0.0)):
        if not at:
            bounds.append(float(norm.isf(share)))
            continue
        part = times[: at + 1]
        corr = np.sqrt(np.minimum.outer(part, part) / np.maximum.outer(part, part))
        joint = multivariate_normal(np.zeros(at + 1), corr)
        before = multivariate_normal(np.zeros(at), corr[:at, :at]).cdf(np.array(bounds))

        crossing = partial(_not_yet, joint, tuple(bounds), float(before - share))
        bounds.append(float(brentq(crossing, 0.0, 9.0, xtol=1e-4)))
    return tuple(float(norm.sf(bound)) for bound in bounds)


def _not_yet(joint: Any, bounds: tuple[float, ...], target: float, bound: float) -> float:
    """How much more of the paths stay below all bounds than the target."""
    return target - float(joint.cdf(np.array([*bounds, bound]), rng=0))
