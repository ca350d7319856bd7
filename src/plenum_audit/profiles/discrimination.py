"""Discrimination: whether runs that are stated to be sure are right more often."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit
from scipy.stats import t as student

from plenum.dynamics import Floats
from plenum_audit.acting import limit_area
from plenum_audit.profiles.calibration import group_confidences
from plenum_audit.profiles.profile_estimate import LEVEL, ProfileEstimate, estimate_ratio
from plenum_audit.profiles.stated_runs import StatedRuns
from plenum_audit.suites import sum_groups


@dataclass(frozen=True)
class RiskPoint:
    """The share that is wrong of runs with some confidence or more: a point of risk over coverage.

    Attributes
    ----------
    least
        The smallest confidence of these runs.
    coverage
        Their share of all runs.
    wrong
        The share of them that is wrong.
    """

    least: float
    coverage: float
    wrong: ProfileEstimate


def estimate_area(runs: StatedRuns) -> ProfileEstimate | None:
    """Estimate how likely a right run is more confident than a wrong one of another case (AUROC).

    Equal confidences count half. The interval is that of the jackknife over cases on the logit
    scale, or Newcombe's (2006) for as many cases, where that is wider.

    Returns
    -------
    ProfileEstimate or None
        From 0 to 1; 0.5 says nothing. ``None`` if all runs are right, or all wrong.

    Examples
    --------
    >>> runs = StatedRuns.of(np.arange(4), [0.6, 0.7, 0.8, 0.9], np.array([0, 1, 0, 1]))
    >>> estimate_area(runs).value
    0.75
    """
    right, wrong = runs.by_case(runs.right), runs.by_case(1 - runs.right)
    pairs = float(right.sum() * wrong.sum() - (right * wrong).sum())
    if pairs <= 0:
        return None
    as_right, as_wrong = _sum_exceeding(runs)
    area = min(float(as_right.sum()) / pairs, 1.0)
    own = right * (wrong.sum() - wrong) + wrong * (right.sum() - right)
    rest = pairs - own
    low, high = limit_area(area, _equal(right), _equal(wrong))
    rarer = min(int((right > 0).sum()), int((wrong > 0).sum()))
    if rarer > 1 and 0 < area < 1 and (rest > 0).all():
        left_out = (as_right.sum() - as_right - as_wrong) / rest
        spread = float(((left_out - left_out.mean()) ** 2).sum())
        error = np.sqrt((runs.cases - 1) / runs.cases * spread) / (area * (1 - area))
        half = float(student.ppf((1 + LEVEL) / 2, rarer - 1)) * error
        low = min(low, float(expit(logit(area) - half)))
        high = max(high, float(expit(logit(area) + half)))
    return ProfileEstimate(area, (low, high), runs.cases)


def trace_risk(runs: StatedRuns) -> tuple[RiskPoint, ...]:
    """Return risk over coverage, from the most confident runs to all.

    The points lie between the groups of :func:`~.calibration.group_confidences`.

    Examples
    --------
    >>> sure, right = [0.5] * 3 + [0.9] * 3, np.array([0, 1, 0, 1, 1, 1])
    >>> runs = StatedRuns.of(np.arange(6), sure, right)
    >>> [(point.coverage, point.wrong.value) for point in trace_risk(runs)]
    [(0.5, 0.0), (1.0, 0.3333333333333333)]
    """
    group = group_confidences(runs)
    points = []
    for number in range(int(group.max()), -1, -1):
        chosen = (group >= number).astype(float)
        whole = runs.by_case(chosen)
        points.append(
            RiskPoint(
                least=float(runs.confidence[group >= number].min()),
                coverage=min(round(float(whole.mean()), 12), 1.0),  # of weights that are thirds
                wrong=estimate_ratio(runs.by_case(chosen * (1 - runs.right)), whole),
            )
        )
    return tuple(points)


def _sum_exceeding(runs: StatedRuns) -> tuple[Floats, Floats]:
    """Sum up, by case, weights of pairs with other cases in which the right run is more confident.

    First over the case's right runs, then over its wrong ones, shape (N,) each.
    """
    right, wrong = runs.weight * runs.right, runs.weight * (1 - runs.right)
    below = _below(runs.confidence, wrong)
    above = right.sum() - _below(runs.confidence, right)
    order = np.argsort(runs.case, kind="stable")
    own = np.zeros(runs.cases)
    for rows in np.split(order, np.cumsum(np.bincount(runs.case))[:-1]):
        inside = _below(runs.confidence[rows], wrong[rows])
        own[runs.case[rows[0]]] = float((right[rows] * inside).sum())
    as_right = sum_groups(runs.case, right * below, runs.cases) - own
    as_wrong = sum_groups(runs.case, wrong * above, runs.cases) - own
    return as_right, as_wrong


def _below(values: Floats, weights: Floats) -> Floats:
    """Return the weight that lies below each value, with half of what equals it."""
    distinct, inverse = np.unique(values, return_inverse=True)
    equal = sum_groups(inverse, weights, len(distinct))
    return np.asarray((np.cumsum(equal) - equal / 2)[inverse], np.float64)


def _equal(weights: Floats) -> float:
    """Return the number of equal weights that vary as much in their sum (Kish 1965)."""
    return float(weights.sum() ** 2 / (weights**2).sum())
