"""Differences of a typical pair's growth between conditions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from plenum.dynamics.divergence import ZERO, sort_replicates
from plenum.dynamics.estimate import Estimate
from plenum.dynamics.fit import WINDOW, Floats, fit_distances
from plenum.dynamics.growth import (
    TypicalGrowth,
    compute_variance,
    estimate_typical_growth,
    measure_pairs,
)
from plenum.dynamics.meta_analysis import limit_scenarios
from plenum.dynamics.resampling import DRAWS


@dataclass(frozen=True)
class GrowthContrast(Estimate):
    """A difference of the growth of a typical pair.

    Attributes
    ----------
    value, ci_low, ci_high
        The difference per round, and its 95 % interval; a limit is infinite where that of a
        condition is.
    p
        Two-sided, by permutation of replicates: of equal shares of pairs that grow by more than
        the pooled median.
    cells
        The growth in the conditions, in the order of the arguments.
    """

    cells: tuple[TypicalGrowth, ...] = ()


def contrast_growth(
    treated: ArrayLike,
    control: ArrayLike,
    window: tuple[int, int] = WINDOW,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> GrowthContrast:
    """Compare the growth of a typical pair in two conditions.

    The interval is Zou and Donner's (2008): the squares of the distances from both estimates to
    their limits add up. For p replicates change places between the arms. Each arm is centred on its
    median and scaled to the same distance of a typical pair, so that pairs of both arms have a
    growth, too. x is the median growth of all these pairs, which is the same for every labelling;
    compared are the shares of pairs within an arm that grow by more than x, over their jackknife
    standard error. Between arms of one law it would be exact, but for the centre and scale of each
    arm, which are estimated: ``scripts/bench/inference.py`` measures how often it then rejects.

    Parameters
    ----------
    treated, control
        Committee mean preferences, shape (R, T, K).
    window
        First and last round, counted from 1.
    draws, seed
        Permutations, and their seed.

    Returns
    -------
    GrowthContrast
        NaN where an arm has fewer than three replicates, or the arms have other rounds.

    Raises
    ------
    ValueError
        An ensemble or the window is malformed, arms differ in K, or ``draws`` is below 1.

    Examples
    --------
    >>> import numpy as np
    >>> from plenum.dynamics.growth_contrasts import contrast_growth
    >>> noise = np.random.default_rng(1).normal(0, 0.01, (2, 10, 20, 3))
    >>> steady, growing = noise[0], noise[1] * np.exp(0.15 * np.arange(20))[:, None]
    >>> difference = contrast_growth(growing, steady, draws=500)
    >>> round(difference.value, 2), difference.p < 0.05
    (0.15, True)
    """
    # Sorted, so that p doesn't depend on the order in which replicates ended.
    arms = [sort_replicates(arm) for arm in (treated, control)]
    if arms[0].shape[2] != arms[1].shape[2]:
        raise ValueError(f"arms of {arms[0].shape[2]} and {arms[1].shape[2]} options")
    if draws < 1:
        raise ValueError(f"draws: {draws}; at least 1")
    cells = tuple(estimate_typical_growth(arm, window) for arm in arms)
    n = sum(map(len, arms))
    rounds = [fit_distances(arm, window).rounds for arm in arms]
    if not all(math.isfinite(cell.value) for cell in cells) or len(rounds[0]) != len(rounds[1]):
        return GrowthContrast(n=n, method="none", cells=cells)
    first, second = cells
    value = first.value - second.value
    # The difference is least where the first is at its lower limit and the second at its upper one.
    low = math.hypot(first.value - first.ci_low, second.ci_high - second.value)
    high = math.hypot(first.ci_high - first.value, second.value - second.ci_low)
    p = _permute(arms, window, draws, seed)
    method = f"permutation, {draws:,} draws"
    limits = value - low, value + high
    return GrowthContrast(value, math.nan, *limits, p=p, n=n, method=method, cells=cells)


def pool_growth(contrasts: Sequence[GrowthContrast]) -> tuple[GrowthContrast, tuple[float, float]]:
    """Average differences over scenarios, each with the same weight.

    Parameters
    ----------
    contrasts
        One a scenario; those without a difference are left out.

    Returns
    -------
    GrowthContrast
        The mean of these scenarios, with the interval of their runs alone; ``n`` counts scenarios.
    tuple of float
        The 95 % interval for scenarios like these: Student's t over scenarios.
    """
    kept = [each for each in contrasts if math.isfinite(each.value)]
    if not kept:
        return GrowthContrast(), (math.nan, math.nan)
    values = np.array([each.value for each in kept])
    mean = float(values.mean())
    # Runs of scenarios are independent: distances to limits add up in squares, as for two arms.
    low, high = (
        float(np.linalg.norm([getattr(each, end) - each.value for each in kept])) / len(kept)
        for end in ("ci_low", "ci_high")
    )
    pooled = GrowthContrast(mean, math.nan, mean - low, mean + high, n=len(kept), method="mean")
    return pooled, limit_scenarios(values)


def _permute(arms: Sequence[Floats], window: tuple[int, int], draws: int, seed: int) -> float:
    """Return the p of the difference of shares of pairs above the pooled median."""
    size, count = len(arms[0]), sum(map(len, arms))
    growth, members = measure_pairs(fit_distances(_pool(arms, window), window))
    # A pair counts for 1 if it grows by more than the median, for a half if by as much; so a
    # labelling's sums over pairs are products with this matrix.
    above = np.zeros((count, count))
    middle = np.median(growth)
    above[tuple(members)] = (growth > middle + ZERO) + (np.abs(growth - middle) <= ZERO) / 2
    above += above.T
    generator = np.random.Generator(np.random.PCG64([seed, count, size]))
    # The places of the `size` smallest of random numbers are a draw without replacement.
    order = generator.random((count, draws)).argpartition(size - 1, axis=0)
    treated = np.zeros((count, draws + 1))
    np.put_along_axis(treated[:, 1:], order[:size], 1.0, axis=0)
    treated[:size, 0] = 1.0  # the arms as they are: one of the labellings, so that p is never 0
    shares, variances = zip(
        *(_describe_arm(above, ours) for ours in (treated, 1 - treated)), strict=True
    )
    # Of few replicates the jackknife may find no variance: a pair's weight keeps it above zero.
    least = (2 / (count * (count - 1))) ** 2
    statistic = np.abs(shares[0] - shares[1]) / np.sqrt(sum(variances) + least)
    # Less a residue of rounding: equal statistics are as far.
    return float((statistic >= statistic[0] - 1e-9).mean())


def _describe_arm(above: Floats, ours: Floats) -> tuple[Floats, Floats]:
    """Return an arm's share of pairs above, and its variance, of every labelling."""
    size = ours[:, 0].sum()
    sums = (above @ ours) * ours  # over each replicate's pairs within the arm
    total, squares = sums.sum(axis=0) / 2, (sums**2).sum(axis=0)
    return total / (size * (size - 1) / 2), compute_variance(total, squares, size)


def _pool(arms: Sequence[Floats], window: tuple[int, int]) -> Floats:
    """Centre each arm on its median and scale it to the same distance of a typical pair."""
    pooled = []
    for arm in arms:
        # The median, since one replicate that jumps would move a mean, and with it every pair.
        typical = float(np.median(fit_distances(arm, window).pairs.mean(axis=1)))
        pooled.append((arm - np.median(arm, axis=0)) / (typical if typical > ZERO else 1.0))
    return np.concatenate(pooled)
