"""A reliability profile: consistency, robustness, predictability and cost spread of a program."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from plenum.dynamics import Floats
from plenum_audit.profiles.calibration import ConfidenceCalibration, assess_calibration
from plenum_audit.profiles.discrimination import RiskPoint, estimate_area, trace_risk
from plenum_audit.profiles.profile_estimate import ProfileEstimate
from plenum_audit.profiles.robustness import ChangedRuns, Robustness, assess_change
from plenum_audit.profiles.spread import estimate_spread
from plenum_audit.profiles.stated_runs import StatedRuns
from plenum_audit.suites import (
    SuiteRuns,
    estimate_disagreement,
    estimate_mean_of_cases,
    score_suite,
)

_LEAST_CASES = 2
"""Number of cases with a stated confidence from which on it is assessed."""


@dataclass(frozen=True)
class ProfileRuns:
    """The runs that a profile is made from.

    Attributes
    ----------
    usual
        The runs of the program as it is, at least two of each case.
    changed
        Runs with something changed, by the name of the change.
    confidence
        Stated chance that the decision is right, of each usual run; NaN where none is stated.
    stated_by
        A few words on who stated it.
    spent, unit
        What each usual run cost, and in which unit; NaN, and no unit, if it isn't known.
    alike
        Share of a run's calls before two runs of the case part, by case; NaN without calls.
    partings
        Number of pairs of runs that part at a call, by its seat and number, and at any.
    """

    usual: SuiteRuns
    changed: Mapping[str, ChangedRuns]
    confidence: Floats
    stated_by: str
    spent: Floats
    unit: str
    alike: Floats
    partings: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Predictability:
    """The worth of stated confidences.

    Attributes
    ----------
    stated_by
        A few words on who stated them.
    runs, stated
        Numbers of usual runs, and of those with a confidence.
    calibration
        The Brier score and its parts.
    area
        Chance that a right run is more confident than a wrong one; ``None`` if all are right, or
        all wrong.
    curve
        Risk over coverage, the most confident runs first.
    """

    stated_by: str
    runs: int
    stated: int
    calibration: ConfidenceCalibration
    area: ProfileEstimate | None
    curve: tuple[RiskPoint, ...]

    @property
    def half(self) -> RiskPoint:
        """The point with the fewest runs that are at least half of all."""
        return next(point for point in self.curve if point.coverage >= 0.5 - 1e-9)


@dataclass(frozen=True)
class ReliabilityProfile:
    """A program's reliability, part by part; what isn't known is left out.

    Attributes
    ----------
    disagreement
        How often two runs of a case decide differently.
    consistency
        1 - 2 G of right and wrong; ``None`` without right answers.
    alike
        Share of a run's calls before two runs of a case part; ``None`` without calls.
    partings
        Number of pairs of runs that first differ at a call, by its name, the most frequent first.
    spread, unit
        How much two runs of a case differ in cost, relative to their mean, and the unit of cost.
    robustness
        What each change does.
    predictability
        What confidences are worth; ``None`` without confidences or right answers.
    scored
        True if right answers are known.
    """

    disagreement: ProfileEstimate
    consistency: ProfileEstimate | None
    alike: ProfileEstimate | None
    partings: Mapping[str, int]
    spread: ProfileEstimate | None
    unit: str
    robustness: tuple[Robustness, ...]
    predictability: Predictability | None
    scored: bool


def assess_profile(runs: ProfileRuns) -> ReliabilityProfile:
    """Assess a program from its runs, as it is and with changes.

    Each part is the unbiased, clustered counterpart of a metric of Rabanser et al. (2026), whose
    names docs/appendix/audit-profiles.md lists.
    """
    usual = runs.usual
    score = score_suite(usual) if usual.has_scores else None
    consistency = score.consistency if score is not None else None
    known = bool(runs.unit) and bool(np.isfinite(runs.spent).all())
    alike = estimate_mean_of_cases(runs.alike)
    return ReliabilityProfile(
        disagreement=ProfileEstimate.of_suite(estimate_disagreement(usual)),
        consistency=None if consistency is None else ProfileEstimate.of_suite(consistency),
        alike=ProfileEstimate.of_suite(alike) if alike.cases else None,
        partings=dict(sorted(runs.partings.items(), key=lambda item: (-item[1], item[0]))),
        spread=estimate_spread(usual.case, runs.spent) if known else None,
        unit=runs.unit,
        robustness=tuple(assess_change(name, usual, each) for name, each in runs.changed.items()),
        predictability=_predictability(runs),
        scored=usual.has_scores,
    )


def _predictability(runs: ProfileRuns) -> Predictability | None:
    usual = runs.usual
    if not usual.has_scores:
        return None
    stated = StatedRuns.of(usual.case, runs.confidence, (usual.score >= 1).astype(float))
    if stated.cases < _LEAST_CASES:
        return None
    return Predictability(
        stated_by=runs.stated_by,
        runs=len(usual.case),
        stated=len(stated.case),
        calibration=assess_calibration(stated),
        area=estimate_area(stated),
        curve=trace_risk(stated),
    )
