"""Groups of an audit's cases with equal results, which share one line."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from plenum_verdicts.reports.audit import CaseAudit

SHOWN = 10
"""Number of lines for cases on a terminal, and of cases up to which each has its own."""


@dataclass(frozen=True)
class CaseGroup:
    """Cases with equal verdict, interval, runs and decisions, represented by the first."""

    case: CaseAudit
    cases: int

    @property
    def name(self) -> str:
        """The name of the first case, and the number of the others."""
        more = f" and {self.cases - 1:,} more" if self.cases > 1 else ""
        return f"{self.case.name}{more}"


def group_cases(cases: Sequence[CaseAudit], apart: int = SHOWN) -> list[CaseGroup]:
    """Group equal cases, in the order of their first ones.

    A few cases, up to ``apart``, aren't grouped.
    """
    if len(cases) <= apart:
        return [CaseGroup(case, 1) for case in cases]
    counts: dict[Hashable, list[CaseAudit]] = {}
    for case in cases:
        counts.setdefault(make_group_key(case), []).append(case)
    return [CaseGroup(group[0], len(group)) for group in counts.values()]


def count_cases(groups: Iterable[CaseGroup]) -> int:
    """Return the total number of cases in the groups."""
    return sum(group.cases for group in groups)


def make_group_key(case: CaseAudit) -> Hashable:
    """Return all that a line says of a case except its name; equal for equal lines."""
    share = case.share
    return (
        case.in_family,
        case.verdict,
        case.runs,
        case.right,
        case.score,
        case.warnings,
        case.further,
        # Rounded as they are shown: cases whose lines would read alike are one group.
        (f"{100 * share.low:.0f}", f"{100 * share.high:.0f}") if share else (),
        frozenset(case.decisions.items()),
        tuple(case.options.items()),
    )
