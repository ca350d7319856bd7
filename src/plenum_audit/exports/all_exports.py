"""All exports of a verdict: the statement always, the others where a setting asks for them."""

from collections.abc import Sequence
from pathlib import Path

from plenum.reports import print_written
from plenum_audit.exports.findings import AuditFinding, find_by_case, find_in_suite
from plenum_audit.exports.inspect_scores import write_scores
from plenum_audit.exports.statement import write_statement
from plenum_audit.programs import Audit
from plenum_verdicts.dynamics import AuditResult
from plenum_verdicts.suites import SuiteAssessment, SuiteRuns


def export_audit(audit: Audit, result: AuditResult) -> None:
    """Export the verdicts of an audit; nothing if it was stopped before a verdict.

    Raises
    ------
    UserError
        A file can't be written.
    """
    if not result.stopped:
        status = result.status(audit.settings.undecided)
        _export(audit, find_by_case(result), status, "audit.json")


def export_suite(audit: Audit, suite: SuiteAssessment, runs: SuiteRuns, status: int) -> None:
    """Export the verdict on a suite, and the exit status that it led to.

    Raises
    ------
    UserError
        A file can't be written.
    """
    _export(audit, find_in_suite(suite, runs), status, "suite.json")


def _export(audit: Audit, findings: Sequence[AuditFinding], status: int, report: str) -> None:
    settings = audit.settings
    write_statement(audit, findings, status, [report])
    if settings.inspect_scores:
        place = Path(settings.inspect_scores).expanduser()
        print_written([write_scores(place, audit.logged, findings[:-1])])
