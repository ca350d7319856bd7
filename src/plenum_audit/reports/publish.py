"""Publication of all outputs of an audit: written, logged to MLflow, printed."""

import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from plenum.design import Job
from plenum.reports import (
    Document,
    Product,
    Settings,
    Sides,
    publish_product,
    render_html,
)
from plenum.tracking import Study
from plenum_audit.design import AuditConfig
from plenum_audit.reports.drift import draw_drift
from plenum_audit.reports.gather import AuditedCondition, gather_report, select_conditions
from plenum_audit.reports.journal_reader import find_folder, read_journaled
from plenum_verdicts.dynamics import STOPPED, AuditResult, StabilityRule
from plenum_verdicts.reports import (
    AuditRecord,
    AuditReport,
    AuditSubject,
    CaseAudit,
    compose_document,
    describe_untracked,
    explain_causes,
    format_outcome,
    list_tables,
    make_frame_of_cases,
    messages,
    publish_report,
    read_audit_record,
    read_terms,
    record_audit,
    sides,
    write_report,
)


def publish(
    chosen: Settings,
    rule: StabilityRule,
    max_runs: int | None = None,
    wanted: Collection[str] = (),
    results: AuditResult | None = None,
    exit_status: int | None = None,
    record: AuditRecord | None = None,
) -> AuditReport:
    """Write ``audit.json``, ``.html``, ``.xml`` and ``.md``, log and print the audit.

    Parameters
    ----------
    chosen
        The study, and the output folder.
    rule
        The criterion of stability.
    max_runs
        Maximal number of runs of a case, if it was set.
    wanted
        Identities of the audit's conditions; without any as for
        :func:`plenum_audit.reports.gather.select_conditions`.
    results
        Further results of the audit: remedies, a baseline, a control.
    exit_status
        Its exit status.
    record
        Who tested what, if that is known.

    Raises
    ------
    UserError
        There is no such study, it is empty, or no run has ended.
    """
    with (
        tempfile.TemporaryDirectory() as scratch,
        _read(chosen, rule, max_runs, wanted, results, exit_status) as (audit, conditions),
    ):
        audit = replace(audit, record=record or AuditRecord())
        page = render_html(_document(audit, conditions, chosen, Path(scratch), ["svg"]))
    return publish_report(audit, page, chosen)


def publish_audited(
    jobs: Sequence[Job],
    settings: AuditConfig,
    results: AuditResult,
    subjects: tuple[AuditSubject, ...] = (),
) -> list[str]:
    """Publish an audit that was just made, to the folder in its settings.

    Without a tracking store, or if a case has no run there, it is read from its journals.

    Parameters
    ----------
    jobs
        Jobs, one per case.
    subjects
        What was tested, with digests.

    Returns
    -------
    list of str
        Remaining messages, in words.
    """
    chosen = Settings(jobs[0].study, str(jobs[0].tracking_uri), Path(settings.out))
    rule = StabilityRule(settings.acceptable, settings.unacceptable)
    status = results.status(settings.undecided)
    untracked, record = not jobs[0].tracking_uri, record_audit(settings, subjects)
    if untracked or not all(case.runs for case in results.cases.values()):
        audit = _publish_journaled(jobs, settings, results, status, record=record)
        return [*describe_untracked(audit, results), *explain_causes(audit, _find_folders(jobs))]
    audit = publish(
        chosen,
        rule,
        settings.max_runs,
        [job.condition.identity for job in jobs],
        results,
        status,
        record,
    )
    return [*results.notes(), *explain_causes(audit, _find_folders(jobs))]


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
    _publish_journaled(jobs, settings, None, status, why, begun)


def _publish_journaled(
    jobs: Sequence[Job],
    settings: AuditConfig,
    results: AuditResult | None,
    status: int,
    stopped: str = "",
    begun: bool = True,
    record: AuditRecord | None = None,
) -> AuditReport:
    out = Path(settings.out)
    chosen = Settings(jobs[0].study, "", out)
    rule = StabilityRule(settings.acceptable, settings.unacceptable)
    study, conditions = read_journaled(jobs, begun)
    audit = gather_report(study, conditions, rule, settings.max_runs, results, status, stopped)
    audit = replace(audit, record=record or record_audit(settings))
    with tempfile.TemporaryDirectory() as scratch:
        page = render_html(_document(audit, conditions, chosen, Path(scratch), ["svg"]))
    untracked = replace(audit, cases=tuple(replace(case, run_id="") for case in audit.cases))
    write_report(untracked, page, out)
    return audit


def _find_folders(jobs: Sequence[Job]) -> dict[str, Path]:
    return {job.condition.identity: find_folder(job) for job in jobs}


def report_tables(chosen: Settings) -> AuditReport:
    """Print an audit's tables, write them as CSV, Markdown and LaTeX, and log them to MLflow."""
    with _read(chosen, *read_terms(chosen)) as (audit, _):
        frames = {"audit": make_frame_of_cases(audit)}
        publish_product(
            Product("tables", list_tables(audit), frames, heading=f"Study {audit.study}"), chosen
        )
    return audit


def report(chosen: Settings, folder: Path) -> Document:
    """Return the page of an audit as a study's report."""
    with _read(chosen, *read_terms(chosen)) as (audit, conditions):
        audit = replace(audit, record=read_audit_record(chosen))
        return _document(audit, conditions, chosen, folder, ["png", "svg"])


@contextmanager
def _read(
    chosen: Settings,
    rule: StabilityRule,
    max_runs: int | None,
    wanted: Collection[str],
    results: AuditResult | None = None,
    exit_status: int | None = None,
) -> Iterator[tuple[AuditReport, list[AuditedCondition]]]:
    study = Study(chosen.study, chosen.uri)
    with study.transcripts() as stored:
        conditions = select_conditions(study.conditions, stored, wanted)
        yield gather_report(study, conditions, rule, max_runs, results, exit_status), conditions


def _document(
    audit: AuditReport,
    conditions: list[AuditedCondition],
    chosen: Settings,
    folder: Path,
    kinds: Sequence[str],
) -> Document:
    by_run = {each.tracked.run_id: each for each in conditions}
    pairs = (_sides(case, by_run[case.run_id]) for case in audit.by_need if case.pair)
    drift = draw_drift([by_run[case.run_id] for case in audit.by_need], chosen, folder, kinds)
    return compose_document(audit, pairs, drift, folder, kinds)


def _sides(case: CaseAudit, each: AuditedCondition) -> Sides | None:
    """Return the two runs of a case for its page; ``None`` if there is nothing to read."""
    if case.pair is None:
        return None
    by_number = {stored.replicate: stored for stored in each.transcripts}
    runs = [
        by_number[n].read() if n in by_number else None for n in (case.pair.left, case.pair.right)
    ]
    left, right = runs
    if (
        left is None
        or right is None
        or not any(line[2] for r in (left, right) for line in messages(r))
    ):
        return None
    return sides(case.name, left, right, lambda label: format_outcome(case, label))
