"""Optional sections of an audit: baseline, control."""

from collections.abc import Sequence
from dataclasses import dataclass

from plenum.base.shares import keep_finite
from plenum_verdicts.dynamics.audit_baseline import CaseComparison
from plenum_verdicts.dynamics.audit_result import AuditResult


@dataclass(frozen=True)
class BaselineComparison:
    """A case compared with the same case of an earlier program.

    Attributes
    ----------
    now, before, difference, low, high
        Shares of runs that decide alike, their difference, and its interval.
    e_worse
        The e-value against the hypothesis that the share hasn't decreased.
    worse
        True if a decrease is shown among all cases.
    decides_otherwise
        True if another decision is shown to be the most frequent.
    least_drop
        The smallest decrease that so many runs would have shown; ``None`` if none.
    """

    case: str
    now: float
    runs_now: int
    before: float
    runs_before: int
    difference: float
    low: float
    high: float
    e_worse: float
    worse: bool
    decides_otherwise: bool
    least_drop: float | None = None


@dataclass(frozen=True)
class Control:
    """Probability that two runs of a case end differently, in the control without interaction."""

    case: str
    disagreement: float | None
    runs: int


@dataclass(frozen=True)
class OptionalSections:
    """Optional sections of an audit; empty if they weren't requested.

    Attributes
    ----------
    errors
        Reasons of an early end, one line each.
    """

    baseline: tuple[BaselineComparison, ...] = ()
    control: tuple[Control, ...] = ()
    errors: tuple[str, ...] = ()


def collect_sections(results: AuditResult) -> OptionalSections:
    """Return the optional sections as plain data, with ``None`` for unknown values."""
    comparisons, control = results.comparisons or {}, results.control or {}
    return OptionalSections(
        baseline=tuple(_compare(c, each, results.worse) for c, each in comparisons.items()),
        control=tuple(
            Control(case, keep_finite(each.disagreement), each.runs)
            for case, each in control.items()
        ),
        errors=results.errors,
    )


def _compare(case: str, each: CaseComparison, worse: Sequence[str]) -> BaselineComparison:
    return BaselineComparison(
        case=case,
        now=each.now.share,
        runs_now=each.now.runs,
        before=each.before.share,
        runs_before=each.before.runs,
        difference=each.difference,
        low=each.low,
        high=each.high,
        e_worse=each.worse,
        worse=case in worse,
        decides_otherwise=each.decides_otherwise,
        least_drop=each.least_drop,
    )
