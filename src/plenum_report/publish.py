"""Publication of a study's report: written as HTML and Markdown, and logged."""

import shutil
import tempfile
from pathlib import Path

from plenum.base import UserError, say
from plenum.reports import (
    Document,
    EstimatedStudy,
    Picture,
    Settings,
    draw_figures,
    find_study_kind,
    load_study,
    print_written,
    render_html,
    render_markdown,
    show_text,
    spell_count,
)
from plenum.tracking import Study, log_report
from plenum_report.compose import compose
from plenum_report.material import PLACES, Material


def publish_report(chosen: Settings) -> None:
    """Write ``report.html``, ``report.md`` and figures into a folder, and log all to MLflow.

    Raises
    ------
    UserError
        There is no such study, or it is empty.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        document: Document = find_study_kind(chosen.study, chosen.uri).part("report")(
            chosen, folder
        )
        pages = {"report.html": render_html(document), "report.md": render_markdown(document)}
        for name, text in pages.items():
            (folder / name).write_text(text, encoding="utf-8")
        chosen.out.mkdir(parents=True, exist_ok=True)
        files = [Path(shutil.copy(file, chosen.out)) for file in _list_used(document, folder)]
    log_report(chosen.study, chosen.uri, files)
    beside = spell_count(len(files) - 2, "file of figures", "files of figures")
    print_written(files[:1])
    show_text(f"also: {files[1].name} and {beside}")


def committees_document(chosen: Settings, folder: Path) -> Document:
    """Compose the report of a study of committees; draw its figures into a folder."""
    return compose(gather(chosen, folder))


def gather(chosen: Settings, folder: Path) -> Material:
    """Read a study, and draw its figures into a folder."""
    say(f"reading study {chosen.study}")
    study, tracked = load_study(chosen, outlined=True), Study(chosen.study, chosen.uri)
    every = sorted(tracked.usage, key=lambda a: a.tracked.factors["scenario"])
    return Material(study, tuple(every), tracked.provenance, tuple(_pictures(study, folder)))


def _pictures(study: EstimatedStudy, folder: Path) -> list[Picture]:
    """Draw the figures for which the study has data; empty before it has estimates."""
    try:
        drawn = draw_figures(study, folder, told=lambda name: say(f"figure {name}"))
    except UserError:
        return []
    order = [name for names in PLACES.values() for name in names]
    drawn.sort(key=lambda each: order.index(each.name) if each.name in order else -1)
    about = f"study {study.chosen.study}, {spell_count(len(study.rows), 'condition')}"
    return [
        Picture(
            number,
            each.name,
            tuple(each.files),
            each.shows,
            caption=each.caption,
            alt=f"{each.shows}; {about}; the numbers are in the tables of this report",
        )
        for number, each in enumerate(drawn, start=1)
    ]


def _list_used(document: Document, folder: Path) -> list[Path]:
    """Return the pages, then the figures."""
    pictures = [
        file
        for section in document.sections
        for block in section.blocks
        if isinstance(block, Picture)
        for file in block.files
    ]
    return [folder / "report.html", folder / "report.md", *pictures]
