"""The audit that couldn't begin: only its study and the reason are known."""

from plenum.base.exits import format_error
from plenum.base.secrets import redact
from plenum_verdicts.design import VerdictConfig
from plenum_verdicts.dynamics.audits import StabilityRule
from plenum_verdicts.reports.audit import SUITE, AuditReport
from plenum_verdicts.reports.record import record_audit


def make_empty_report(
    study: str, settings: VerdictConfig, why: str, status: int, files: str
) -> AuditReport:
    """Return an audit without cases.

    Parameters
    ----------
    why
        The reason, in words.
    status
        Its exit status.
    files
        The name of its files.
    """
    return AuditReport(
        study=study,
        committee=redact(settings.program),
        rule=StabilityRule(settings.acceptable, settings.unacceptable),
        exit_status=status,
        stopped=why,
        record=record_audit(settings, suite=files == SUITE),
        files=files,
    )


def explain_end(error: BaseException) -> str:
    """Return why there is no verdict, in a line."""
    if isinstance(error, KeyboardInterrupt):
        return "the audit was interrupted"
    return format_error(error) if isinstance(error, Exception) else redact(repr(error))
