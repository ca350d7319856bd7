"""Every output of an audit: written, logged to MLflow, printed."""

import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from plenum.design.audit import AuditConfig
from plenum.design.condition import Job
from plenum.dynamics.audit_result import AuditResult
from plenum.dynamics.audits import Rule
from plenum.reports.article.document import Document, Sides
from plenum.reports.article.rendering import html
from plenum.reports.audit import tables
from plenum.reports.audit.audit import Audit, CaseAudit
from plenum.reports.audit.badge import badge
from plenum.reports.audit.comment import comment
from plenum.reports.audit.dialogue import sides
from plenum.reports.audit.drift import drawn
from plenum.reports.audit.gather import Kept, gathered, kept
from plenum.reports.audit.junit import junit
from plenum.reports.audit.logging import log, terms_of
from plenum.reports.audit.page import MOST_PAIRS, document
from plenum.reports.audit.words import lead, line
from plenum.reports.printing import show, show_sentences
from plenum.reports.publishing import Product, publish_product, written
from plenum.reports.settings import Settings
from plenum.reports.table import Table
from plenum.tracking.study import Study


def publish(
    chosen: Settings,
    rule: Rule,
    max_runs: int | None = None,
    wanted: Collection[str] = (),
    results: AuditResult | None = None,
) -> Audit:
    """Write ``audit.json``, ``.html``, ``.xml``, ``.svg`` and ``.md``, log and print the audit.

    Parameters
    ----------
    chosen
        The study, and the folder that files are written to.
    rule
        When a program counts as stable.
    max_runs
        The most runs of a case, where a number was set.
    wanted
        Identities of the audit's conditions; as :func:`plenum.reports.audit.gather.kept` has it
        where none is given.
    results
        What the audit came to beside its runs: what would steady it, a baseline, a control.

    Raises
    ------
    UserError
        There is no such study, nothing in it, or no run has ended.
    """
    with (
        tempfile.TemporaryDirectory() as scratch,
        _read(chosen, rule, max_runs, wanted, results) as (audit, conditions),
    ):
        page = html(_document(audit, conditions, chosen, Path(scratch), ["svg"]))
    texts = {
        "audit.json": audit.json(),
        "audit.html": page,
        "audit.xml": junit(audit),
        "audit.svg": badge(audit),
        "audit.md": comment(audit),
    }
    chosen.out.mkdir(parents=True, exist_ok=True)
    files = [chosen.out / name for name in texts]
    for file in files:
        file.write_text(texts[file.name], encoding="utf-8")
    log(audit, chosen, files)
    show([tables.verdicts(audit)])
    show_sentences(findings(audit))
    written(files)
    return audit


def publish_audited(jobs: Sequence[Job], settings: AuditConfig, results: AuditResult) -> Audit:
    """Publish an audit that was just made, to the folder that its settings name.

    Parameters
    ----------
    jobs
        One a case; their study is tracked.
    """
    return publish(
        Settings(jobs[0].study, str(jobs[0].tracking_uri), Path(settings.out)),
        Rule(settings.acceptable, settings.unacceptable),
        settings.max_runs,
        [job.condition.identity for job in jobs],
        results,
    )


def report_tables(chosen: Settings) -> Audit:
    """Print an audit's tables, write them as CSV, Markdown and LaTeX, and log them to MLflow."""
    with _read(chosen, *terms_of(chosen)) as (audit, _):
        frames = {"audit": tables.frame((*audit.cases, *audit.variants))}
        publish_product(
            Product("tables", _tables(audit), frames, heading=f"Study {audit.study}"),
            chosen,
        )
    return audit


def report(chosen: Settings, folder: Path) -> Document:
    """The page of an audit as a study's report."""
    with _read(chosen, *terms_of(chosen)) as (audit, conditions):
        return _document(audit, conditions, chosen, folder, ["png", "svg"])


def findings(audit: Audit) -> list[str]:
    """Sentences on an audit: its verdict, then the cases that aren't stable."""
    open_cases = [case for case in audit.by_need if case.verdict != "stable"]
    return [lead(audit), *(f"{case.name}: {line(audit, case)}" for case in open_cases)]


@contextmanager
def _read(
    chosen: Settings,
    rule: Rule,
    max_runs: int | None,
    wanted: Collection[str],
    results: AuditResult | None = None,
) -> Iterator[tuple[Audit, list[Kept]]]:
    study = Study(chosen.study, chosen.uri)
    with study.transcripts() as stored:
        conditions = kept(study.conditions, stored, wanted)
        yield gathered(study, conditions, rule, max_runs, results), conditions


def _tables(audit: Audit) -> list[Table]:
    varied = [tables.variants(audit)] * bool(audit.variants)
    return [tables.verdicts(audit), *varied, tables.costs(audit)]


def _document(
    audit: Audit, conditions: list[Kept], chosen: Settings, folder: Path, kinds: Sequence[str]
) -> Document:
    by_run = {each.tracked.run_id: each for each in conditions}
    parted = [case for case in audit.by_need if case.pair][:MOST_PAIRS]
    pairs = [pair for case in parted if (pair := _sides(case, by_run[case.run_id])) is not None]
    drift = drawn([by_run[case.run_id] for case in audit.by_need], chosen, folder, kinds)
    return document(audit, pairs, drift)


def _sides(case: CaseAudit, each: Kept) -> Sides | None:
    """The two runs of a case that its page shows; ``None`` where one can't be read."""
    if case.pair is None:
        return None
    by_number = {stored.replicate: stored for stored in each.transcripts}
    runs = [
        by_number[n].read() if n in by_number else None for n in (case.pair.left, case.pair.right)
    ]
    left, right = runs
    return sides(case.name, left, right) if left is not None and right is not None else None
