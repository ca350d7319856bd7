"""`scripts/explore.py`: write a study's explorer and log it to MLflow."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from plenum.base.errors import UserError
from plenum.base.file_locks import require_writable
from plenum.design.kinds import KINDS
from plenum.design.ranges import Text, Whole
from plenum.reports.explorer import shelves
from plenum.reports.explorer.contents import gather_study
from plenum.reports.explorer.page import page
from plenum.reports.progress import StudyProgress
from plenum.reports.settings import Out, Settings
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.report_run import log_report
from plenum.tracking.study import Study

LARGE = 40_000_000
"""Bytes above which a page is slow to open and hard to send."""


def _check_html(out: Path) -> Path:
    """Refuse a folder, and a name without the ending by which browsers know a page."""
    if out.suffix not in (".html", ".htm") or out.is_dir():
        raise ValueError(f"{out}; the name of a file that ends in .html")
    return out


_AtLeastTwo = Annotated[Whole, Field(ge=2, description="a whole number from 2 on, or null for all")]


@dataclass(frozen=True)
class ExploredStudy(Settings):
    """A study to explore, and the settings of its estimates.

    Attributes
    ----------
    out
        The file that the page is written to.
    condition
        The first letters of the identity of the only condition to show; empty for all.
    live
        True if the page is served, and shows the study as it is at each moment.
    replicates
        The most transcripts that are shown of a condition. ``None`` shows all of them, but only a
        few if the study is large.
    journals
        The folder of the study's journals, whose counts the page shows; empty for a page without.
    """

    out: Annotated[Out, AfterValidator(_check_html)]
    condition: Text = ""
    replicates: _AtLeastTwo | None = None
    live: bool = False
    journals: Text = "mlruns/journals"


def publish_explorer(chosen: ExploredStudy) -> None:
    """Write the explorer of a study, and log it.

    It is one HTML file. For a large study this is an index of conditions, and a folder next to it
    has pages of some conditions each.

    Raises
    ------
    UserError
        There is no such study or condition, or its kind has no explorer.
    """
    require_writable("out", chosen.out.parent)
    tracked = Study(chosen.study, chosen.uri)
    explorer = KINDS[tracked.kind].explore()
    conditions = select_by_prefix(tracked.outlines, chosen.condition)
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    # Pages get their names last, so that a command that is stopped leaves no half of one.
    unfinished = chosen.out.with_name(f".{chosen.out.name}.part")
    files, folder = [chosen.out], chosen.out.with_suffix("")
    if len(conditions) > shelves.MOST:
        pages = folder.with_name(f".{folder.name}.part")
        text, size = shelves.write_all(chosen, tracked, conditions, pages, folder.name)
        if folder.is_dir():
            shutil.rmtree(folder)
        os.replace(pages, folder)
        files.append(folder)
    else:
        with tracked.transcripts([each.run_id for each in conditions]) as kept:
            data = gather_study(explorer, chosen, conditions, kept, chosen.replicates)
        if chosen.journals:
            progress = StudyProgress(chosen.study, chosen.uri, chosen.journals)
            data["watch"] = progress.read()
        text, size = page(chosen.study, data, explorer.layout), 0
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, chosen.out)
    log_report(chosen.study, chosen.uri, files)
    _print_written(files, conditions, len(text) + size)


def select_by_prefix(conditions: Sequence[TrackedCondition], prefix: str) -> list[TrackedCondition]:
    """Select the conditions whose identity begins with a prefix.

    Raises
    ------
    UserError
        No identity does.
    """
    matching = [each for each in conditions if each.identity.startswith(prefix)]
    if not matching:
        names = [each.identity for each in conditions[:12]]
        known = ", ".join(names + (["..."] if len(conditions) > 12 else []))
        raise UserError(f"condition: no identity begins with {prefix!r}; known: {known}")
    return matching


def _print_written(
    files: Sequence[Path], conditions: Sequence[TrackedCondition], size: int
) -> None:
    ended = sum(each.completed + each.failed for each in conditions)
    counts = {"condition": len(conditions), "replicate": ended}
    held = ", ".join(f"{count} {name}{'s' if count != 1 else ''}" for name, count in counts.items())
    print(f"written: {', '.join(map(str, files))} ({held}, {size / 1e6:.1f} MB)")
    if len(files) == 1 and size > LARGE:
        print(
            "the page is large and may be slow to open: replicates=N keeps N transcripts of each "
            "condition, condition=IDENTITY keeps one condition"
        )
