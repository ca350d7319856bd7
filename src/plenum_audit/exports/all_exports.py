"""All exports of a verdict: the statement always, the others where a setting asks for them."""

from collections.abc import Sequence
from pathlib import Path

from plenum.reports import print_written
from plenum_audit.design import AuditConfig
from plenum_audit.exports.inspect_scores import write_scores
from plenum_audit.exports.statement import write_statement
from plenum_verdicts.logs import CaseLog
from plenum_verdicts.reports import AuditReport


def export_audit(
    report: AuditReport, settings: AuditConfig, logged: Sequence[CaseLog] = ()
) -> None:
    """Export a verdict; nothing if the audit was stopped before it.

    Parameters
    ----------
    logged
        The runs of a log.

    Raises
    ------
    UserError
        A file can't be written.
    """
    if report.stopped:
        return
    write_statement(report, settings)
    if settings.inspect_scores:
        place = Path(settings.inspect_scores).expanduser()
        print_written([write_scores(place, logged, report)])
