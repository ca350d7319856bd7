"""Agreement, and what it says about being right: wrong and unanimous is the case to fear."""

from collections.abc import Set
from dataclasses import dataclass

import numpy as np
import scipy
from scipy.special import expit, logit

from plenum.dynamics.fit import Floats
from plenum_verdicts.acting.acts import score_cells
from plenum_verdicts.suites.suite_runs import SuiteRuns, sum_groups

_LEAST = 10
"""Cases of each kind, right and wrong, from which the interval of an AUROC holds. The number is
plenum's own: Student's t then has nine degrees of freedom or more."""


@dataclass(frozen=True)
class Agreement:
    """The agreement of each case's runs, and whether its most frequent decision is right.

    Attributes
    ----------
    runs
        The fewest and the most runs of a case.
    right, unstable
        Numbers of cases whose runs all decide alike and rightly, and of those whose runs differ.
    feared
        Names of the cases whose runs all decide alike and wrongly.
    auroc
        The chance that, among so many runs, those of a case whose most frequent decision is right
        agree more than those of one where it is wrong, equal agreement counted half; with its 95 %
        limits. ``None`` if fewer than ten cases are right, or are wrong, or if numbers of runs
        differ: 2 of 2 and 5 of 6 that agree aren't on one scale.
    """

    runs: tuple[int, int]
    right: int
    feared: tuple[str, ...]
    unstable: int
    auroc: tuple[float, float, float] | None


def estimate_agreement(runs: SuiteRuns, undecided: Set[str] = frozenset()) -> Agreement:
    """Estimate what the agreement of a case's runs says about its most frequent decision.

    A decision is wrong if its runs score below 1. For the AUROC a case whose runs never decided is
    left out, and one with several most frequent decisions is wrong if one of them is.

    Parameters
    ----------
    runs
        Cases with one run are left out.

    Raises
    ------
    ValueError
        A run has no score, or no case has two runs.

    Examples
    --------
    >>> outcomes = {"a": ["x", "x"], "b": ["x", "y"]}
    >>> runs = SuiteRuns.of(outcomes, {"a": [1.0, 1.0], "b": [0.0, 1.0]})
    >>> estimate_agreement(runs)
    Agreement(runs=(2, 2), right=1, feared=(), unstable=1, auroc=None)
    """
    runs = runs.where_repeated(2)
    if not runs.has_scores:
        raise ValueError("score: not known for every run")
    case, outcome, count = runs.cells
    able = np.array([name not in undecided for name in runs.outcomes], bool)[outcome]
    most = np.zeros(len(runs.cases))
    # Runs without a decision agree on nothing that could be acted upon.
    np.maximum.at(most, case[able], count[able])
    wrongly = able & (count == most[case]) & (score_cells(runs) < 1)
    right = sum_groups(case, wrongly, len(most)) == 0
    alike = most == runs.repeats
    limits = int(runs.repeats.min()), int(runs.repeats.max())
    good, bad = most[right & (most > 0)], most[~right & (most > 0)]
    comparable = limits[0] == limits[1] and min(len(good), len(bad)) >= _LEAST
    return Agreement(
        limits,
        int((alike & right).sum()),
        tuple(runs.cases[each] for each in np.flatnonzero(alike & ~right)),
        int((~alike).sum()),
        estimate_auroc(good, bad) if comparable else None,
    )


def estimate_auroc(positives: Floats, negatives: Floats) -> tuple[float, float, float]:
    """Return the chance that a positive exceeds a negative, ties counted half, with 95 % limits.

    The variance, on the logit scale, is the larger of two. That of each score's share of exceeded
    scores (DeLong et al. 1988) holds where a few cases weigh much; that of exponential scores with
    the mean of both numbers in place of each (Newcombe 2006, Statistics in Medicine 25:559, his
    method 5) holds near 1. Student's t is that of the rarer kind, which rules the variance. Half a
    case is added on both sides, without which there is no logit of 1.

    Parameters
    ----------
    positives, negatives
        Scores, at least two of each.

    Examples
    --------
    >>> found = estimate_auroc(np.array([0.75, 1.0, 1.0] * 10), np.array([0.5, 0.75] * 5))
    >>> [round(each, 2) for each in found]
    [0.92, 0.65, 0.97]
    """
    above = np.where(positives[:, None] == negatives, 0.5, positives[:, None] > negatives)
    m, n = above.shape
    rarer, middle, area = min(m, n), (m + n) / 2 - 1, float(above.mean())
    # Half a case more on both sides: an area of 0 or 1 has no logit.
    inner = (area * rarer + 0.5) / (rarer + 1)
    spread = inner * (1 - inner)
    # Hanley and McNeil's variance, with the mean of both numbers (Newcombe 2006).
    exponential = 1 + middle * (1 - inner) / (2 - inner) + middle * inner / (1 + inner)
    of_shares = above.mean(axis=1).var(ddof=1) / m + above.mean(axis=0).var(ddof=1) / n
    error = np.sqrt(max(of_shares, spread * exponential / (m * n)))
    # The derivative of the logit is 1 / (A (1 - A)): delta method.
    half = scipy.stats.t.ppf(0.975, rarer - 1) * error / spread
    return area, float(expit(logit(inner) - half)), float(expit(logit(inner) + half))
