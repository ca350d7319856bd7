"""Cases of an audit that say the same: many of them take one line."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from plenum_audit.reports.audit import CaseAudit

SHOWN = 10
"""Lines of a terminal for cases, and cases up to which each has a line of its own."""


@dataclass(frozen=True)
class Alike:
    """Cases with the same verdict, interval, runs and decisions, by the first of them."""

    case: CaseAudit
    cases: int

    @property
    def name(self) -> str:
        """The name of the first one, and how many more there are."""
        more = f" and {self.cases - 1:,} more" if self.cases > 1 else ""
        return f"{self.case.name}{more}"


def alike(cases: Sequence[CaseAudit]) -> list[Alike]:
    """The cases in their order, each group of equal ones where its first one stands.

    A few cases are told one by one.
    """
    if len(cases) <= SHOWN:
        return [Alike(case, 1) for case in cases]
    counts: dict[Hashable, list[CaseAudit]] = {}
    for case in cases:
        counts.setdefault(likeness(case), []).append(case)
    return [Alike(group[0], len(group)) for group in counts.values()]


def total(groups: Iterable[Alike]) -> int:
    """How many cases groups have together."""
    return sum(group.cases for group in groups)


def likeness(case: CaseAudit) -> Hashable:
    """All that a line says of a case but its name: equal where two say the same."""
    share = case.share
    return (
        *(case.in_family, case.verdict, case.runs, case.right, case.warnings, case.further),
        (f"{100 * share.low:.0f}", f"{100 * share.high:.0f}") if share else (),
        frozenset(case.decisions.items()),
        tuple(case.options.items()),
    )
