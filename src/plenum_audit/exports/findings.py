"""Findings of an audit by case and on all cases, in one form for every export."""

from collections.abc import Iterator
from dataclasses import dataclass

from plenum_verdicts.dynamics import AuditResult
from plenum_verdicts.suites import SuiteAssessment, SuiteRuns

SUITE = "suite"
"""Name of the finding on all cases together."""
AGREES, CONTRADICTS = "agrees", "contradicts itself"
"""Labels of a case of a suite, of which single cases have no verdict."""


@dataclass(frozen=True)
class AuditFinding:
    """The finding on a case, or on all cases.

    Attributes
    ----------
    case
        The case's id; :data:`SUITE` for all cases.
    label
        ``stable``, ``unstable`` or ``undecided``; a case of a suite ``agrees`` or ``contradicts
        itself``.
    agreement
        Estimated chance that two runs end alike, on average over cases for all of them; ``None``
        with fewer than two runs.
    runs
        Number of runs.
    """

    case: str
    label: str
    agreement: float | None
    runs: int


def find_by_case(result: AuditResult) -> list[AuditFinding]:
    """Return the findings of an audit: one a case, and last the one on all cases."""
    cases = [
        AuditFinding(
            case=name,
            label=result.family.of(name, each),
            agreement=1 - each.disagreement if each.runs > 1 else None,
            runs=each.runs,
        )
        for name, each in result.cases.items()
    ]
    return [*cases, _together(cases, result.family.verdict)]


def find_in_suite(suite: SuiteAssessment, runs: SuiteRuns) -> list[AuditFinding]:
    """Return the findings on a suite: one a case with two runs or more, and last the suite's."""
    cases = list(_cases(runs.where_repeated(2)))
    whole = AuditFinding(
        case=SUITE,
        label=suite.verdict.verdict,
        agreement=1 - suite.disagreement.value,
        runs=sum(each.runs for each in cases),
    )
    return [*cases, whole]


def _cases(runs: SuiteRuns) -> Iterator[AuditFinding]:
    for name, apart, repeats in zip(runs.cases, runs.disagreements(), runs.repeats, strict=True):
        label = CONTRADICTS if apart > 0 else AGREES
        yield AuditFinding(name, label, float(1 - apart), int(repeats))


def _together(cases: list[AuditFinding], verdict: str) -> AuditFinding:
    known = [each.agreement for each in cases if each.agreement is not None]
    mean = sum(known) / len(known) if known else None
    return AuditFinding(SUITE, verdict, mean, sum(each.runs for each in cases))
