"""What `scripts/explore.py` is given; writes a study's explorer and logs it to MLflow."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from plenum.base.errors import UserError
from plenum.design.kinds import KINDS
from plenum.reports.explorer.gather import blocks, index
from plenum.reports.explorer.page import page
from plenum.reports.rows import Row
from plenum.reports.settings import Settings, settings
from plenum.reports.study import load
from plenum.tracking import store
from plenum.tracking.study import StoredTranscript, log_report
from plenum.tracking.study import Study as TrackedStudy

LARGE = 40_000_000
"""Bytes beyond which a page is slow to open and awkward to send."""


@dataclass(frozen=True)
class Asked:
    """A study to explore.

    Attributes
    ----------
    chosen
        The study, and how it is estimated; ``out`` is the page's file.
    condition
        The first letters of the identity of the only condition to show; empty for all.
    replicates
        The most transcripts of a condition; ``None`` for all.
    """

    chosen: Settings
    condition: str = ""
    replicates: int | None = None

    @property
    def out(self) -> Path:
        """The file that the page is written to."""
        return self.chosen.out


def asked(cfg: DictConfig) -> Asked:
    """Check the script's config.

    Raises
    ------
    UserError
        The study isn't named, or a value is malformed.
    """
    chosen = settings(cfg)
    if chosen.out.suffix not in (".html", ".htm") or chosen.out.is_dir():
        raise UserError(f"out: {chosen.out}; the name of a file that ends in .html")
    most = cfg.replicates
    if most is not None and (type(most) is not int or most < 2):
        raise UserError(f"replicates: {most}; a whole number from 2 on, or null for all")
    return Asked(chosen, "" if cfg.condition is None else str(cfg.condition), most)


def publish(request: Asked) -> None:
    """Write the explorer of a study as one HTML file, and log it.

    Raises
    ------
    UserError
        There is no such study or condition, or it is a study of worlds.
    """
    chosen = request.chosen
    store.require_writable("out", request.out.parent)
    tracked = TrackedStudy(chosen.study, chosen.uri)
    explorer = KINDS[tracked.kind].part("explorer")
    rows = _wanted(load(chosen).rows, request.condition)
    with tracked.transcripts() as kept:
        data = explorer(chosen, rows, kept, request.replicates)
    text = page(chosen.study, data)
    request.out.parent.mkdir(parents=True, exist_ok=True)
    beside = request.out.with_name(f".{request.out.name}.part")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, request.out)
    log_report(chosen.study, chosen.uri, [request.out])
    _tell(request, rows, len(text))


def gathered(
    chosen: Settings,
    rows: Sequence[Row],
    kept: Mapping[str, Sequence[StoredTranscript]],
    most: int | None = None,
) -> dict[str, Any]:
    """The page's data by id: the index, and figures and talk of every condition.

    Parameters
    ----------
    chosen
        The study's name, and the window of the fits.
    rows
        The conditions to show.
    kept
        Their transcripts, by run.
    most
        The most completed transcripts of a condition; ``None`` for all.
    """
    data: dict[str, Any] = {}
    entries = []
    for number, (row, name) in enumerate(zip(rows, _names(rows), strict=True)):
        found = blocks(row, name, kept.get(row.tracked.run_id, ()), chosen.window, most)
        entries.append(found.entry)
        data[f"figures-{number}"] = found.figures
        data[f"talk-{number}"] = found.talk
    return {"index": index(chosen.study, rows, entries), **data}


def _wanted(rows: Sequence[Row], condition: str) -> list[Row]:
    found = [row for row in rows if row.tracked.identity.startswith(condition)]
    if not found:
        known = ", ".join([row.tracked.identity for row in rows[:12]] + ["..."] * (len(rows) > 12))
        raise UserError(f"condition: no identity begins with {condition!r}; known: {known}")
    return found


def _names(rows: Sequence[Row]) -> list[str]:
    """Identities; one that stands under several labels gets a number."""
    met: Counter[str] = Counter()
    names = []
    for row in rows:
        identity = row.tracked.identity
        met[identity] += 1
        names.append(identity if met[identity] == 1 else f"{identity}.{met[identity]}")
    return names


def _tell(request: Asked, rows: Sequence[Row], size: int) -> None:
    held = sum(row.n + row.failed for row in rows)
    told = f"{_count(len(rows), 'condition')}, {_count(held, 'replicate')}, {size / 1e6:.1f} MB"
    print(f"written: {request.out} ({told})")
    if size > LARGE:
        print(
            "the page is large and may be slow to open: replicates=N keeps the N transcripts of "
            "each condition that lie farthest apart, condition=IDENTITY keeps one condition"
        )


def _count(number: int, name: str) -> str:
    return f"{number} {name}" if number == 1 else f"{number} {name}s"
