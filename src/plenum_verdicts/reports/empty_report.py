"""The audit that couldn't begin: only its study and the reason are known."""

from datetime import UTC, datetime

from plenum.base import code_version, format_error, redact
from plenum_verdicts.design import VerdictConfig
from plenum_verdicts.dynamics import StabilityRule
from plenum_verdicts.reports.audit import SUITE, AuditReport, Circumstances, Cost
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
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return AuditReport(
        study=study,
        committee=redact(settings.program),
        verdict=None,
        rule=StabilityRule(settings.acceptable, settings.unacceptable),
        max_runs=None if settings.logs else getattr(settings, "max_runs", None),
        cases=(),
        variants=(),
        stable=(),
        unstable=(),
        cost=Cost(),
        controlled=Circumstances(
            identities=(),
            program={},
            prompts={},
            overrides="default",
            seed="0",
            models=(),
            temperatures=(),
            fingerprints={},
            backend="none",
            simulated=False,
            versions=(code_version(),),
            begun=now,
            written=now,
            origin="nothing answered",
            messages=False,
        ),
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
