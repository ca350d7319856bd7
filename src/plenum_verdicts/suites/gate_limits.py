"""Limits of the chance to pass a gate, from the runs that there are."""

import math

import numpy as np
import scipy

from plenum_verdicts.suites.case_chances import count_right
from plenum_verdicts.suites.gates import TOLERANCE, CaseGate, Gate, ScoreGate
from plenum_verdicts.suites.intervals import LEVEL, estimate_mean_of_cases
from plenum_verdicts.suites.noise import SuiteNoise, limit_mean
from plenum_verdicts.suites.scores import SuiteScore
from plenum_verdicts.suites.suite_runs import SuiteRuns

Limits = tuple[float, float]


def limit_passing(gate: Gate, runs: SuiteRuns, score: SuiteScore, drop: float = 0.0) -> Limits:
    """Return limits of the chance that a program passes a gate on these cases.

    Of a score they follow from those of the mean and of the noise floor, at the worst of their
    combinations. Of a gate on every case they follow from those of the mean chance that a case
    fails: with mean x over N cases, all pass with a chance from 1 - N x to (1 - x)^N.
    `scripts/calibrate.py` measures how often they hold.

    Parameters
    ----------
    runs
        Cases with two runs or more, which all have scores.
    score
        Their score and its noise.
    drop
        By how much the program's score is lower than that of the one that was run.
    """
    if isinstance(gate, CaseGate):
        low, high = _limit_cases(gate, runs)
        return (0.0 if drop else low), high  # a program that is worse passes no more often
    noise, z = SuiteNoise.of(runs), float(scipy.stats.norm.ppf((1 + LEVEL) / 2))
    # The score's error as a multiple of the floor: where the floor is larger, so is the error.
    within = noise.error / (score.floor.value or 1)
    whole = bool(score.passing)
    chances: list[float] = []
    for floor in score.floor.these:
        error = max(noise.error, floor * within)
        # The chance need not be monotone in the floor: all four corners are looked at.
        for mean in limit_mean(noise.score, error, noise.unit, z):
            chance, off = pass_by_score(gate, mean, floor, len(runs.cases), drop, whole)
            chances += chance - off, chance + off
    return max(min(chances), 0.0), min(max(chances), 1.0)


def pass_by_score(
    gate: ScoreGate, mean: float, floor: float, cases: int, drop: float, whole: bool
) -> tuple[float, float]:
    """Return the normal chance to pass a gate on the score, and by how much it may be off.

    Parameters
    ----------
    mean, floor
        The program's score, and its standard deviation between reruns with one run a case.
    drop
        By how much the score is lower in fact, as :func:`drop_chances` has it.
    whole
        True if runs are right or wrong: then right runs are counted.

    Returns
    -------
    tuple of float
        The chance, and the first two terms of Edgeworth's expansion at their largest.
    """
    # Limits of a mean may lie beyond 0 and 1, where there is no program.
    mean, total = min(max(mean, 0.0), 1.0), cases * gate.runs
    kept = max(mean - drop, 0.0) / mean if mean > 0 else 1.0
    # floor² = Σ var / N², so that N floor² is the mean of the cases' variances.
    single = cases * floor**2  # mean variance of a run within cases
    # With chances k p the mean of k p (1 - k p) is k m - k² mean(p²), and mean(p²) = m - single.
    dropped = max(kept * mean - kept**2 * (mean - single), 0.0) if whole else kept**2 * single
    least, expected, variance, skew = gate.least * total, kept * mean * total, dropped, dropped
    if gate.relative:
        least, expected = -least, expected - mean * total
        # The difference of two equal programs is symmetric: it has no skew.
        variance, skew = single + dropped, dropped if drop else 0.0
    if whole:
        # A count is whole: half a unit lower is where a normal law has the chance of "at least".
        least = math.ceil(least - TOLERANCE) - 0.5
    variance, least = variance * total, least - TOLERANCE
    if variance < 1e-12:  # it never varies, so that it never fails in half of the uses
        return float(expected >= least), 0.0
    chance = float(scipy.stats.norm.sf((least - expected) / math.sqrt(variance)))
    # skewness/6 · max |z² - 1| φ(z) is /15, and kurtosis/24 · max |z³ - 3z| φ(z) is /43; a
    # yes-or-no run's third and fourth cumulant are no larger than its variance.
    off = skew * total / variance**1.5 / 15 + 1 / variance / 43
    return chance, min(off, 1.0)


def _limit_cases(gate: CaseGate, runs: SuiteRuns) -> Limits:
    right, wrong = count_right(runs)
    total, cases = right + wrong, len(right)
    # Of a case with fewer runs than the gate reads its chance to fail has no unbiased estimate.
    if total.min() < gate.runs:
        return 0.0, 1.0
    # Over all choices of the gate's number of runs from those that there are: unbiased.
    failing = 1 - scipy.stats.hypergeom.sf(gate.least - 1, total, right, gate.runs)
    low, high = estimate_mean_of_cases(np.clip(failing, 0, 1)).these
    # 1 - N x adds up the chances to fail; (1 - x)^N is all cases alike, the largest product.
    return max(1 - cases * high, 0.0), (1 - low) ** cases


def limit_flips(passes: Limits) -> Limits:
    """Return limits of 2 p (1 - p) from those of p."""
    low, high = sorted(2 * p * (1 - p) for p in passes)
    # 2 p (1 - p) rises up to p = 1/2 and falls again: its top may lie between the limits.
    return low, 0.5 if passes[0] <= 0.5 <= passes[1] else high
