"""Plurality votes of whole committees: what steadies decisions without an idea."""

from collections import Counter
from functools import lru_cache
from math import comb

import numpy as np

from plenum.dynamics.fit import Floats
from plenum_verdicts.suites.suite_runs import Codes

MOST_VOTES = 15
"""Number of committees in the largest vote. The number is plenum's own: a vote of 15 costs 15
committees, and ways to win grow with the size."""


def share_votes(counts: Codes, size: int) -> Floats:
    """Return the chance of each decision to win a vote of some of the runs that were made.

    Every set of ``size`` distinct runs is as likely, and a tie is shared fairly, both exactly and
    not by draws. So the product of two wordings' chances is an unbiased estimate of how often votes
    of new committees would agree.

    Parameters
    ----------
    counts
        Runs by decision, in the last axis; any shape.
    size
        Number of runs that vote; where fewer were made all chances are 0.

    Returns
    -------
    array
        Chances, of the shape of ``counts``.

    Examples
    --------
    >>> share_votes(np.array([[2, 1], [1, 2]]), 3).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    >>> share_votes(np.array([3, 2, 0]), 1).round(2).tolist()
    [0.6, 0.4, 0.0]
    """
    if size == 1:  # the share of runs, which needs no table
        runs = counts.sum(-1, keepdims=True)
        # A wording that a case lacks has no runs: its chances are 0, and not 0/0.
        return np.asarray(counts / np.maximum(runs, 1), np.float64)
    rows, place = np.unique(counts.reshape(-1, counts.shape[-1]), axis=0, return_inverse=True)
    chances = np.zeros(rows.shape)
    for number, row in enumerate(rows):
        if row.sum() >= size:
            # Sorted: votes don't depend on names, so that equal numbers share an entry of the
            # cache.
            won = _win(tuple(sorted(row[row > 0].tolist())), size)
            # Names don't matter to a vote: equal numbers of runs have equal chances.
            chances[number, row > 0] = [won[count] for count in row[row > 0].tolist()]
    return chances[place.ravel()].reshape(counts.shape)


# Few combinations of counts occur in many cases and wordings; a jackknife asks for them again.
@lru_cache(65_536)
def _win(counts: tuple[int, ...], size: int) -> dict[int, float]:
    """Return the chance to win of a decision by its number of runs."""
    others = {own: Counter(counts) - Counter([own]) for own in counts}
    return {own: _win_against(own, [*rest.elements()], size) for own, rest in others.items()}


def _win_against(own: int, others: list[int], size: int) -> float:
    won = 0.0
    # Over all numbers of votes with which it may win: no more than it has runs, or than vote.
    for votes in range(1, min(own, size) + 1):
        # ways[n, t]: ways in which others have n votes together, none above, t of them as many
        ways = np.zeros((size - votes + 1, len(others) + 1))
        ways[0, 0] = 1
        for count in others:
            following = np.zeros_like(ways)
            for each in range(min(count, votes, size - votes) + 1):
                moved = comb(count, each) * ways[: len(ways) - each]
                tied = int(each == votes)
                following[each:, tied:] += moved[:, : len(others) + 1 - tied]
            ways = following
        # A tie with t others is won with a chance of 1 / (t + 1).
        won += comb(own, votes) * float((ways[-1] / np.arange(1, len(others) + 2)).sum())
    return won / comb(own + sum(others), size)


def compare_wordings(votes: Floats) -> Floats:
    """Return how often decisions at two different wordings differ, by case.

    Parameters
    ----------
    votes
        Chances of decisions by case, wording and decision, shape (C, W, K).

    Returns
    -------
    array
        Shape (C,); NaN for a case with fewer than two wordings.

    Examples
    --------
    >>> compare_wordings(np.array([[[1.0, 0.0], [0.5, 0.5]]])).tolist()
    [0.5]
    """
    wordings = (votes.sum(2) > 0).sum(1).astype(float)
    # Σ over pairs of different wordings p_v · p_w = |Σ p|² - Σ |p|², without a loop.
    alike = (votes.sum(1) ** 2).sum(1) - (votes**2).sum((1, 2))
    pairs = wordings * (wordings - 1)
    return np.asarray(1 - alike / np.where(pairs > 0, pairs, np.nan), np.float64)


def compare_reruns(counts: Codes) -> Floats:
    """Return how often two runs at one wording differ, by case, shape (C,); NaN without reruns.

    Examples
    --------
    >>> compare_reruns(np.array([[[2, 1], [3, 0]]])).round(3).tolist()
    [0.333]
    """
    runs = counts.sum(2)
    pairs = np.where(runs > 1, runs * (runs - 1), np.nan)
    apart = 1 - (counts * (counts - 1)).sum(2) / pairs
    known = np.isfinite(apart)
    cells = np.where(known.any(1), known.sum(1), np.nan)
    return np.asarray(np.where(known, apart, 0).sum(1) / cells, np.float64)


def measure_quality(votes: Floats, right: Floats) -> Floats:
    """Return how right decisions are by case, shape (C,): the mean over its wordings.

    Parameters
    ----------
    votes
        Chances of decisions, shape (C, W, K).
    right
        How right each is, shape (C, K).

    Examples
    --------
    >>> measure_quality(np.array([[[1.0, 0.0], [0.5, 0.5]]]), np.array([[1.0, 0.0]])).tolist()
    [0.75]
    """
    wordings = (votes.sum(2) > 0).sum(1)
    return np.asarray((votes * right[:, None]).sum((1, 2)) / wordings, np.float64)


def estimate_run_variance(
    counts: Codes, steadiness: dict[int, float], quality: float, right: Floats
) -> Floats:
    """Return by how much a case's estimate varies from run to run: the jackknife over its runs.

    Parameters
    ----------
    counts
        Runs by case, wording and decision, shape (C, W, K).
    steadiness
        Weights of the disagreement of votes, by the number of runs that vote.
    quality
        Weight of the accuracy of single runs.
    right
        How right each decision is, shape (C, K).

    Returns
    -------
    array
        Variances, shape (C,).

    Examples
    --------
    >>> runs = np.array([[[3, 1], [2, 2]]])
    >>> estimate_run_variance(runs, {}, 1.0, np.array([[1.0, 0.0]])).round(4).tolist()
    [0.0365]
    """
    runs = counts.sum(2)
    wordings = (runs > 0).sum(1)[:, None]
    votes = {size: share_votes(counts, size) for size in {*steadiness, 1}}
    moved = np.zeros(counts.shape)
    # Runs that decide alike move the estimate alike, so that one of each decision is left out.
    for option in range(counts.shape[2]):
        fewer = counts.copy()
        fewer[..., option] -= counts[..., option] > 0
        for size, weight in steadiness.items():
            change = share_votes(fewer, size) - votes[size]
            others = votes[size].sum(1, keepdims=True) - votes[size]
            # A pair has two wordings, each of which may be the one that lost a run.
            scale = 2 * weight / (wordings * (wordings - 1))
            moved[..., option] -= scale * (change * others).sum(2)
        change = share_votes(fewer, 1) - votes[1]
        moved[..., option] += quality * (change * right[:, None]).sum(2) / wordings
    many = np.maximum(runs, 1)
    # The jackknife's variance at each wording, whose runs are independent of the others'.
    centre = (counts * moved).sum(2) / many
    spread = (counts * (moved - centre[..., None]) ** 2).sum(2)
    # (n - 1)/n · Σ (moved - mean)², as many times for a decision as it has runs.
    return np.asarray((spread * (many - 1) / many).sum(1), np.float64)
