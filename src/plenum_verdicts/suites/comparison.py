"""Two programs on the same suite: which is worse, with the noise of both."""

import math
from bisect import bisect_left
from dataclasses import dataclass, field

import numpy as np
import scipy

from plenum.dynamics.fit import Floats
from plenum_verdicts.dynamics.audits import STABLE, UNDECIDED, UNSTABLE
from plenum_verdicts.suites.disagreement import variances_of_disagreements
from plenum_verdicts.suites.noise import SuiteNoise, limit_mean
from plenum_verdicts.suites.suite_runs import SuiteRuns

ERROR = 0.05
"""Probability with which each claim may be wrong."""

POWER = 0.8
"""Probability with which the advised repeats settle the question."""

_SHOWN = 10
"""Number of cases that are named. The number is plenum's own: about what a reader goes through."""

_MOST = 2**14
"""Most further repeats that are looked for. The search ends there: a difference so close to a claim
is settled by no study that anybody runs."""


@dataclass(frozen=True)
class SuiteComparison:
    """A program and an earlier one, paired by case.

    Attributes
    ----------
    measure
        ``score``; without right answers ``agreement``, how likely two runs of a case end alike.
    difference
        The measure's mean over the shared cases, less the earlier program's.
    these
        Lower and upper limit of the difference on these cases, each of which holds with 95 %.
    like
        Limits on cases like these, likewise.
    margin
        The difference that may be.
    worse, within
        Whether the program is shown to be worse on these cases, and whether it is shown not to be
        worse by more than the margin.
    further
        Number of further runs of each case, of both programs, that would likely settle it if the
        difference is what it looks; ``None`` if it is settled.
    cases, alone
        Numbers of cases with two runs or more of both programs, and of those left out.
    lower
        The cases whose measure fell, the most fallen first, ten at most: the earlier program's
        value and this one's.
    lost, gained
        Names of the cases whose runs were all right and are all wrong, and of the reverse.
    days_apart
        True if each program ran on days of its own, so that these may be what differs.
    """

    measure: str
    difference: float
    these: tuple[float, float]
    like: tuple[float, float]
    margin: float
    worse: bool
    within: bool
    further: int | None
    cases: int
    alone: int
    lower: dict[str, tuple[float, float]] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    gained: tuple[str, ...] = ()
    days_apart: bool = False

    @property
    def verdict(self) -> str:
        """``unstable`` if it is worse, ``stable`` if not by more than the margin, else undecided.

        Returns
        -------
        str
            The verdict whose exit status a comparison has.
        """
        if self.days_apart:
            return UNDECIDED
        # First: within the margin also a program that is shown to be worse is good enough.
        if self.within:
            return STABLE
        return UNSTABLE if self.worse else UNDECIDED


def compare_suites(
    before: SuiteRuns, after: SuiteRuns, margin: float = 0.02, days_apart: bool = False
) -> SuiteComparison:
    """Compare a program with an earlier one on the cases that both have run.

    Parameters
    ----------
    before, after
        Runs of the earlier program and of this one.
    margin
        By how much its score may be lower, above 0.
    days_apart
        True if no day has runs of both, and too few days have runs of one.

    Raises
    ------
    ValueError
        No case has two runs of both.

    Examples
    --------
    >>> runs = SuiteRuns.of({str(case): ["yes"] * 4 for case in range(200)})
    >>> compare_suites(runs, runs).within
    True
    """
    total = len(set(before.cases) | set(after.cases))
    before, after = before.where_repeated(2), after.where_repeated(2)
    shared = set(before.cases) & set(after.cases)
    if not shared:
        raise ValueError("no case has two runs of both programs")
    before, after = (each.of_cases(shared) for each in (before, after))
    scored = before.has_scores and after.has_scores
    one, two = (_CaseMeasures.of(each, scored) for each in (before, after))
    apart = two.means - one.means
    difference, cases = float(apart.mean()), len(shared)
    # For these cases only runs are noise; how cases differ in `apart` is no part of it.
    limits = _limits(difference, one, two, 0)
    # One case tells no spread: the largest that there can be.
    spread = float(apart.std(ddof=1)) if cases > 1 else 1.0
    worse, within = limits[1] < 0, limits[0] > -margin
    names = sorted(shared)
    # Stable: equal falls keep the order of names.
    fallen = [place for place in np.argsort(apart, kind="stable") if apart[place] < 0][:_SHOWN]
    return SuiteComparison(
        measure="score" if scored else "agreement",
        difference=difference,
        these=limits,
        # For cases like these a case is the unit: one moves the mean by 1 / cases at most.
        like=_clip(limit_mean(difference, spread / math.sqrt(cases), 1 / cases, _z())),
        margin=margin,
        worse=worse,
        within=within,
        further=None if worse or within else _further(difference, one, two, margin),
        cases=cases,
        alone=total - cases,
        lower={names[n]: (float(one.means[n]), float(two.means[n])) for n in fallen},
        lost=_name(names, one.means - two.means) if scored else (),
        gained=_name(names, apart) if scored else (),
        days_apart=days_apart,
    )


def _name(names: list[str], risen: Floats) -> tuple[str, ...]:
    """Return the cases whose score rose from 0 to 1."""
    # Nothing but all wrong to all right moves a mean by 1; less a residue of rounding.
    return tuple(names[place] for place in np.flatnonzero(risen >= 1 - 1e-9))


@dataclass(frozen=True)
class _CaseMeasures:
    """The measure by case: unbiased values, and the variance that each has from its runs."""

    means: Floats
    variances: Floats
    repeats: Floats
    step: float

    @classmethod
    def of(cls, runs: SuiteRuns, scored: bool) -> "_CaseMeasures":
        # By name, so that values of both programs pair.
        order = np.argsort(np.array(runs.cases))
        repeats = runs.repeats.astype(float)
        if scored:
            noise = SuiteNoise.of(runs)
            means, variances, step = noise.means, noise.spread / repeats, 1.0
        else:
            apart = runs.disagreements()
            means, variances = 1 - apart, variances_of_disagreements(runs, apart)
            step = 2.0  # one run that differs from n - 1 equal ones differs in 2 of n pairs
        return cls(means[order], variances[order], repeats[order], step)

    def variance(self, further: int) -> float:
        """Return the variance of the mean after so many further runs of each case."""
        # A variance of a mean falls as 1 / runs.
        less = self.repeats / (self.repeats + further)
        # Unbiased variances may add up to less than 0.
        return max(float((self.variances * less).sum()), 0.0) / len(self.means) ** 2

    def unit(self, further: int) -> float:
        """Return by how much one run moves the mean at most."""
        # By the case with the fewest runs; no value moves by more than 1.
        return min(self.step / (float(self.repeats.min()) + further), 1.0) / len(self.means)


def _z() -> float:
    return float(scipy.stats.norm.ppf(1 - ERROR))


def _limits(
    value: float, one: _CaseMeasures, two: _CaseMeasures, further: int
) -> tuple[float, float]:
    error = math.sqrt(one.variance(further) + two.variance(further))
    # The program with fewer runs: one of them moves the difference more.
    unit = max(one.unit(further), two.unit(further))
    return _clip(limit_mean(value, error, unit, _z()))


def _clip(limits: tuple[float, float]) -> tuple[float, float]:
    return max(limits[0], -1.0), min(limits[1], 1.0)


def _further(value: float, one: _CaseMeasures, two: _CaseMeasures, margin: float) -> int:
    """Return the fewest further runs of each case that likely settle it, found by bisection."""
    gap = max(-value, value + margin)  # to the claim that is nearer

    def settles(further: int) -> bool:
        # Of a difference of 0, so that `low` is how far below a difference its limit lies.
        low, _ = _limits(0.0, one, two, further)
        error = math.sqrt(one.variance(further) + two.variance(further))
        # The limit must clear the claim with a margin of its own: by the 80 % quantile of the
        # estimate.
        return gap + low >= float(scipy.stats.norm.ppf(POWER)) * error

    # More runs never make a limit wider.
    return bisect_left(range(_MOST), True, 1, key=settles)
