"""Votes over several runs, evaluated from the runs that were made."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, xlogy

from plenum.dynamics import Floats
from plenum_verdicts.dynamics import STABLE, UNDECIDED, UNSTABLE, CaseVerdict, StabilityRule

SIZES = (3, 5, 7, 9)
"""Numbers of runs in a vote."""

_MOST = 200_000
"""Maximal number of count combinations in the sum."""


@dataclass(frozen=True)
class Vote:
    """A plurality vote of several runs, without failed and undecided ones; ties are drawn.

    Attributes
    ----------
    runs
        Number of voting runs.
    share, low, high
        Share of votes that decide like the vote's mode, with the interval that follows from that of
        a single run: at its lower end all other runs decide for one rival, at its upper end they
        are spread evenly.
    mode
        The most frequent decision of the vote; empty if no run decides anything.
    verdict
        ``stable`` or ``unstable`` if the interval is on one side, else ``undecided``.
    chances
        Probability of winning the vote, for each option that a run decided for.
    """

    runs: int
    share: float
    low: float
    high: float
    mode: str
    verdict: str
    chances: Mapping[str, float]


@dataclass(frozen=True)
class Gain:
    """The largest gain of any vote, over any number of runs (moments of single runs: 2605.03379).

    Attributes
    ----------
    most
        Gain in the share of equal decisions: from one run's share to 1, at best.
    sure
        True if enough runs come arbitrarily close to 1: the mode has a majority.
    """

    most: float
    sure: bool


def bound_gain(case: CaseVerdict) -> Gain:
    """Return the bound on the gain of a vote on a case."""
    return Gain(1 - case.share, case.low > 0.5)


def vote(case: CaseVerdict, options: Sequence[str], runs: int, rule: StabilityRule) -> Vote | None:
    """Evaluate a vote over runs of a case, by an exact sum over their possible decisions.

    Returns
    -------
    Vote or None
        ``None`` if there are no runs, or too many options for the sum.
    """
    decided = [case.counts[option] for option in options]
    kept = [option for option, count in zip(options, decided, strict=True) if count]
    if not kept or math.comb(runs + len(kept), len(kept)) > _MOST:
        return None
    shares = np.array([case.counts[option] for option in kept]) / case.runs
    chances = decides(shares, runs)
    best = int(chances.argmax())
    low = float(decides(np.array([case.low, 1 - case.low]), runs)[0])
    rivals = max(len(options) - 1, 1)
    spread = np.array([case.high, *[(1 - case.high) / rivals] * rivals])
    high = float(decides(spread, runs)[0]) if rivals <= 5 else 1.0
    verdict = UNDECIDED
    if low > rule.unacceptable:
        verdict = STABLE
    elif high < rule.acceptable:
        verdict = UNSTABLE
    share = float(chances[best])
    won = {option: float(chance) for option, chance in zip(kept, chances, strict=True)}
    return Vote(runs, share, min(low, share), max(high, share), kept[best], verdict, won)


def evaluate_votes(
    cases: Mapping[str, tuple[CaseVerdict, Sequence[str]]], rule: StabilityRule
) -> list[list[Vote]]:
    """Evaluate votes over runs of several cases: a list per size, with a vote per case."""
    by_size = [
        [vote(case, options, runs, rule) for case, options in cases.values()] for runs in SIZES
    ]
    whole = [[each for each in row if each is not None] for row in by_size]
    return [row for row in whole if len(row) == len(cases) > 0]


def decides(shares: Floats, runs: int) -> Floats:
    """Return the probability that each option wins a vote, with ties drawn.

    Parameters
    ----------
    shares
        Shares of single runs that decide for it, shape (options,); the rest doesn't vote.
    runs
        Number of voting runs, which are independent draws.
    """
    p = np.append(shares, max(1 - shares.sum(), 0.0))
    won = np.zeros(len(shares))
    counts = np.array(list(_splits(runs, len(p))))
    logs = gammaln(runs + 1) - gammaln(counts + 1).sum(axis=1) + xlogy(counts, p).sum(axis=1)
    real = counts[:, :-1]
    most = real.max(axis=1, keepdims=True)
    winners = (real == most) & (most > 0)
    share = winners / np.maximum(winners.sum(axis=1, keepdims=True), 1)
    won += (np.exp(logs)[:, None] * share).sum(axis=0)
    return won


def _splits(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to split a number into so many ordered parts."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _splits(total - first, parts - 1):
            yield first, *rest
