"""Publication of a verdict: its files are written, logged to MLflow and printed."""

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path

from pandas import DataFrame

from plenum.reports.publication import print_written
from plenum.reports.settings import Settings
from plenum.show.document import Document, Picture, Sides
from plenum.show.renderer import render_html
from plenum.show.table import Table, format_csv
from plenum.show.terminal_tables import show_sentences, show_tables, show_text
from plenum_verdicts.design import VerdictConfig
from plenum_verdicts.dynamics.audit_result import STOPPED, AuditResult
from plenum_verdicts.dynamics.audits import STABLE
from plenum_verdicts.logs.compared_runs import ComparedRuns
from plenum_verdicts.reports import tables
from plenum_verdicts.reports.audit import AUDIT, SUITE, AuditReport
from plenum_verdicts.reports.case_groups import SHOWN, group_cases
from plenum_verdicts.reports.comment import write_comment
from plenum_verdicts.reports.dialogue import MOST_LETTERS, first_within
from plenum_verdicts.reports.empty_report import make_empty_report
from plenum_verdicts.reports.junit import junit
from plenum_verdicts.reports.log_report import show_pair
from plenum_verdicts.reports.mlflow_audit import log
from plenum_verdicts.reports.outputs import (
    guard_cells,
    make_folder,
    refuse_overwriting,
    write_texts,
)
from plenum_verdicts.reports.page import MOST, MOST_PAIRS, document
from plenum_verdicts.reports.suite_screen import show_suite
from plenum_verdicts.reports.words import MOST_CASES, causes, lead, line, words

_ASKED = {
    "acting": (
        "Acting alone, by the number of runs that have to agree",
        "Right: the cases it would act on; up: the share of its acts that is wrong, up to an upper "
        "bound.",
    ),
}
"""What the figure of each further question shows, and the rest of its caption."""

_DRAWN = tuple(f"{name}.{kind}" for name in _ASKED for kind in ("svg", "png"))
"""Files that the next command may not ask for: old ones would look like its answer."""


_OTHER = {AUDIT: SUITE, SUITE: AUDIT}
"""The files that one command writes in the place of another's."""


def publish_log(
    audit: AuditReport, compared: ComparedRuns, results: AuditResult, chosen: Settings
) -> None:
    """Publish the verdict on a log, of whose runs MLflow gets none.

    Parameters
    ----------
    chosen
        The study, where it is tracked, and the folder; without an address nothing is tracked.
    """
    _show_verdict(audit)  # before the page, whose figures take longer than all that was before
    by_case = {each.case.id: each for each in compared.kept}
    pairs = (show_pair(case, by_case[case.id]) for case in audit.by_need if case.pair)
    with tempfile.TemporaryDirectory() as scratch:
        page = render_html(compose_document(audit, pairs, Path(scratch), ["svg"]))
    print_written(_keep(audit, page, chosen))
    for note in () if audit.suite else results.notes():
        show_text(note)


def publish_report(audit: AuditReport, page: str, chosen: Settings) -> AuditReport:
    """Write a verdict and its page, log them to MLflow, and print what they say."""
    files = _keep(audit, page, chosen)
    _show_verdict(audit)
    print_written(files)
    return audit


def _keep(audit: AuditReport, page: str, chosen: Settings) -> list[Path]:
    """Write every output, and log it if it is tracked."""
    files = write_report(audit, page, chosen.out)
    if chosen.uri:
        log(audit, chosen, files)
    return files


def _show_verdict(audit: AuditReport) -> None:
    if audit.suite:
        show_suite(audit.suite, audit.doubts)
    else:
        show_tables([tables.verdicts(audit, SHOWN)[0]])
        show_sentences(list_sentences(audit))


def write_report(audit: AuditReport, page: str, out: Path) -> list[Path]:
    """Write every output; raises :class:`UserError` if the folder isn't writable."""
    made: dict[str, Callable[[], str]] = {
        "json": audit.json,
        "html": lambda: page,
        "xml": lambda: junit(audit),
        "md": lambda: write_comment(audit),
        "csv": lambda: format_csv(guard_cells(make_frame_of_cases(audit))),
    }
    with make_folder(out):
        for stale in _DRAWN if audit.files != AUDIT else ():
            (out / stale).unlink(missing_ok=True)
        # Beside the page, which has figures of its own inside, for slides and comments.
        drawn = [file for part in _list_drawn(audit) for file in part(out)]
        named = ((f"{audit.files}.{kind}", make()) for kind, make in made.items())
        written = write_texts(named, out)
        # An audit of its cases and one of its suite are two looks at a study: the former's verdict
        # beside this one would seem to be of the same runs.
        if (other := _OTHER.get(audit.files)) and read_study(out, other) == audit.study:
            drawn_before = _DRAWN if other == SUITE else ()
            for stale in (*(f"{other}.{kind}" for kind in made), *drawn_before):
                (out / stale).unlink(missing_ok=True)
        return [*written, *drawn]


def publish_unbegun(
    study: str,
    settings: VerdictConfig,
    why: str,
    status: int = STOPPED,
    own: bool = False,
    files: str = AUDIT,
) -> None:
    """Write the outputs of a verdict of which nothing is known, unless another study's exist.

    Parameters
    ----------
    why
        The reason, in words.
    status
        Exit status of the audit.
    own
        True if the folder is this study's, whatever it holds.
    files
        The name of the files.
    """
    refuse_overwriting(settings)
    out = Path(settings.out)
    if not own and read_study(out, files) not in ("", study):
        return
    audit = make_empty_report(study, settings, why, status, files)
    write_report(audit, render_html(document(audit)), out)


def read_study(out: Path, files: str) -> str:
    """Return the study whose verdict is in a folder; empty if there is no readable one."""
    try:
        held = json.loads((out / f"{files}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return ""
    return str(held.get("study", "")) if isinstance(held, dict) else ""


def list_tables(audit: AuditReport) -> list[Table]:
    """Return the tables of an audit: verdicts, costs."""
    return [tables.verdicts(audit, MOST)[0], tables.costs(audit)]


def make_frame_of_cases(audit: AuditReport) -> DataFrame:
    """Return the frame of ``audit.csv``."""
    return tables.frame(audit.cases)


def compose_document(
    audit: AuditReport,
    pairs: Iterable[Sides | None],
    folder: Path,
    kinds: Sequence[str],
) -> Document:
    """Return the page of an audit, with as many pairs of runs as fit.

    Parameters
    ----------
    pairs
        Two runs of each case that has different ones, in the order of the cases by need.
    folder, kinds
        Where figures are written, and their formats: ``svg``, ``png``.
    """
    found = [pair for pair in islice(pairs, MOST_PAIRS) if pair is not None]
    shown = first_within(found, MOST_LETTERS)
    from plenum_verdicts.reports.case_figures import draw_pictures  # matplotlib, after the verdict

    pictures = draw_pictures(audit, folder, kinds)
    for draw in _list_drawn(audit):
        file = next(each for each in draw(folder) if each.suffix == ".svg")
        pictures.append(_name_drawn(len(pictures) + 1, file))
    return document(audit, shown, pictures)


def _list_drawn(audit: AuditReport) -> list[Callable[[Path], list[Path]]]:
    return [part.draw for part in audit.suite.parts if part.draw] if audit.suite else []


def _name_drawn(number: int, file: Path) -> Picture:
    shows, more = _ASKED[file.stem]
    alt = f"{shows}; the table has the numbers."
    return Picture(number, file.stem, (file,), shows, f"{shows}. {more}", alt)


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
