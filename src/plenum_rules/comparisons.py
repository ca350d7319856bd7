"""Disagreement under a rule against that under the protocol: differences, intervals and tests."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from plenum_rules.aggregation import Floats

FEW = 10
"""Fewer conditions of so many runs in which something differs give no interval and no test: of one
to four conditions tests reject up to 16 % and intervals hold in 75 %."""


@dataclass(frozen=True)
class PairedDifference:
    """The difference in disagreement between a rule and the protocol, in one condition.

    Attributes
    ----------
    rule, protocol
        The chance that two runs end differently, under each.
    left_out
        The difference without each run in turn, shape (runs,).
    """

    rule: float
    protocol: float
    left_out: Floats

    @property
    def difference(self) -> float:
        """The rule's disagreement minus the protocol's: below zero the rule steadies."""
        return self.rule - self.protocol

    @property
    def variance(self) -> float:
        """The jackknife's variance of the difference (Arvesen 1969)."""
        runs = len(self.left_out)
        spread = ((self.left_out - self.left_out.mean()) ** 2).sum()
        return float((runs - 1) / runs * spread)


@dataclass(frozen=True)
class MeanDifference:
    """The mean difference over conditions.

    It speaks of these conditions, and of other runs of them.

    Attributes
    ----------
    value, ci_low, ci_high
        The mean, and its 95 % interval by Student's t, cut to [-1, 1].
    p
        Two-sided, of no difference in the mean. It is 1 where no decision differs. Interval and p
        are NaN where fewer than :data:`FEW` conditions of as many runs have a variance.
    conditions
        Over how many.
    """

    value: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan
    p: float = math.nan
    conditions: int = 0


def disagree(decisions: ArrayLike) -> tuple[float, Floats]:
    """Compute the chance that two runs end differently, of all runs and without each in turn.

    Both are unbiased: shares of pairs of runs.

    Parameters
    ----------
    decisions
        One whole number a run, shape (runs,), at least three of them.

    Examples
    --------
    >>> from plenum_rules.comparisons import disagree
    >>> value, left_out = disagree([0, 0, 0, 1])
    >>> value, left_out.round(3).tolist()
    (0.5, [0.667, 0.667, 0.667, 0.0])
    """
    _, kind, counts = np.unique(np.asarray(decisions), return_inverse=True, return_counts=True)
    runs = len(kind)
    agreeing = (counts * (counts - 1)).sum() / 2
    without = agreeing - (counts[kind] - 1)
    pairs, fewer = math.comb(runs, 2), math.comb(runs - 1, 2)
    return float(1 - agreeing / pairs), np.asarray(1 - without / fewer, dtype=float)


def pair_decisions(rule: ArrayLike, protocol: ArrayLike) -> PairedDifference:
    """Pair the decisions of a rule with those of the protocol, run by run.

    Examples
    --------
    >>> from plenum_rules.comparisons import pair_decisions
    >>> pair_decisions([0, 0, 0, 0], [0, 0, 0, 1]).difference
    -0.5
    """
    ours, ours_without = disagree(rule)
    theirs, theirs_without = disagree(protocol)
    return PairedDifference(ours, theirs, ours_without - theirs_without)


def pair_statistic(
    statistic: Callable[[tuple[int, ...]], float], protocol: ArrayLike
) -> PairedDifference:
    """Pair a statistic of the counts of decisions with the protocol's disagreement.

    Parameters
    ----------
    statistic
        Takes how many runs decided for what, in the order of the decisions' numbers.
    protocol
        The decisions, shape (runs,).
    """
    _, kind, counts = np.unique(np.asarray(protocol), return_inverse=True, return_counts=True)
    theirs, theirs_without = disagree(protocol)
    one_less = counts - np.eye(len(counts), dtype=int)
    without = np.array([statistic(tuple(fewer.tolist())) for fewer in one_less])
    return PairedDifference(
        statistic(tuple(counts.tolist())), theirs, without[kind] - theirs_without
    )


def average(pairs: Sequence[PairedDifference]) -> MeanDifference:
    """Average differences over conditions, whose runs are independent.

    The variance is the sum of the jackknife's variances; Satterthwaite's formula gives the degrees
    of freedom.

    Examples
    --------
    >>> from plenum_rules.comparisons import average, pair_decisions
    >>> steadied = pair_decisions([0] * 10, [0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
    >>> round(average([steadied] * 3).value, 3)
    -0.533
    """
    if not pairs:
        return MeanDifference()
    value = sum(pair.difference for pair in pairs) / len(pairs)
    parts = np.array([pair.variance for pair in pairs])
    known = [p > 0 and len(pair.left_out) >= FEW for p, pair in zip(parts, pairs, strict=True)]
    if sum(known) < FEW:
        same = all(pair.difference == 0 and not pair.left_out.any() for pair in pairs)
        return MeanDifference(value, p=1.0 if same else math.nan, conditions=len(pairs))
    freedom = parts.sum() ** 2 / sum(
        part**2 / (len(pair.left_out) - 1) for part, pair in zip(parts, pairs, strict=True)
    )
    se = math.sqrt(parts.sum()) / len(pairs)
    margin = float(stdtrit(freedom, 0.975)) * se
    p = 2 * float(stdtr(freedom, -abs(value) / se))
    low, high = max(value - margin, -1.0), min(value + margin, 1.0)
    return MeanDifference(value, low, high, p, len(pairs))
