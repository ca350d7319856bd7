"""Publication of a verdict on cases: its files are written, logged to MLflow and printed."""

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from pandas import DataFrame

from plenum.base import UserError, pause_collector
from plenum.reports import (
    Document,
    Picture,
    Settings,
    Sides,
    Table,
    format_csv,
    print_written,
    render_html,
    show,
    show_sentences,
)
from plenum_verdicts.design import VerdictConfig
from plenum_verdicts.dynamics import STABLE, STOPPED, AuditResult, StabilityRule
from plenum_verdicts.logs import Log
from plenum_verdicts.reports import tables
from plenum_verdicts.reports.audit import AuditReport
from plenum_verdicts.reports.audit_figures import draw_pictures
from plenum_verdicts.reports.case_groups import SHOWN, group_cases
from plenum_verdicts.reports.comment import comment
from plenum_verdicts.reports.dialogue import MOST_LETTERS, first_within
from plenum_verdicts.reports.empty_report import make_empty_report
from plenum_verdicts.reports.junit import junit
from plenum_verdicts.reports.log_report import report_log, show_pair
from plenum_verdicts.reports.mlflow_audit import log
from plenum_verdicts.reports.outputs import guard_cells
from plenum_verdicts.reports.page import MOST, MOST_PAIRS, document
from plenum_verdicts.reports.record import AuditRecord
from plenum_verdicts.reports.words import MOST_CASES, causes, headline, lead, line, words


@pause_collector()
def publish_log(
    logged: Log, audited: VerdictConfig, results: AuditResult, place: Settings, record: AuditRecord
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
    audit = replace(report_log(logged, results, rule), exit_status=status, record=record)
    by_case = {each.case.id: each for each in logged.cases}
    pairs = (show_pair(case, by_case[case.id]) for case in audit.by_need if case.pair)
    with tempfile.TemporaryDirectory() as scratch:
        page = render_html(compose_document(audit, pairs, [], Path(scratch), ["svg"]))
    if not place.uri:
        write_report(audit, page, place.out)
        return describe_untracked(audit, results)
    publish_report(audit, page, place)
    return results.notes()


def publish_report(audit: AuditReport, page: str, chosen: Settings) -> AuditReport:
    """Write an audit and its page, log them to MLflow, and print what they say."""
    files = write_report(audit, page, chosen.out)
    log(audit, chosen, files)
    show([tables.verdicts(audit, SHOWN)[0]])
    show_sentences(list_sentences(audit))
    print_written(files)
    return audit


def write_report(audit: AuditReport, page: str, out: Path) -> list[Path]:
    """Write every output; raises :class:`UserError` if the folder isn't writable."""
    texts = {
        "audit.json": audit.json(),
        "audit.html": page,
        "audit.xml": junit(audit),
        "audit.md": comment(audit),
        "audit.csv": format_csv(guard_cells(make_frame_of_cases(audit))),
    }
    files = [out / name for name in texts]
    try:
        out.mkdir(parents=True, exist_ok=True)
        for file in files:
            file.write_text(texts[file.name], encoding="utf-8", newline="")
    except OSError as error:
        raise UserError(f"out: {out} can't be made or written to: {error.strerror}") from None
    return files


def publish_unbegun(
    study: str, settings: VerdictConfig, why: str, status: int = STOPPED, own: bool = False
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
    write_report(audit, render_html(document(audit)), out)


def _study_in(out: Path) -> str:
    """Return the study whose audit is in a folder; empty if there is no readable one."""
    try:
        held = json.loads((out / "audit.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return str(held.get("study", "")) if isinstance(held, dict) else ""


def describe_untracked(audit: AuditReport, results: AuditResult) -> list[str]:
    """Return the verdicts in words, with the accuracy of decisions if it is known."""
    return [*results.lines(), headline(audit)] if audit.accuracy else list(results.lines())


def list_tables(audit: AuditReport) -> list[Table]:
    """Return the tables of an audit: verdicts, other settings, costs."""
    varied = [tables.variants(audit)] if audit.variants else []
    return [tables.verdicts(audit, MOST)[0], *varied, tables.costs(audit)]


def make_frame_of_cases(audit: AuditReport) -> DataFrame:
    """Return the frame of ``audit.csv``."""
    return tables.frame((*audit.cases, *audit.variants))


def compose_document(
    audit: AuditReport,
    pairs: Iterable[Sides | None],
    drift: list[Picture],
    folder: Path,
    kinds: Sequence[str],
) -> Document:
    """Return the page of an audit, with as many pairs of runs as fit.

    Parameters
    ----------
    pairs
        Two runs of each case that has different ones, in the order of the cases by need.
    drift
        Figures of D(t).
    folder, kinds
        Where figures are written, and their formats: ``svg``, ``png``.
    """
    found = [pair for pair in islice(pairs, MOST_PAIRS) if pair is not None]
    shown = first_within(found, MOST_LETTERS)
    return document(audit, shown, drift, draw_pictures(audit, folder, kinds))


def findings(audit: AuditReport) -> list[str]:
    """Return sentences on an audit: verdicts, then causes of failed and undecided runs."""
    return [*list_sentences(audit), *explain_causes(audit, {})]


def explain_causes(audit: AuditReport, folders: Mapping[str, Path]) -> list[str]:
    """Return a line per case with undecided runs: the causes, and a program's output file.

    Parameters
    ----------
    folders
        The folder of the journals of a condition, by its identity.
    """
    explained = [case for case in audit.by_need if case.causes]
    lines = []
    for case in explained[:MOST_CASES]:
        output = folders.get(case.condition, Path()) / f"{case.causes[0].run:03d}.output"
        printed = str(output) if case.condition in folders and output.is_file() else ""
        lines.append(f"{case.name}: {causes(audit, case, output=printed)}")
    return [*lines, *words("more_causes", audit, left=len(explained) - MOST_CASES)]


def list_sentences(audit: AuditReport) -> list[str]:
    """Return the verdict, then the cases that aren't stable, with equal ones joined."""
    open_cases = [each for each in group_cases(audit.by_need) if each.case.in_family != STABLE]
    lines = [f"{each.name}: {line(audit, each.case)}" for each in open_cases[:SHOWN]]
    left = words("left_out", audit, groups=open_cases[SHOWN:])
    return [lead(audit), *lines, *left, *words("together", audit)]
