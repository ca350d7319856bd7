"""Decisions of an ensemble: disagreement within one ensemble and between two."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, stdtrit

NO_MAJORITY = "NONE"
"""The decision of a replicate whose ballots gave no option a majority."""


@dataclass(frozen=True)
class Share:
    """A share of independent units with its 95 % interval.

    Attributes
    ----------
    value, ci_low, ci_high
        From 0 to 1; NaN without units. The interval of a count is Clopper and Pearson's.
    count
        Units counted; ``None`` where the share isn't a count's.
    n
        Units.
    """

    value: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan
    count: int | None = 0
    n: int = 0


def estimate_share(total: float, n: int) -> Share:
    """Estimate a share with Clopper and Pearson's interval, exact if ``total`` is a count.

    Parameters
    ----------
    total
        How many of the units, or the sum of shares of units: a unit's share lies between 0 and 1,
        so that no mean of them varies more than a count does.
    n
        Units.

    Raises
    ------
    ValueError
        ``total`` doesn't lie between 0 and ``n``.
    """
    if not 0 <= total <= n:
        raise ValueError(f"{total} of {n} isn't a share")
    if n == 0:
        return Share()
    # Clopper and Pearson's limits as quantiles of the beta law (Brown, Cai and DasGupta 2001).
    low = float(betaincinv(total, n - total + 1, 0.025)) if total else 0.0
    high = float(betaincinv(total + 1, n - total, 0.975)) if total < n else 1.0
    # A sum of shares of units counts nothing, even if its interval is that of a count.
    return Share(total / n, low, high, round(total) if total == int(total) else None, n)


def tally(decisions: Sequence[str]) -> dict[str, int]:
    """Count the replicates by decision: the most frequent first, ties in the order of labels.

    Parameters
    ----------
    decisions
        One a replicate; ``NONE`` where no option had a majority.
    """
    counts = Counter(decisions)
    # Of equally frequent ones no majority comes last, whatever the labels are.
    order = sorted(counts, key=lambda d: (-counts[d], d == NO_MAJORITY, d))
    return {decision: counts[decision] for decision in order}


def flip_rate(decisions: Sequence[str]) -> Share:
    """Share of replicates whose decision isn't the modal one (Table S5).

    ``NONE`` is a decision of its own. From 0 to 1 - 1/categories, and biased at small R: the mode
    is chosen by the replicates that it is compared with (two equally likely decisions average
    0.412 at R = 20). `pairwise_disagreement` isn't biased.

    Parameters
    ----------
    decisions
        One a replicate.

    Returns
    -------
    Share
        The share, its 95 % interval, the number of flips and of replicates; NaN without replicates.

    Examples
    --------
    >>> import plenum
    >>> rate = plenum.flip_rate(["A"] * 17 + ["NONE"] * 3)
    >>> rate.value, round(rate.ci_low, 2), round(rate.ci_high, 2)
    (0.15, 0.03, 0.38)
    """
    return estimate_share(len(decisions) - _modal(decisions), len(decisions))


def pairwise_disagreement(decisions: Sequence[str]) -> Share:
    """Probability that two replicates decide differently: R/(R-1) · (1 - Σ p̂²), unbiased.

    The interval depends on the decisions that occur. One: from 0 to 1 - (1 - u)², with u the
    Clopper-Pearson limit of a share of 0 out of R. Two: the values that D takes over the
    Clopper-Pearson interval of their shares, while a third that didn't occur has up to u (a
    jackknife covers 82 % at an even split of R = 20). More: a jackknife with t(R-1) and the
    U-statistic's second-order variance, cut to [0, 1]; where no two
    replicates agree, from the Poisson limit of 0 agreements on.

    Parameters
    ----------
    decisions
        One a replicate; ``NONE`` is a decision of its own.

    Returns
    -------
    Share
        NaN for fewer than two replicates.

    Examples
    --------
    >>> import plenum
    >>> found = plenum.pairwise_disagreement(["A", "A", "A", "B"])
    >>> round(found.value, 3), found.n
    (0.5, 4)
    """
    n = len(decisions)
    if n < 2:
        return Share(count=None, n=n)
    counts = Counter(decisions)
    value = _disagreement(counts, n)
    if len(counts) == 1:
        # Others may have up to u together: two replicates agree in (1 - u)² of cases at least.
        return Share(0.0, 0.0, 1 - (1 - estimate_share(0, n).ci_high) ** 2, None, n)
    # Two replicates that differ have no jackknife: without one of them there is no pair.
    if n < 3:
        return Share(value, 0.0, 1.0, None, n)
    if len(counts) == 2:
        # Either of the two does, since 2 p (1 - p) is the same for both.
        return Share(value, *_of_two(min(counts.values()), n, value), None, n)
    if len(counts) == n:
        # With C(n, 2) pairs and m agreements expected, none is met with e^-m: 2.5 % at m = -ln
        # 0.025.
        return Share(value, max(1 + 2 * math.log(0.025) / (n * (n - 1)), 0.0), 1.0, None, n)
    # Replicates of one decision leave the same rest: once for each decision is enough.
    without = {d: _disagreement(counts - Counter([d]), n - 1) for d in counts}
    left_out = np.array([without[d] for d in decisions])
    first = (n - 1) / n * ((left_out - left_out.mean()) ** 2).sum()
    # At an even split the first-order part vanishes, and a jackknife alone says "certain".
    second = 2 * value * max(1 - value, 0.0) / (n * (n - 1))
    margin = float(stdtrit(n - 1, 0.975) * math.sqrt(first + second))
    return Share(value, max(value - margin, 0.0), min(value + margin, 1.0), None, n)


@dataclass(frozen=True)
class McNemar:
    """An exact McNemar test.

    Attributes
    ----------
    only_first, only_second
        Pairs in which the first alone, or the second alone, is true.
    difference
        Share of the first minus share of the second.
    p
        Two-sided, exact: binomial on the discordant pairs.
    n
        Pairs.
    """

    only_first: int
    only_second: int
    difference: float
    p: float
    n: int


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> McNemar:
    """Compare two yes-or-no outcomes of the same units.

    For example, a variant may flip the decision after deliberation, and may flip the one-shot vote.

    Parameters
    ----------
    first, second
        One a unit, in the same order.

    Returns
    -------
    McNemar
        The discordant pairs, the difference of the two shares, and p.

    Raises
    ------
    ValueError
        The lengths differ or are zero.

    Examples
    --------
    Six wordings: one flips the decision after deliberation, four flip the one-shot vote.

    >>> import plenum
    >>> after_deliberation = [True, False, False, False, False, False]
    >>> one_shot = [True, True, True, True, False, False]
    >>> test = plenum.mcnemar(after_deliberation, one_shot)
    >>> test.difference, test.p
    (-0.5, 0.25)
    """
    if len(first) != len(second) or not len(first):
        raise ValueError(f"pairs are needed, not {len(first)} and {len(second)} outcomes")
    from scipy.stats import binomtest

    # Pairs that agree say nothing about a difference: only discordant ones are counted.
    b = sum(bool(x) and not y for x, y in zip(first, second, strict=True))
    c = sum(bool(y) and not x for x, y in zip(first, second, strict=True))
    # Without a difference each discordant pair is a fair coin (McNemar 1947, exact form).
    p = float(binomtest(b, b + c).pvalue) if b + c else 1.0
    return McNemar(b, c, (b - c) / len(first), p, len(first))


def _of_two(count: int, n: int, value: float) -> tuple[float, float]:
    """Limits of the disagreement for a share p of ``count`` out of ``n``; they hold the estimate.

    A third decision that didn't occur has a share from 0 to Clopper and Pearson's limit.
    """
    p = estimate_share(count, n)
    ends = [2 * limit * (1 - limit) for limit in (p.ci_low, p.ci_high)]
    # D is smooth and concave in the third share, with a second derivative of -4 at least: steps of
    # a hundredth of a limit of 0.71 at most miss its top by less than 3e-5.
    third = np.linspace(0, estimate_share(0, n).ci_high, 101)
    # For a given third share D is largest where the two others are as even as p's limits allow.
    first = np.clip((1 - third) / 2, p.ci_low, p.ci_high)
    most = 1 - first**2 - (1 - first - third) ** 2 - third**2
    # R/(R-1) may lift the estimate over both limits, which hold for 2p(1 - p).
    return min(*ends, value), max(float(most.max()), value)


def _modal(decisions: Sequence[str]) -> int:
    return Counter(decisions).most_common(1)[0][1] if decisions else 0


def _disagreement(counts: Counter[str], n: int) -> float:
    return n / (n - 1) * (1 - sum((k / n) ** 2 for k in counts.values()))
