"""The outputs of an audit or a suite that ends before it has any to write."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from plenum.base.exits import NO_VERDICT, find_status
from plenum_audit.design import AuditConfig


@contextmanager
def explain_in_outputs(outputs: Callable[[], tuple[str, AuditConfig] | None]) -> Iterator[None]:
    """Write the outputs of an audit that can't begin, if what is done in this context fails.

    Parameters
    ----------
    outputs
        Returns the study and the settings, or ``None`` if nothing is to be written.
    """
    try:
        yield
    except BaseException as error:
        with suppress(Exception):  # the error itself must be seen; without a folder it is all
            if (known := outputs()) is not None:
                publish_end(*known, error)
        raise


def publish_end(
    study: str, settings: AuditConfig, error: BaseException, begun: bool = False
) -> None:
    """Write the outputs of an audit or a suite that an error ended before it had any to write.

    Parameters
    ----------
    begun
        True if it had begun.
    """
    from plenum_audit.exports.statement import remove_stale_statement
    from plenum_verdicts.reports.audit import AUDIT, SUITE
    from plenum_verdicts.reports.empty_report import explain_end
    from plenum_verdicts.reports.publish import publish_unbegun, read_study

    why = explain_end(error) if begun else f"the audit could not begin: {explain_end(error)}"
    # Of settings that can't be read it isn't known what was asked: what stands there is replaced.
    suite = settings.suite is True or read_study(Path(settings.out), SUITE) == study
    files = SUITE if suite else AUDIT
    publish_unbegun(study, settings, why, find_status(error, NO_VERDICT), files=files)
    remove_stale_statement(settings)
