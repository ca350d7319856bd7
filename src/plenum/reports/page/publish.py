"""Publication of a study's page: filled with tables and figures, written and logged."""

import platform
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy
import scipy

from plenum.base.project import code_version
from plenum.reports.figures.catalogue import SavedFigure
from plenum.reports.publication import print_written
from plenum.reports.settings import Settings
from plenum.reports.study import find_study_kind
from plenum.show.document import Block, Document, Grid, Picture, split_sections
from plenum.show.phrases import spell_count
from plenum.show.renderer import render_html, render_markdown
from plenum.show.table import Table
from plenum.show.terminal_tables import show_text
from plenum.tracking.report_run import log_report


def publish_report(chosen: Settings) -> None:
    """Write ``report.html``, ``report.md`` and figures into a folder, and log all to MLflow.

    Raises
    ------
    UserError
        There is no such study, or it is empty.
    """
    document = find_study_kind(chosen.study, chosen.uri).compose_report(chosen, chosen.out)
    chosen.out.mkdir(parents=True, exist_ok=True)
    pages = {"report.html": render_html(document), "report.md": render_markdown(document)}
    for name, text in pages.items():
        (chosen.out / name).write_text(text, encoding="utf-8")
    blocks = [block for section in document.sections for block in section.blocks]
    figures = [file for block in blocks if isinstance(block, Picture) for file in block.files]
    log_report(chosen.study, chosen.uri, [*(chosen.out / name for name in pages), *figures])
    print_written([chosen.out / "report.html"])
    beside = spell_count(len(figures), "file of figures", "files of figures")
    show_text(f"also: report.md and {beside}")


def fill_page(
    head: Document,
    template: str,
    tables: Mapping[str, Table],
    drawn: Sequence[SavedFigure],
    said: Collection[str] = (),
    **facts: object,
) -> Document:
    """Fill a page with the sections of a template, in which tables and figures are numbered.

    Parameters
    ----------
    head
        The page with its title, lead and abstract.
    template
        As for :func:`plenum.show.document.split_sections`. It places tables by their names
        and figures as ``figure1`` and so on; its macro ``table`` refers to a table, and
        ``software`` has the versions of what writes the page.
    tables, drawn
        In the order of their numbers.
    said
        Notes that the page says once, and tables don't repeat.
    """
    numbers = {name: number for number, name in enumerate(tables, start=1)}
    parts: dict[str, Block] = {}
    for name, table in tables.items():
        notes = tuple(note for note in table.notes if note not in said)
        parts[name] = Grid(numbers[name], replace(table, notes=notes))
    for number, each in enumerate(drawn, start=1):
        alt = f"{each.shows}; {head.title.lower()}; the numbers are in the tables of this report"
        picture = Picture(number, each.name, tuple(each.files), each.shows, each.caption, alt)
        parts[f"figure{number}"] = picture
    software = {
        "plenum": code_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
    }
    known = {"table": lambda name: f"Table {numbers[name]}", "software": software}
    notice, sections = split_sections(template, parts, **known, **facts)
    return replace(head, notice=notice, sections=sections)
