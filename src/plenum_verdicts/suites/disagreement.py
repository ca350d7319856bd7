"""Disagreement between the runs of a suite, and bounds on the number of its unsteady cases."""

import math
from bisect import bisect_left
from dataclasses import dataclass, replace

import numpy as np
import scipy

from plenum.dynamics.fit import Floats
from plenum_verdicts.suites.intervals import SuiteEstimate, estimate_mean_of_cases
from plenum_verdicts.suites.suite_runs import Codes, SuiteRuns, sum_groups

ERROR = 0.05
"""Probability with which a pair of bounds may miss."""


def estimate_disagreement(runs: SuiteRuns) -> SuiteEstimate:
    """Estimate how likely two runs of a case end differently, on average over cases.

    Parameters
    ----------
    runs
        Cases with one run are left out.

    Examples
    --------
    >>> runs = SuiteRuns.of({"a": ["x", "x", "y", "x"], "b": ["x", "x", "x", "x"]})
    >>> estimate_disagreement(runs).value
    0.25
    """
    apart = runs.disagreements()
    # Many runs of a case tell its own variance, few don't.
    repeats = runs.repeats[runs.repeats > 1]
    each = float(repeats.mean()) if len(repeats) else 0.0
    variances = _raise_to_least(variances_of_disagreements(runs, apart), runs, apart)
    # Runs divide a weight there: 1 stands for none.
    found = estimate_mean_of_cases(apart, variances, max(each, 1.0))
    # Where all runs agree the estimated variance is 0, which says nothing of what is possible.
    if found.cases and not np.nansum(apart):
        return replace(found, these=(0.0, limit_without_differences(runs.repeats)))
    return found


def limit_without_differences(repeats: Codes, tail: float = 0.025) -> float:
    """Return the largest mean disagreement with which all runs of all cases likely agree.

    Runs of a case whose disagreement is g agree in n runs with a chance of at most
    (1 - g)^(n / 2), since Σ p^n ≤ (Σ p²)^(n / 2). Of all ways to share out a mean disagreement, the
    product over cases is largest where 1 - g is proportional to n, up to 1. The limit is exact: it
    is missed with a probability of at most ``tail``, whichever the cases are.

    Parameters
    ----------
    repeats
        Number of runs by case, shape (N,); cases with one run are left out.

    Examples
    --------
    >>> round(limit_without_differences(np.full(50, 4)), 4)
    0.0362
    """
    n = repeats[repeats > 1].astype(float)

    def chance(level: float) -> float:
        return float((n / 2 * np.log(np.minimum(level * n, 1))).sum()) - math.log(tail)

    # At this level every case may agree always: the chance is 1. Towards 0 it falls to 0.
    most = float(1 / n.min())
    # From a millionth of it on: there even two runs of one case agree with a chance of 1e-6 alone.
    level = float(scipy.optimize.brentq(chance, most * 1e-6, most))
    return float(1 - np.minimum(level * n, 1).mean())


def bound_lost_runs(runs: SuiteRuns, cases: int, repeats: int) -> tuple[float, float]:
    """Return the disagreement if all lost runs ended as most do, and if each ended differently.

    Parameters
    ----------
    cases, repeats
        Numbers of cases and of runs of each that were planned.

    Examples
    --------
    >>> bound_lost_runs(SuiteRuns.of({"a": ["x", "x"], "b": ["x", "y"]}), 2, 2)
    (0.5, 0.5)
    >>> bound_lost_runs(SuiteRuns.of({"a": ["x", "x"]}), 2, 2)
    (0.0, 0.5)
    """
    case, _, count = runs.cells
    most = np.zeros(len(runs.cases))
    np.maximum.at(most, case, count)
    n, alike = runs.repeats, sum_groups(case, count.astype(float) ** 2, len(most))
    # A lost run differs, at the least, from those that don't end as most do; at the most from all,
    # also lost ones.
    lost = np.maximum(repeats - n, 0)
    pairs = (n + lost) * (n + lost - 1) / 2
    apart, known = (n**2 - alike) / 2, pairs > 0
    low = (apart + lost * (n - most))[known] / pairs[known]
    high = (apart + lost * n + lost * (lost - 1) / 2)[known] / pairs[known]
    total = max(cases, len(most))  # cases of which nothing is there may never differ, or always
    missing = total - int(known.sum())
    return float(low.sum()) / total, (float(high.sum()) + missing) / total


def variances_of_disagreements(runs: SuiteRuns, apart: Floats) -> Floats:
    """Estimate the variance of each case's disagreement around its own mean, shape (N,).

    It is U² less the mean of h(1, 2) h(3, 4) over choices of four runs, where h is 1 for runs that
    end differently: without bias. Of two or three runs it is U², which is too large on average.

    Parameters
    ----------
    apart
        The disagreements U, shape (N,).
    """
    n = runs.repeats.astype(float)
    case, _, count = runs.cells
    # Sums of powers of counts: from these all numbers of pairs and fours follow without a loop.
    s2, s3, s4 = (sum_groups(case, count.astype(float) ** p, len(n)) for p in (2, 3, 4))
    with np.errstate(divide="ignore", invalid="ignore"):
        four = n * (n - 1) * (n - 2) * (n - 3)
        # h = 1 - alike: the mean of (1 - alike₁₂)(1 - alike₃₄), over fours of different runs.
        product = 1 - 2 * (s2 - n) / (n * (n - 1)) + _alike_twice(n, s2, s3, s4) / four
        return np.asarray(np.where(n > 3, apart**2 - product, np.where(n > 1, apart**2, 0.0)))


def _raise_to_least(variances: Floats, runs: SuiteRuns, apart: Floats) -> Floats:
    """Return variances whose sum isn't below what a case's chance g makes at least.

    The variance of U is at least 2 g (1 - g) / (n (n - 1)) (Hoeffding 1948), and no more of a coin:
    estimates for a few coins may be far smaller, just where U is large.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        pairs = runs.repeats * (runs.repeats - 1.0)
        least = 2 * (apart - apart**2 + variances) / pairs  # g² is U² less its variance
    # Only the sum counts: of one case the estimate of g (1 - g) may be anything.
    return least if np.nansum(least) > np.nansum(variances) else variances


def _alike_twice(n: Floats, s2: Floats, s3: Floats, s4: Floats) -> Floats:
    """Count ordered fours of different runs (a, b, c, d) with a like b, and c like d."""
    # All four of one outcome with c runs: Σ c (c - 1) (c - 2) (c - 3), multiplied out.
    same = s4 - 6 * s3 + 11 * s2 - 6 * n
    # Pairs of two outcomes: (Σ c (c - 1))², less what is of one outcome twice, Σ (c (c - 1))².
    squares = (s2 - n) ** 2 - (s4 - 2 * s3 + s2)
    return same + squares


def _contradictions(runs: SuiteRuns) -> int:
    """Return the number of cases of which two runs ended differently."""
    case, _, _ = runs.cells
    return int((np.bincount(case, minlength=len(runs.cases)) > 1).sum())


@dataclass(frozen=True)
class UnsteadyCases:
    """Bounds on the share of cases whose most frequent outcome has less than some share of runs.

    Attributes
    ----------
    share
        That share of runs.
    these
        Bounds for these cases, which hold together with a probability of at least 95 %.
    like
        Bounds for cases like these, likewise.
    """

    share: float
    these: tuple[float, float]
    like: tuple[float, float]


def bound_unsteady_cases(runs: SuiteRuns, share: float = 0.95) -> UnsteadyCases:
    """Bound the share of cases whose mode has less than ``share`` of the runs, exactly.

    A case at or above the share contradicts itself in k runs with a probability of at most
    1 - share^k, since the other runs may all differ; a case below it with at least
    1 - share^k - (1 - share)^k. The number of cases that did refutes numbers of unsteady cases with
    which so many, or so few, would occur with a probability of under 2.5 %, whichever cases these
    are. For cases like these the mean chance is bounded as by Clopper and Pearson (Hoeffding 1956
    for unequal ones).

    Parameters
    ----------
    share
        From 0.5 to below 1.

    Raises
    ------
    ValueError
        The share is below 0.5, or 1 or above.
    """
    # Below a half a case may have two such outcomes, or none that is the mode.
    if not 0.5 <= share < 1:
        raise ValueError(f"share: {share}; from 0.5 to below 1")
    # One run contradicts itself with a chance of 0, and bounds nothing.
    runs = runs.where_repeated(2)
    cases, contradicted = len(runs.cases), _contradictions(runs)
    if not cases:
        return UnsteadyCases(share, (0.0, 1.0), (0.0, 1.0))
    # Cases with as many runs have one chance: by groups the distribution takes one convolution
    # each.
    repeats, sizes = np.unique(runs.repeats, return_counts=True)
    steady = np.asarray(1 - share**repeats, np.float64)
    unsteady = np.asarray(steady - (1 - share) ** repeats, np.float64)
    tail = ERROR / 2

    # Which cases these are isn't known: those whose absence refutes least are left out.
    def may_be(bad: int) -> bool:
        return _at_least(contradicted - bad, _without(sizes, bad), steady) >= tail

    def may_be_steady(good: int) -> bool:
        # From the other end: without the cases of most runs the rest contradict themselves least.
        left = _without(sizes[::-1], good)
        return _at_most(contradicted, left, unsteady[::-1]) >= tail

    low = bisect_left(range(cases), True, key=may_be)
    high = cases - bisect_left(range(cases), True, key=may_be_steady)
    alike = cases - contradicted
    shapes = [contradicted, contradicted + 1], [alike + 1, alike]
    limits = scipy.stats.beta.ppf([tail, 1 - tail], *shapes)
    # There is no such distribution if none or all contradict themselves.
    least, most = np.where(np.isnan(limits), (0.0, 1.0), limits).tolist()
    # A share q of unsteady cases makes at most q + (1 - q)·worst contradictions, and at least q
    # times the smallest chance of an unsteady case: solved for q.
    worst = steady.max()
    like = max((least - worst) / (1 - worst), 0.0), min(most / unsteady.min(), 1.0)
    return UnsteadyCases(share, (low / cases, high / cases), like)


def _without(sizes: Codes, removed: int) -> Codes:
    """Return the sizes of groups after so many cases left, from the first group on."""
    before = np.cumsum(sizes) - sizes
    return np.asarray(sizes - np.clip(removed - before, 0, sizes))


def _at_least(count: int, sizes: Codes, chances: Floats) -> float:
    """Return the probability of at least so many contradictions in groups of cases."""
    if count <= 0:
        return 1.0
    weights = _counts(sizes, chances)
    return float(weights[count:].sum())


def _at_most(count: int, sizes: Codes, chances: Floats) -> float:
    return float(_counts(sizes, chances)[: count + 1].sum())


def _counts(sizes: Codes, chances: Floats) -> Floats:
    """Return the distribution of the number of contradictions in groups of cases."""
    weights = np.ones(1)
    for size, chance in zip(sizes, chances, strict=True):
        if size:
            own = scipy.stats.binom.pmf(np.arange(size + 1), size, chance)
            # Groups are independent: their counts add up, so that distributions are convolved.
            # By Fourier's transform, since plain sums would take the square of thousands of cases.
            weights = scipy.signal.fftconvolve(weights, own) if len(weights) > 1 else own
    # Fourier's residue may lie below 0.
    return np.maximum(weights, 0.0)
