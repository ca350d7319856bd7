"""Collection of the papers' results from tracked studies: numbered files, and a page of all."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from plenum.base.errors import UserError
from plenum.base.project import project_root
from plenum.base.secrets import strip_secrets
from plenum.reports.figures.catalogue import CATALOGUE as OF_COMMITTEES
from plenum.reports.figures.catalogue import SavedFigure
from plenum.reports.figures.publish import draw_pages, save_captions, save_pages
from plenum.reports.labels import describe_provenance
from plenum.reports.publication import Product
from plenum.reports.settings import Settings
from plenum.reports.study import EstimatedStudy, load_study
from plenum.show.document import Document, Grid, Picture, Points, Section, Text
from plenum.show.renderer import render_html, render_markdown
from plenum.show.table import Table
from plenum.tracking.report_run import log_report
from plenum_papers.items.catalogue import CATALOGUE as TABLES
from plenum_papers.items.items import PaperItem
from plenum_papers.items.source import TableSource
from plenum_papers.items.worlds import DRAWINGS as OF_WORLDS
from plenum_papers.studies import run_or_imported

Loader = Callable[[Settings], EstimatedStudy]

FIGURES = {**OF_COMMITTEES, **OF_WORLDS}


@dataclass(frozen=True)
class ShownItem:
    """The results of an item: its files and tables, or the reason why there are none."""

    item: PaperItem
    pictures: tuple[SavedFigure, ...] = ()
    files: tuple[Path, ...] = ()
    tables: tuple[Table, ...] = ()
    missing: str = ""
    provenance: str = ""


def collect(
    requested: Sequence[PaperItem], chosen: Settings, log: Callable[[str], None]
) -> list[ShownItem]:
    """Draw and write items of the papers from tracked runs, each under its number.

    Parameters
    ----------
    requested
        The items to make.
    chosen
        The store, the output folder, and settings of estimates; its study is ignored.
    log
        Called with a line for each item.

    Raises
    ------
    UserError
        None of their studies has been run.
    """
    studies = list(dict.fromkeys(name for item in requested for name in item.study_names))
    if studies and not run_or_imported(studies, chosen.uri):
        raise UserError(f"item: none of the studies has been run yet: {', '.join(studies)}")
    load, collected = cache(load_study), []
    for item in requested:
        shown = _show(item, chosen, load)
        log(f"{item.id:<14} {', '.join(path.name for path in shown.files) or shown.missing}")
        collected.append(shown)
    drawn = [picture for shown in collected for picture in shown.pictures]
    if drawn:
        save_captions({each.files[0].stem: each.caption for each in drawn}, chosen.out)
    return collected


def _show(item: PaperItem, chosen: Settings, load: Loader) -> ShownItem:
    names = tuple(run_or_imported(item.study_names, chosen.uri).values())
    if item.studies and not names:
        return ShownItem(item, missing=f"not run: {item.studies[0].command()}")
    first, stem = replace(chosen, study=names[0] if names else ""), item.id.replace("/", "_")
    source = TableSource(first, names, item.selects if item.conditions else None, load)
    pictures, others = _run_script(item, chosen, stem) if item.script else ([], [])
    if item.figure and names:
        pictures = _draw(item, first, load, stem)
    numbered = TABLES[item.table].make(source) if item.table else None
    files = [*others, *(file for picture in pictures for file in picture.files)]
    if numbered is not None:
        files += Product(stem, numbered.tables, {stem: numbered.frame}).write(chosen.out)
    if names:
        log_report(names[0], chosen.uri, files)
    rows = [row for name in names for row in load(replace(chosen, study=name)).rows]
    kept = [row for row in rows if not item.conditions or item.selects(row.tracked.factors)]
    return ShownItem(
        item,
        tuple(pictures),
        tuple(files),
        numbered.tables if numbered else (),
        "" if files else "the runs have nothing to show in it",
        describe_provenance(kept) if kept else item.script or "no run",
    )


def _draw(item: PaperItem, chosen: Settings, load: Loader, stem: str) -> list[SavedFigure]:
    """Draw the item's figure from the conditions that it shows."""
    given = dict(word.split("=", 1) for word in item.shown_with.split())
    stored = run_or_imported(given.values(), chosen.uri)
    others: Any = {key: stored[name] for key, name in given.items() if name in stored}
    part, drawing = load(replace(chosen, **others)).restrict(item.selects), FIGURES[item.figure]
    figures = draw_pages(drawing, part) if any(row.n for row in part.rows) else []
    return save_pages(drawing, figures, chosen.out, stem, captioned=chosen.captions)


def _run_script(
    item: PaperItem, chosen: Settings, stem: str
) -> tuple[list[SavedFigure], list[Path]]:
    """Run a script that needs no study; store its figures and other files under the item's name."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, str(project_root() / item.script), "--out", folder]
        command += ["--captions"] if chosen.captions else []
        env = strip_secrets(os.environ)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=env)
        text = Path(folder, "captions.md").read_text(encoding="utf-8")
        chosen.out.mkdir(parents=True, exist_ok=True)
        files = {
            file.name: Path(shutil.move(file, chosen.out / f"{stem}_{file.name}"))
            for file in sorted(Path(folder).iterdir())
            if file.stem != "captions"
        }
    figures = []
    for name, caption in re.findall("## (.+)\n\n(.+)\n", text):
        pair = [files.pop(f"{name}.png"), files.pop(f"{name}.svg")]
        figures.append(SavedFigure(item.script, name, pair, caption))
    return figures, list(files.values())


def write_index(collected: Sequence[ShownItem], folder: Path, lead: str, notice: str) -> list[Path]:
    """Write a page of all results, as self-contained HTML and as Markdown."""
    blocks = partial(_blocks, pictures=count(1), grids=count(1))
    sections = tuple(
        Section(
            number,
            shown.item.id.replace("/", "-"),
            f"{shown.item.paper}, {shown.item.label}: {shown.item.title}",
            tuple(blocks(shown)),
        )
        for number, shown in enumerate(collected, 1)
    )
    document = Document("Figures and tables of the papers", lead, notice, sections)
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / "index.html", folder / "index.md"]
    for file, text in zip(files, (render_html(document), render_markdown(document)), strict=True):
        file.write_text(text, encoding="utf-8")
    return files


def _blocks(shown: ShownItem, pictures: Iterator[int], grids: Iterator[int]) -> Iterator[Any]:
    item = shown.item
    commands = [*(study.command() for study in item.studies), item.made_by]
    yield Points(tuple(("", command) for command in commands))
    if shown.missing:
        yield Text(f"Nothing to show: {shown.missing}.")
    for each in shown.pictures:
        alt = f"{item.title}; {each.shows}"
        name = Path(each.name).stem
        yield Picture(next(pictures), name, tuple(each.files), item.title, each.caption, alt)
    for table in shown.tables:
        yield Grid(next(grids), table)
