"""`scripts/explore.py`: write a study's explorer and log it to MLflow."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from plenum.base.errors import UserError
from plenum.design.kinds import KINDS
from plenum.design.ranges import Whole, require
from plenum.reports.explorer.page import page
from plenum.reports.rows import Row
from plenum.reports.settings import Settings
from plenum.reports.study import load
from plenum.tracking import store
from plenum.tracking.study import Study, log_report

LARGE = 40_000_000
"""Bytes beyond which a page is slow to open and awkward to send."""


class _Html:
    """A file that a browser opens by its name."""

    def check(self, key: str, value: Path) -> None:
        """Refuse another ending, and a folder."""
        allowed = value.suffix in (".html", ".htm") and not value.is_dir()
        require(allowed, f"{key}: {value}; the name of a file that ends in .html")


@dataclass(frozen=True)
class Explored(Settings):
    """A study to explore, and how it is estimated.

    Attributes
    ----------
    out
        The file that the page is written to.
    condition
        The first letters of the identity of the only condition to show; empty for all.
    replicates
        The most transcripts of a condition; ``None`` for all.
    """

    out: Annotated[Path, _Html()]
    condition: str = ""
    replicates: Annotated[int | None, Whole(2, ", or null for all")] = None


def publish(chosen: Explored) -> None:
    """Write the explorer of a study as one HTML file, and log it.

    Raises
    ------
    UserError
        There is no such study or condition, or it is a study of worlds.
    """
    store.require_writable("out", chosen.out.parent)
    tracked = Study(chosen.study, chosen.uri)
    explorer = KINDS[tracked.kind].part("explorer")
    rows = beginning_with(load(chosen).rows, chosen.condition)
    with tracked.transcripts() as kept:
        data = explorer(chosen, rows, kept, chosen.replicates)
    text = page(chosen.study, data)
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    unfinished = chosen.out.with_name(f".{chosen.out.name}.part")
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, chosen.out)
    log_report(chosen.study, chosen.uri, [chosen.out])
    _print_written(chosen.out, rows, len(text))


def beginning_with(rows: Sequence[Row], condition: str) -> list[Row]:
    """The conditions whose identity begins so.

    Raises
    ------
    UserError
        None does.
    """
    matching = [row for row in rows if row.tracked.identity.startswith(condition)]
    if not matching:
        known = ", ".join([row.tracked.identity for row in rows[:12]] + ["..."] * (len(rows) > 12))
        raise UserError(f"condition: no identity begins with {condition!r}; known: {known}")
    return matching


def _print_written(out: Path, rows: Sequence[Row], size: int) -> None:
    counts = {"condition": len(rows), "replicate": sum(row.n + row.failed for row in rows)}
    held = ", ".join(f"{count} {name}{'s' * (count != 1)}" for name, count in counts.items())
    print(f"written: {out} ({held}, {size / 1e6:.1f} MB)")
    if size > LARGE:
        print(
            "the page is large and may be slow to open: replicates=N keeps the N transcripts of "
            "each condition that lie farthest apart, condition=IDENTITY keeps one condition"
        )
