"""An audit as a gate: whatever ends it, it leaves its outputs, and they say how it ended."""

from contextlib import suppress

from plenum.base.secrets import redact
from plenum.cli import NO_VERDICT, status_of
from plenum_audit.dynamics.audit_result import AuditResult
from plenum_audit.execution import audit as audits
from plenum_audit.execution.audit_logs import is_large, logged_program
from plenum_audit.programs.compose import Audit


def audited(audit: Audit) -> AuditResult | None:
    """Run an audit, write its outputs, and print what it came to.

    Outputs are there from before its first run on: they say that it hasn't ended, as they do for
    good where it is killed, and nothing of an earlier audit stands in their place.

    Returns
    -------
    AuditResult or None
        ``None`` of a dry run, which writes nothing.

    Raises
    ------
    UserError
        Something can't work; where that shows after the start, the outputs say it.
    KeyboardInterrupt
        As :func:`plenum.execution.sweep.run_sweep`.
    RuntimeError
        The program ended this process, as it can where it runs in it.
    """
    from plenum_audit.reports.publish import publish_audited, publish_unended

    begun = False

    def begin() -> None:
        nonlocal begun
        jobs = audit.jobs[:1] if is_large(audit) else audit.jobs
        publish_unended(jobs, audit.settings, "the audit has not ended", begun=False)
        begun = True

    try:
        result = audits.run(audit, begin)
        if result is None:
            return None
        program = logged_program(audit.logged) if is_large(audit) else None
        print("\n".join(publish_audited(audit.jobs, audit.settings, result, program)))
    except BaseException as error:
        if begun:
            with suppress(Exception):  # what ends it must be seen, and they say that it didn't end
                large = is_large(audit)
                jobs = audit.jobs[:1] if large else audit.jobs
                status = status_of(error, NO_VERDICT)
                publish_unended(jobs, audit.settings, _in_words(error), not large, status)
        if isinstance(error, SystemExit):
            raise RuntimeError(f"the program ended the audit: SystemExit({error.code})") from error
        raise
    return result


def _in_words(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "the audit was interrupted"
    return redact(f"{type(error).__name__}: {error}".removeprefix("UserError: "))
