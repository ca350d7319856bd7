"""Write a study's report as HTML and Markdown, and log it."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from plenum.base.errors import UserError
from plenum.reports.article.compose import compose
from plenum.reports.article.document import Document, Picture
from plenum.reports.article.material import Material
from plenum.reports.article.rendering import html, markdown
from plenum.reports.figures import CATALOGUE
from plenum.reports.figures.publish import draw
from plenum.reports.labels import provenance
from plenum.reports.phrases import capital, count
from plenum.reports.settings import Settings
from plenum.reports.study import Study, kind_of, load
from plenum.tracking.study import Study as TrackedStudy
from plenum.tracking.study import log_report


def publish(chosen: Settings) -> None:
    """Write ``report.html``, ``report.md`` and the figures beside it, and log all to MLflow.

    Raises
    ------
    UserError
        There is no such study, or nothing in it.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        document: Document = kind_of(chosen.study, chosen.uri).part("report")(chosen, folder)
        pages = {"report.html": html(document), "report.md": markdown(document)}
        for name, text in pages.items():
            (folder / name).write_text(text, encoding="utf-8")
        chosen.out.mkdir(parents=True, exist_ok=True)
        files = [Path(shutil.copy(file, chosen.out)) for file in _used(document, folder)]
    log_report(chosen.study, chosen.uri, files)
    print(f"written: {', '.join(map(str, files))}")


def committees_document(chosen: Settings, folder: Path) -> Document:
    """The report of a study of committees; its figures are drawn into a folder."""
    return compose(gather(chosen, folder))


def gather(chosen: Settings, folder: Path) -> Material:
    """Read a study, and draw its figures into a folder."""
    study, tracked = load(chosen), TrackedStudy(chosen.study, chosen.uri)
    every = sorted(tracked.usage, key=lambda a: a.tracked.factors["scenario"])
    pictures = tuple(_pictures(study, _drawn(study, folder)))
    return Material(study, tuple(every), tracked.provenance, pictures)


def _drawn(study: Study, folder: Path) -> list[Path]:
    """The figures that the study has something to show in; none before it has estimates."""
    try:
        return draw(study, folder, say=lambda _: None)
    except UserError:
        return []


def _used(document: Document, folder: Path) -> list[Path]:
    """The pages, then the figures."""
    pictures = [
        file
        for section in document.sections
        for block in section.blocks
        if isinstance(block, Picture)
        for file in block.files
    ]
    return [folder / "report.html", folder / "report.md", *pictures]


def _pictures(study: Study, files: Sequence[Path]) -> list[Picture]:
    """The figures that were drawn, numbered in the order of the catalogue."""
    found: list[Picture] = []
    for drawing in CATALOGUE.values():
        own = {file.stem: file for file in files if _of(file.stem, drawing.name)}
        for stem in own:
            caption = f"{capital(drawing.told)} ({provenance(study.rows)})."
            alt = (
                f"{drawing.told}; study {study.chosen.study}, "
                f"{count(len(study.rows), 'condition')}; "
                "the numbers are in the tables of this report"
            )
            both = tuple(file for file in files if file.stem == stem)
            found.append(Picture(len(found) + 1, drawing.name, both, drawing.told, caption, alt))
    return found


def _of(stem: str, name: str) -> bool:
    """Whether a file is of a drawing: it may have several, as ``name_2``."""
    longer = [other for other in CATALOGUE if other.startswith(f"{name}_")]
    if any(stem == other or stem.startswith(f"{other}_") for other in longer):
        return False
    return stem == name or stem.startswith(f"{name}_")
