"""The explorer of a large study: a page that finds conditions, and pages of some of them."""

import shutil
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from plenum.base.processes import map_in_processes
from plenum.base.progress import show_progress
from plenum.design.kinds import KINDS
from plenum.reports.explorer.contents import gather_study, make_index
from plenum.reports.explorer.page import page
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.study import Study
from plenum.tracking.transcripts import StoredTranscript

MOST = 120
"""Conditions that fit one page."""

_EACH = 50
"""Conditions of a page of a large study."""

_TRANSCRIPTS = 4
"""Completed transcripts of a condition of a large study, if no number is given."""


@dataclass(frozen=True)
class _Shelf:
    """The conditions of a page, with its data."""

    number: int
    conditions: Sequence[TrackedCondition]
    kept: Mapping[str, Sequence[StoredTranscript]]


def write_all(
    chosen: Any, study: Study, conditions: Sequence[TrackedCondition], folder: Path, name: str
) -> tuple[str, int]:
    """Write the pages of all conditions into a fresh folder.

    They are read, estimated and written a page at a time, by several processes.

    Parameters
    ----------
    chosen
        The settings of ``scripts/explore.py``.
    name
        What the folder will be called.

    Returns
    -------
    str, int
        The page that finds conditions, and the bytes of the others.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    explorer = KINDS[study.kind].explore()
    alike = make_index(study.name, conditions, [], "")
    shared = {key: alike[key] for key in ("differing", "common", "provenance")}
    shared |= {"whole": f"../{name}.html", "total": len(conditions)}
    work = partial(_write, chosen=chosen, kind=study.kind, folder=folder, shared=shared)
    entries: list[dict[str, Any]] = []
    size, last = 0, alike
    reading: deque[ExitStack] = deque()
    with show_progress("exploring") as report_progress:
        shelves = _shelves(study, conditions, reading)
        for number, (last, written) in enumerate(map_in_processes(work, shelves), start=1):
            reading.popleft().close()
            for entry in last["conditions"]:
                kept = {key: entry["factors"][key] for key in alike["differing"]}
                entries.append(entry | {"factors": kept, "page": f"{name}/{_file(number)}"})
            size += written
            report_progress(len(entries), len(conditions))
    found = make_index(study.name, conditions, entries, last["axis"])
    return page(study.name, {"index": found}, explorer.layout.finder), size


def _shelves(
    study: Study, conditions: Sequence[TrackedCondition], reading: deque[ExitStack]
) -> Iterator[_Shelf]:
    """Yield the contents of the pages; a server's files are kept while ``reading`` is open."""
    for number, start in enumerate(range(0, len(conditions), _EACH), start=1):
        part = conditions[start : start + _EACH]
        reading.append(ExitStack())
        kept = reading[-1].enter_context(study.transcripts([each.run_id for each in part]))
        yield _Shelf(number, [condition.whole for condition in part], kept)


def _write(
    shelf: _Shelf, *, chosen: Any, kind: str, folder: Path, shared: Mapping[str, Any]
) -> tuple[dict[str, Any], int]:
    """Write a page; its index, and its size in bytes."""
    explorer = KINDS[kind].explore()
    most = chosen.replicates or _TRANSCRIPTS
    data = gather_study(explorer, chosen, shelf.conditions, shelf.kept, most)
    data["index"] |= shared
    text = page(chosen.study, data, explorer.layout)
    (folder / _file(shelf.number)).write_text(text, encoding="utf-8")
    return data["index"], len(text)


def _file(number: int) -> str:
    return f"{number:04d}.html"
