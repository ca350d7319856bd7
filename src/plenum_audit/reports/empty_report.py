"""The audit that couldn't begin: only its study and the reason are known."""

from datetime import UTC, datetime

from plenum.base import code_version, redact
from plenum_audit.design import AuditConfig
from plenum_audit.reports.audit import AuditReport, Circumstances, Cost
from plenum_audit.reports.record import record_audit
from plenum_verdicts.dynamics import StabilityRule


def make_empty_report(study: str, settings: AuditConfig, why: str, status: int) -> AuditReport:
    """Return an audit without cases.

    Parameters
    ----------
    why
        The reason, in words.
    status
        Its exit status.
    """
    named = settings.committee
    program = named.name or named.target or named.command or named.http or str(settings.logs or "")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return AuditReport(
        study=study,
        committee=redact(program),
        verdict=None,
        rule=StabilityRule(settings.acceptable, settings.unacceptable),
        max_runs=settings.max_runs,
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
        record=record_audit(settings),
    )
