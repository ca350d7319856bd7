"""The score of a suite, its consistency, and how much it moves when the suite is run again."""

import math
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import scipy

from plenum.dynamics.fit import Floats
from plenum_verdicts.suites.disagreement import estimate_disagreement
from plenum_verdicts.suites.intervals import LEVEL, SuiteEstimate, estimate_mean_of_cases
from plenum_verdicts.suites.noise import SuiteNoise
from plenum_verdicts.suites.suite_runs import SuiteRuns, sum_groups

HALVING = 4
"""Number of runs of each case whose mean has half the noise of a single run."""


@dataclass(frozen=True)
class SuiteScore:
    """The score of a suite whose right answers or scores are known.

    Attributes
    ----------
    score
        The mean score of a run, every case weighted equally.
    passing
        Estimates of pass^k, the chance that k runs of a case are all right, for k = 1, 2, ...;
        empty for scores other than 0 and 1.
    consistency
        1 - 2 G, where G is the chance that of two runs of a case one is right and one is wrong: 0
        for a coin, 1 for a program that always repeats itself. ``None`` for other scores.
    within
        Share of the variance of a run's score that lies within cases; the rest is between them.
        NaN if scores don't vary.
    floor
        Noise floor: standard deviation of the suite's score if all cases are run again, once each.
        ``value`` is for these cases; ``like`` for as many cases like these.
    smallest_difference, smallest_difference_limits
        Difference between the scores of two single runs of the suite that only one in twenty pairs
        of equal programs exceeds, and its 95 % interval for these cases.
    """

    score: SuiteEstimate
    passing: tuple[SuiteEstimate, ...]
    consistency: SuiteEstimate | None
    within: float
    floor: SuiteEstimate
    smallest_difference: float
    smallest_difference_limits: tuple[float, float]


def score_suite(runs: SuiteRuns) -> SuiteScore:
    """Estimate the score of a suite, and its noise.

    Parameters
    ----------
    runs
        Cases with one run count for the score, but say nothing of its noise. Which cases were run
        again may depend on how they ended: without these the score would be that of a selection.

    Raises
    ------
    ValueError
        A run has no score, or no case has two runs.

    Notes
    -----
    pass^k is that of tau-bench (Yao et al. 2025), C(c, k) / C(n, k) for c right ones of n runs.
    The unbiased 1 - 2 G is what the outcome consistency of Rabanser et al. (2026) estimates,
    (2 p - 1)², which from five runs gives a coin 0.2.
    """
    repeated = runs.where_repeated(2)
    if not runs.has_scores or not repeated.cases:
        raise ValueError("scores: every run needs one, and some case two runs")
    # pass^k and consistency are chances: a score between 0 and 1 has none.
    right = runs.right if np.isin(runs.score, (0.0, 1.0)).all() else None
    noise = SuiteNoise.of(repeated)
    means, spread, errors = noise.means, noise.spread, noise.spread / noise.repeats
    floor = _floor(repeated, spread, len(runs.cases), binary=right is not None)
    # Of a single run the variance isn't known: then that between cases is taken, which is larger.
    known = errors if len(repeated.cases) == len(runs.cases) else None
    # The variance of means holds their own error too: it is taken off, down to 0 at most.
    between = max(float(means.var(ddof=1) - errors.mean()), 0.0) if len(means) > 1 else 0.0
    whole = between + float(spread.mean())
    # Two runs of the suite are both noisy: √2 times one's noise, times the 95 % quantile.
    counts = math.sqrt(2) * float(scipy.stats.norm.ppf((1 + LEVEL) / 2))
    low, high = floor.these
    return SuiteScore(
        score=estimate_mean_of_cases(runs.mean_scores(), known, float(runs.repeats.mean())),
        passing=_estimate_passes(right) if right is not None else (),
        consistency=estimate_disagreement(right).scale(-2, 1) if right is not None else None,
        within=float(spread.mean()) / whole if whole else math.nan,
        floor=floor,
        smallest_difference=counts * floor.value,
        smallest_difference_limits=(counts * low, counts * high),
    )


def _estimate_passes(right: SuiteRuns) -> tuple[SuiteEstimate, ...]:
    """Estimate pass^k for every k that all cases' runs allow."""
    case, outcome, count = right.cells
    rightly = np.where(outcome == right.outcomes.index("right"), count, 0)
    hits = sum_groups(case, rightly, len(right.cases))
    most = int(right.repeats.min())
    n = right.repeats.astype(float)
    chances = [np.ones(len(hits))]
    for k in range(most):
        # C(c, k) / C(n, k), one factor at a time: factorials would overflow.
        chances.append(chances[k] * np.maximum(hits - k, 0) / (n - k))
    # pass^2k estimates the square of a case's pass^k without bias.
    variances = [chances[k] ** 2 - chances[2 * k] for k in range(1, most // 2 + 1)]
    return tuple(
        # Beyond half of the runs no pass^2k is left to estimate a variance by.
        estimate_mean_of_cases(each, spread)
        for each, spread in zip_longest(chances[1:], variances)
    )


def _floor(runs: SuiteRuns, spread: Floats, cases: int, binary: bool) -> SuiteEstimate:
    """Return the standard deviation of the score of so many cases, from the variances of some.

    Twice a case's variance is the mean squared difference of two runs, which lies in [0, 1]; of
    right and wrong it is the disagreement.
    """
    if binary:
        twice = estimate_disagreement(runs.right)
    else:
        # Of two runs a variance is 1/2 at most; its double may round to more than 1.
        twice = estimate_mean_of_cases(np.minimum(2 * spread, 1))
    root = np.sqrt(np.maximum([twice.value, *twice.these, *twice.like], 0) / 2 / cases)
    value, low, high, least, most = map(float, root)
    return SuiteEstimate(value, (low, high), (least, most), twice.cases)
