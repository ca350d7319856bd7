"""Publication of all outputs of an audit: written, logged to MLflow, printed."""

import json
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from plenum.base import UserError, pause_collector
from plenum.design import Job
from plenum.reports import (
    Document,
    Product,
    Settings,
    Sides,
    Table,
    format_csv,
    print_written,
    publish_product,
    render_html,
    show,
    show_sentences,
)
from plenum.tracking import Study
from plenum_audit.design import AuditConfig
from plenum_audit.reports import tables
from plenum_audit.reports.audit import AuditReport, CaseAudit
from plenum_audit.reports.audit_figures import draw_pictures
from plenum_audit.reports.case_groups import SHOWN, group_cases
from plenum_audit.reports.comment import comment
from plenum_audit.reports.dialogue import MOST_LETTERS, first_within, messages, sides
from plenum_audit.reports.drift import draw_drift
from plenum_audit.reports.empty_report import make_empty_report
from plenum_audit.reports.gather import AuditedCondition, gather_report, select_conditions
from plenum_audit.reports.journal_reader import find_folder, read_journaled
from plenum_audit.reports.junit import junit
from plenum_audit.reports.log_report import report_log, show_pair
from plenum_audit.reports.mlflow_audit import log, read_audit_record, read_terms
from plenum_audit.reports.page import MOST, MOST_PAIRS, document
from plenum_audit.reports.record import AuditRecord, AuditSubject, record_audit
from plenum_audit.reports.words import (
    MOST_CASES,
    causes,
    format_outcome,
    headline,
    lead,
    line,
    words,
)
from plenum_verdicts.dynamics import STABLE, STOPPED, AuditResult, StabilityRule
from plenum_verdicts.logs import Log


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
    return _publish(audit, page, chosen)


@pause_collector()
def publish_log(
    log: Log, audited: AuditConfig, results: AuditResult, place: Settings, record: AuditRecord
) -> list[str]:
    """Publish the audit of a log, of whose runs MLflow gets none.

    Parameters
    ----------
    place
        The study, where it is tracked, and the folder; without an address nothing is.

    Returns
    -------
    list of str
        Remaining messages, in words.
    """
    rule = StabilityRule(audited.acceptable, audited.unacceptable)
    status = results.status(audited.undecided)
    audit = replace(report_log(log, results, rule), exit_status=status, record=record)
    logged = {each.case.id: each for each in log.cases}
    parted = [case for case in audit.by_need if case.pair][:MOST_PAIRS]
    found = (pair for case in parted if (pair := show_pair(case, logged[case.id])) is not None)
    pairs = first_within(found, MOST_LETTERS)
    with tempfile.TemporaryDirectory() as scratch:
        drawn = draw_pictures(audit, {}, Path(scratch), ["svg"])
        page = render_html(document(audit, pairs, pictures=drawn))
    if not place.uri:
        _write(audit, page, place.out)
        return _describe_untracked(audit, results)
    _publish(audit, page, place)
    return results.notes()


def _publish(audit: AuditReport, page: str, chosen: Settings) -> AuditReport:
    files = _write(audit, page, chosen.out)
    log(audit, chosen, files)
    show([tables.verdicts(audit, SHOWN)[0]])
    show_sentences(_sentences(audit))
    print_written(files)
    return audit


def _write(audit: AuditReport, page: str, out: Path) -> list[Path]:
    """Write every output; raises :class:`UserError` if the folder isn't writable."""
    texts = {
        "audit.json": audit.json(),
        "audit.html": page,
        "audit.xml": junit(audit),
        "audit.md": comment(audit),
        "audit.csv": format_csv(tables.frame((*audit.cases, *audit.variants))),
    }
    files = [out / name for name in texts]
    try:
        out.mkdir(parents=True, exist_ok=True)
        for file in files:
            file.write_text(texts[file.name], encoding="utf-8", newline="")
    except OSError as error:
        raise UserError(f"out: {out} can't be made or written to: {error.strerror}") from None
    return files


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
        return [*_describe_untracked(audit, results), *_causes(audit, jobs)]
    audit = publish(
        chosen,
        rule,
        settings.max_runs,
        [job.condition.identity for job in jobs],
        results,
        status,
        record,
    )
    return [*results.notes(), *_causes(audit, jobs)]


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


def publish_unbegun(
    study: str, settings: AuditConfig, why: str, status: int = STOPPED, own: bool = False
) -> None:
    """Write the outputs of an audit of which nothing is known, unless another study's exist.

    Parameters
    ----------
    why
        The reason, in words.
    status
        Exit status of the audit.
    own
        True if the folder is this study's, whatever it holds.
    """
    out = Path(settings.out)
    if not own and _study_in(out) not in ("", study):
        return
    audit = make_empty_report(study, settings, why, status)
    _write(audit, render_html(document(audit)), out)


def _study_in(out: Path) -> str:
    """Return the study whose audit is in a folder; empty if there is no readable one."""
    try:
        held = json.loads((out / "audit.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return str(held.get("study", "")) if isinstance(held, dict) else ""


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
    _write(untracked, page, out)
    return audit


def _describe_untracked(audit: AuditReport, results: AuditResult) -> list[str]:
    """Return the verdicts in words, with the accuracy of decisions if it is known."""
    return [*results.lines(), headline(audit)] if audit.accuracy else list(results.lines())


def report_tables(chosen: Settings) -> AuditReport:
    """Print an audit's tables, write them as CSV, Markdown and LaTeX, and log them to MLflow."""
    with _read(chosen, *read_terms(chosen)) as (audit, _):
        frames = {"audit": tables.frame((*audit.cases, *audit.variants))}
        publish_product(
            Product("tables", _tables(audit), frames, heading=f"Study {audit.study}"), chosen
        )
    return audit


def report(chosen: Settings, folder: Path) -> Document:
    """Return the page of an audit as a study's report."""
    with _read(chosen, *read_terms(chosen)) as (audit, conditions):
        audit = replace(audit, record=read_audit_record(chosen))
        return _document(audit, conditions, chosen, folder, ["png", "svg"])


def findings(audit: AuditReport) -> list[str]:
    """Return sentences on an audit: verdicts, then causes of failed and undecided runs."""
    return [*_sentences(audit), *_causes(audit)]


def _causes(audit: AuditReport, jobs: Sequence[Job] = ()) -> list[str]:
    """Return a line per case with undecided runs: the causes, and a program's output file."""
    folders = {job.condition.identity: find_folder(job) for job in jobs}
    explained = [case for case in audit.by_need if case.causes]
    lines = []
    for case in explained[:MOST_CASES]:
        output = folders.get(case.condition, Path()) / f"{case.causes[0].run:03d}.output"
        printed = str(output) if case.condition in folders and output.is_file() else ""
        lines.append(f"{case.name}: {causes(audit, case, output=printed)}")
    return [*lines, *words("more_causes", audit, left=len(explained) - MOST_CASES)]


def _sentences(audit: AuditReport) -> list[str]:
    """Return the verdict, then the cases that aren't stable, with equal ones joined."""
    open_cases = [each for each in group_cases(audit.by_need) if each.case.in_family != STABLE]
    lines = [f"{each.name}: {line(audit, each.case)}" for each in open_cases[:SHOWN]]
    left = words("left_out", audit, groups=open_cases[SHOWN:])
    return [lead(audit), *lines, *left, *words("together", audit)]


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


def _tables(audit: AuditReport) -> list[Table]:
    varied = [tables.variants(audit)] if audit.variants else []
    return [tables.verdicts(audit, MOST)[0], *varied, tables.costs(audit)]


def _document(
    audit: AuditReport,
    conditions: list[AuditedCondition],
    chosen: Settings,
    folder: Path,
    kinds: Sequence[str],
) -> Document:
    by_run = {each.tracked.run_id: each for each in conditions}
    parted = [case for case in audit.by_need if case.pair][:MOST_PAIRS]
    found = (pair for case in parted if (pair := _sides(case, by_run[case.run_id])) is not None)
    pairs = first_within(found, MOST_LETTERS)
    drift = draw_drift([by_run[case.run_id] for case in audit.by_need], chosen, folder, kinds)
    outcomes = {case.id: by_run[case.run_id].outcomes[: case.runs] for case in audit.cases}
    return document(audit, pairs, drift, draw_pictures(audit, outcomes, folder, kinds))


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
