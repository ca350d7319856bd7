"""Agreement, and what it says about being right: wrong and unanimous is the case to fear."""

from collections.abc import Set
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import norm
from scipy.stats import t as student

from plenum.dynamics import Floats
from plenum_verdicts.acting.acts import score_cells
from plenum_verdicts.suites import SuiteRuns, sum_groups

_MIDDLE = 0.975
_Z = float(norm.ppf(_MIDDLE))
_TINY = 1e-9
_Flags = NDArray[np.bool_]


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
        agree more than those of one where it is wrong, equal agreement counted half. NaN if all
        cases are right, or all are wrong, or numbers of runs differ: 2 of 2 and 5 of 6 that agree
        aren't on one scale.
    interval
        Of ``auroc``, at 95 %; (0, 1) if that is NaN.
    levels
        For each share of agreeing runs that occurs: the share, and the numbers of cases that are
        right and that are wrong; empty if numbers of runs differ.
    """

    runs: tuple[int, int]
    right: int
    feared: tuple[str, ...]
    unstable: int
    auroc: float = float("nan")
    interval: tuple[float, float] = (0.0, 1.0)
    levels: tuple[tuple[float, int, int], ...] = ()


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
    >>> estimate_agreement(runs).auroc
    1.0
    """
    repeated = runs.where_repeated(2)
    if not repeated.has_scores:
        raise ValueError("score: not known for every run")
    share, right, unanimous = _modes(repeated, undecided)
    fewest, most = int(repeated.repeats.min()), int(repeated.repeats.max())
    found = Agreement(
        (fewest, most),
        int((unanimous & right).sum()),
        tuple(repeated.cases[case] for case in np.flatnonzero(unanimous & ~right)),
        int((~unanimous).sum()),
    )
    if fewest < most:
        return found
    known = np.isfinite(share)
    x, y = share[known], right[known]
    levels = tuple(
        (float(level), int((y & (x == level)).sum()), int((~y & (x == level)).sum()))
        for level in np.unique(x)
    )
    if y.all() or not y.any():
        return replace(found, levels=levels)
    area, limits = float(_above(x[y], x[~y]).mean()), auroc_interval(x[y], x[~y])
    return replace(found, auroc=area, interval=limits, levels=levels)


def auroc_interval(positives: Floats, negatives: Floats) -> tuple[float, float]:
    """Return the 95 % interval of the chance that a positive exceeds a negative, ties counted half.

    The wider limits of two intervals. One has the variance for exponential scores, with the mean of
    both numbers in place of each (Newcombe 2006, Statistics in Medicine 25:559, his method 5): it
    holds near 1 and for few cases. The other has the variance of each score's share of exceeded
    scores (DeLong et al. 1988), on the logit scale: it holds where a few cases weigh much.

    Parameters
    ----------
    positives, negatives
        Scores, at least one of each.

    Examples
    --------
    >>> low, high = auroc_interval(np.array([0.75, 1.0, 1.0] * 10), np.array([0.5, 0.75] * 5))
    >>> round(low, 2), round(high, 2)
    (0.74, 0.97)
    """
    m, n = len(positives), len(negatives)
    above = _above(positives, negatives)
    area = float(above.mean())
    low, high = _limit_area(area, m, n)
    if min(m, n) > 1 and 0 < area < 1:
        variance = above.mean(axis=1).var(ddof=1) / m + above.mean(axis=0).var(ddof=1) / n
        quantile = student.ppf(_MIDDLE, min(m, n) - 1)  # the rarer kind rules the variance
        half = quantile * np.sqrt(variance) / (area * (1 - area))
        low = min(low, float(expit(logit(area) - half)))
        high = max(high, float(expit(logit(area) + half)))
    return low, high


def _above(positives: Floats, negatives: Floats) -> Floats:
    """Return 1 where a positive exceeds a negative, and half where both are equal."""
    more, equal = positives[:, None] > negatives, positives[:, None] == negatives
    return np.asarray(more + 0.5 * equal, np.float64)


def _limit_area(area: float, positives: float, negatives: float) -> tuple[float, float]:
    """Return the score interval of an AUROC by the numbers of scores alone (Newcombe 2006).

    Parameters
    ----------
    area
        The AUROC, from 0 to 1.
    positives, negatives
        Numbers of independent scores.
    """
    middle = (positives + negatives) / 2 - 1

    def beyond(limit: float) -> float:
        """Return by how much a limit lies too far out: 0 at both ends of the interval."""
        spread = 1 + middle * (1 - limit) / (2 - limit) + middle * limit / (1 + limit)
        distance = (area - limit) ** 2 / (limit * (1 - limit))
        return distance - _Z**2 * spread / (positives * negatives)

    low = 0.0 if area < _TINY else float(brentq(beyond, _TINY, min(area, 1 - _TINY)))
    high = 1.0 if area > 1 - _TINY else float(brentq(beyond, max(area, _TINY), 1 - _TINY))
    return low, high


def _modes(runs: SuiteRuns, undecided: Set[str]) -> tuple[Floats, _Flags, _Flags]:
    """Return the share of each case's mode (NaN without one), its rightness, and unanimity."""
    case, outcome, count = runs.cells
    cases = len(runs.cases)
    able = np.array([name not in undecided for name in runs.outcomes], bool)[outcome]
    most = np.zeros(cases)
    np.maximum.at(most, case[able], count[able])
    mode = able & (count == most[case])
    wrongly = score_cells(runs) < 1
    wrong = sum_groups(case, mode & wrongly, cases) > 0
    share = np.where(most > 0, most / runs.repeats, np.nan)
    return share, ~wrong, most == runs.repeats
