"""Calibration of stated confidences: the Brier score, and the three parts that it consists of."""

from dataclasses import dataclass

import numpy as np

from plenum.dynamics import Floats
from plenum_audit.profiles.profile_estimate import (
    ProfileEstimate,
    estimate_loss,
    estimate_ratio,
    estimate_square,
)
from plenum_audit.profiles.stated_runs import StatedRuns
from plenum_audit.suites import Codes, estimate_mean_of_cases, sum_groups

MOST_BINS = 10
"""Number of groups of confidences, if more values than that were stated."""

_LEAST_CASES = 3
"""Number of cases of a group; two are left when the jackknife leaves one out."""


@dataclass(frozen=True)
class ConfidenceBin:
    """Runs that state about the same confidence: a dot of the reliability diagram.

    Attributes
    ----------
    stated
        Their mean confidence.
    right
        The share of them that is right.
    share
        Their share of all runs.
    """

    stated: float
    right: ProfileEstimate
    share: float


@dataclass(frozen=True)
class ConfidenceCalibration:
    """The Brier score and its parts: reliability - resolution + uncertainty + within.

    Attributes
    ----------
    brier
        Mean squared difference of the confidence from 1 if right and 0 if wrong: 0 is perfect.
    reliability
        Mean squared difference of the confidence from the share that is right among the runs that
        state it: 0 if confidences are what they say.
    resolution
        Variance of that share: how well confidences tell right runs from wrong ones.
    uncertainty
        Variance of being right, which no confidence changes.
    within
        What grouping the confidences leaves over; 0 if every group has one value.
    bins
        The groups, the least confident first.
    """

    brier: ProfileEstimate
    reliability: ProfileEstimate
    resolution: ProfileEstimate
    uncertainty: ProfileEstimate
    within: float
    bins: tuple[ConfidenceBin, ...]


def assess_calibration(runs: StatedRuns) -> ConfidenceCalibration:
    """Assess how far stated confidences are the shares of runs that are right.

    The decomposition is Murphy's (1973). Squares of shares are estimated from pairs of runs of
    different cases. The plug-in is biased by few runs in a group, which Ferro and Fricker (2012)
    correct for independent runs; those of a case err together.

    Parameters
    ----------
    runs
        Of two cases at least.

    Notes
    -----
    Reliability and resolution are unbiased, so that a part near 0 may be estimated below 0.

    Examples
    --------
    >>> right = np.tile([1.0, 1.0, 1.0, 0.0], 20)
    >>> found = assess_calibration(StatedRuns.of(np.arange(80), np.full(80, 0.75), right))
    >>> round(found.brier.value, 4), round(found.resolution.value, 4)
    (0.1875, 0.0)
    """
    brier = estimate_loss(runs.by_case((runs.confidence - runs.right) ** 2))
    score = estimate_mean_of_cases(runs.by_case(runs.right))
    sums = _Sums.of(runs)
    every, left_out = sums.parts(), sums.parts(without_each=True)
    reliability, resolution, uncertainty = (float(part[0]) for part in every)
    return ConfidenceCalibration(
        brier=brier,
        reliability=estimate_square(reliability, left_out[0]),
        resolution=estimate_square(resolution, left_out[1]),
        uncertainty=ProfileEstimate(uncertainty, _variance_between(score.like), runs.cases),
        within=brier.value - (reliability - resolution + uncertainty),
        bins=tuple(sums.bins()),
    )


def group_confidences(runs: StatedRuns) -> Codes:
    """Return the number of each run's group of confidences, from 0 for the lowest, shape (runs,).

    A group is one value, or neighbouring ones: of more than :data:`MOST_BINS` values, as many as
    come to an equal share of the runs; and always so many that three cases state them.
    """
    values, inverse = np.unique(runs.confidence, return_inverse=True)
    shares = sum_groups(inverse, runs.weight, len(values)) / runs.cases
    least = 1 / MOST_BINS if len(values) > MOST_BINS else 0.0
    group, number, share = np.zeros(len(values), np.intp), 0, 0.0
    cases: set[int] = set()
    for index in range(len(values)):
        group[index] = number
        share += float(shares[index])
        if len(cases) < _LEAST_CASES:
            cases.update(runs.case[inverse == index].tolist())
        if share >= least - 1e-9 and len(cases) >= _LEAST_CASES:
            number, share, cases = number + 1, 0.0, set()
    if cases and number:  # the last one is too small
        group[group == number] = number - 1
    return np.asarray(group[inverse], np.intp)


@dataclass(frozen=True)
class _Sums:
    """Weights of the runs of each case and group, and how many of them are right; shape (N, K)."""

    weight: Floats
    right: Floats
    stated: Floats

    @classmethod
    def of(cls, runs: StatedRuns) -> "_Sums":
        group = group_confidences(runs)
        groups = int(group.max()) + 1
        cell = runs.case * groups + group

        def by_cell(values: Floats) -> Floats:
            sums = sum_groups(cell, runs.weight * values, runs.cases * groups)
            return np.asarray(sums.reshape(runs.cases, groups), np.float64)

        ones = np.ones(len(runs.case))
        return cls(by_cell(ones), by_cell(runs.right), by_cell(runs.confidence))

    def parts(self, without_each: bool = False) -> tuple[Floats, Floats, Floats]:
        """Return reliability, resolution and uncertainty, of all cases or without each of them."""

        def total(values: Floats) -> Floats:
            less = values if without_each else 0 * values[:1]
            return np.asarray(values.sum(axis=0) - less, np.float64)

        weight, right, stated = total(self.weight), total(self.right), total(self.stated)
        cases = weight.sum(axis=1)
        pairs = weight**2 - total(self.weight**2)
        both = right**2 - total(self.right**2)
        with np.errstate(divide="ignore", invalid="ignore"):
            hits, said = right / weight, stated / weight
            squares = np.where(pairs > 1e-9, both / pairs, hits**2)
            share = weight / cases[:, None]
            reliability = np.nansum(share * (said**2 - 2 * said * hits + squares), axis=1)
            resolved = np.nansum(share * squares, axis=1)
        of_case = self.right.sum(axis=1, keepdims=True)
        all_right = total(of_case)[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):  # of two cases without one of them
            square = (all_right**2 - total(of_case**2)[:, 0]) / (cases * (cases - 1))
        return reliability, resolved - square, all_right / cases - square

    def bins(self) -> list[ConfidenceBin]:
        """Return the groups, the least confident first."""
        weights = self.weight.sum(axis=0)
        return [
            ConfidenceBin(
                stated=float(self.stated[:, k].sum() / weights[k]),
                right=estimate_ratio(self.right[:, k], self.weight[:, k]),
                share=float(weights[k] / weights.sum()),
            )
            for k in range(len(weights))
        ]


def _variance_between(limits: tuple[float, float]) -> tuple[float, float]:
    """Return the least and the largest p (1 - p) for p between two limits."""
    low, high = (limit * (1 - limit) for limit in limits)
    return min(low, high), 0.25 if limits[0] <= 0.5 <= limits[1] else max(low, high)
