"""Publication of all outputs of an audit: written, logged to MLflow, printed."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from plenum.base.errors import UserError
from plenum.design.job import Job
from plenum.execution.condition_folder import find_condition_folder
from plenum.reports.publication import Product, publish_product
from plenum.reports.settings import Settings
from plenum.show.document import Sides
from plenum.show.renderer import render_html
from plenum.show.terminal_tables import show_text
from plenum.tracking.store import absolute_uri
from plenum.tracking.stored_runs import list_stored_conditions
from plenum_audit.design import AuditConfig
from plenum_audit.reports.gather import gather_report, list_journals
from plenum_verdicts.dynamics.audit_result import STOPPED, AuditResult
from plenum_verdicts.reports.audit import AuditReport, CaseAudit, DifferingRuns
from plenum_verdicts.reports.dialogue import messages, sides
from plenum_verdicts.reports.publish import (
    compose_document,
    explain_causes,
    list_tables,
    make_frame_of_cases,
    publish_report,
    write_report,
)
from plenum_verdicts.reports.record import AuditSubject
from plenum_verdicts.reports.suite import SuiteReport
from plenum_verdicts.reports.words import format_outcome
from plenum_verdicts.tracking.audits import read_last_report


def publish_audited(
    jobs: Sequence[Job],
    settings: AuditConfig,
    results: AuditResult,
    subjects: tuple[AuditSubject, ...] = (),
) -> AuditReport:
    """Publish an audit that was just made, to the folder in its settings.

    Parameters
    ----------
    jobs
        Jobs, one per case.
    subjects
        What was tested, with digests.
    """
    status, uri = results.status(settings.undecided), jobs[0].tracking_uri
    stored = list_stored_conditions(jobs[0].study, absolute_uri(uri)) if uri else []
    ids = {run.tags.get("plenum.condition", ""): run.run_id for run in stored}
    audit = gather_report(jobs, settings, results, status, subjects=subjects, run_ids=ids)
    _publish(audit, jobs, settings)
    folders = {job.condition.identity: find_condition_folder(job) for job in jobs}
    for line in (*results.notes(), *explain_causes(audit, folders)):
        show_text(line)
    return audit


def publish_suite(
    jobs: Sequence[Job],
    settings: AuditConfig,
    suite: SuiteReport,
    subjects: tuple[AuditSubject, ...] = (),
) -> AuditReport:
    """Publish a suite that was just run: the first ``repeats`` runs of each case.

    Parameters
    ----------
    jobs, subjects
        As for :func:`publish_audited`.
    suite
        The verdict on all cases together, which comes first.
    """
    status = suite.status(settings.undecided)
    audit = gather_report(jobs, settings, None, status, subjects=subjects, suite=suite)
    _publish(audit, jobs, settings)
    return audit


def _publish(audit: AuditReport, jobs: Sequence[Job], settings: AuditConfig) -> None:
    chosen = Settings(audit.study, str(jobs[0].tracking_uri or ""), Path(settings.out))
    publish_report(audit, _compose_page(audit, jobs), chosen)


def publish_unended(
    jobs: Sequence[Job], settings: AuditConfig, why: str, begun: bool = True, status: int = STOPPED
) -> None:
    """Write the outputs of an audit without a verdict.

    Parameters
    ----------
    why
        The reason, in words.
    begun
        True if there may be runs, which are read from journals.
    status
        Exit status of the audit.
    """
    audit = gather_report(jobs, settings, None, status, why, begun=begun)
    write_report(audit, _compose_page(audit, jobs), Path(settings.out))


def report_tables(chosen: Settings) -> AuditReport:
    """Print an audit's tables, write them as CSV, Markdown and LaTeX, and log them to MLflow.

    Raises
    ------
    UserError
        No audit of the study has ended, or the last one can't be read or was of a suite.
    """
    try:
        written = read_last_report(chosen.study, chosen.uri)
        audit = TypeAdapter(AuditReport).validate_json(written)
    except ValidationError:
        why = f"the last audit of {chosen.study!r} is of another version; audit it anew"
        raise UserError(f"study: {why}, which keeps its runs") from None
    frames, heading = {"audit": make_frame_of_cases(audit)}, f"Study {audit.study}"
    publish_product(Product("tables", list_tables(audit), frames, heading=heading), chosen)
    return audit


def _compose_page(audit: AuditReport, jobs: Sequence[Job]) -> str:
    by_case = {job.condition.identity: job for job in jobs}
    differing = ((case, case.pair, by_case[case.condition]) for case in audit.by_need if case.pair)
    pairs = (_show_pair(*each) for each in differing)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        return render_html(compose_document(audit, pairs, folder, ["svg"]))


def _show_pair(case: CaseAudit, pair: DifferingRuns, job: Job) -> Sides | None:
    """Return the two runs of a case for its page; ``None`` if there is nothing to read."""
    journals = {journal.replicate: journal for journal in list_journals(job)}
    left, right = journals[pair.left].read(), journals[pair.right].read()
    if left and right and any(text for _, _, text, _ in (*messages(left), *messages(right))):
        return sides(case.name, left, right, lambda label: format_outcome(case, label))
    return None
