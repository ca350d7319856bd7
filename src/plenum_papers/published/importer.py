"""Import of the authors' released runs into a tracking store, study by study."""

import tempfile
from collections.abc import Collection, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd
from omegaconf import DictConfig

from plenum.base.progress import show_progress
from plenum.execution.summarise import report_condition
from plenum.execution.usage import count_usage
from plenum.records.transcript import read_transcript
from plenum.records.usage import Usage
from plenum.reports.settings import read_names, store_uri
from plenum.show.table import format_csv
from plenum.tracking.store import absolute_uri, open_client, require_writable_store
from plenum_papers.published import branching
from plenum_papers.published.catalogue import PublishedFile, Release, Selection, find_release
from plenum_papers.published.conditions import load
from plenum_papers.studies import PUBLISHED

_PROCESSES = 2
"""Number of studies written in parallel; an SQLite file allows no more."""


@dataclass(frozen=True)
class PublishedImport:
    """A request to import released runs.

    Attributes
    ----------
    release
        A clone of the authors' repository.
    studies
        Names of the papers' studies; empty for all.
    uri
        The tracking store, absolute.
    """

    release: Release
    studies: tuple[str, ...]
    uri: str


def read_config(cfg: DictConfig) -> PublishedImport:
    """Check the config of `scripts/import.py`.

    Raises
    ------
    UserError
        There is no such clone, study or store.
    """
    uri = absolute_uri(store_uri(cfg))
    return PublishedImport(find_release(cfg), read_names(cfg.study), uri)


def bring_in(wanted: PublishedImport) -> None:
    """Read and check the files of all studies, then write them to the tracking store.

    Raises
    ------
    UserError
        A file is missing or has an unexpected form; nothing was written then.
    """
    require_writable_store(wanted.uri)
    release = wanted.release
    names = wanted.studies or release.studies
    chosen = {name: release.selection(name) for name in names}
    sources = list({f.path: f for one in chosen.values() for f in one.files}.values())
    checked, answered = _check(release, sources), _list_answered(release)
    open_client(wanted.uri)  # before several processes want to
    tasks = sorted(chosen, key=lambda name: -len(chosen[name].files))
    with (
        ProcessPoolExecutor(_PROCESSES, get_context("spawn")) as pool,
        show_progress("writing", "studies") as report_progress,
    ):
        writes = [pool.submit(_write_study, wanted, name, chosen[name]) for name in tasks]
        for done, write in enumerate(as_completed(writes), start=1):
            write.result()
            report_progress(done, len(writes))
    for name, selected in chosen.items():
        _summarise(name, selected, [checked[f.path] for f in selected.files])
    for turns in answered:
        if any(turns.follows(source) for source in sources):
            gamma = turns.answers.gamma
            print(f"{turns.path}: next answers along a replicate, Γ̂ = {gamma:.3f} nats")
    _summarise_files(release, wanted.studies)


@dataclass(frozen=True)
class _CheckedFile:
    """The content of a checked file: its runs, their target, and unreadable lines."""

    path: Path
    runs: int
    target: int
    torn: int


def _check(release: Release, sources: Sequence[PublishedFile]) -> dict[Path, _CheckedFile]:
    checked = {}
    with show_progress("checking") as report_progress:
        for done, source in enumerate(sources, start=1):
            one = load(release, source)
            checked[source.path] = _CheckedFile(source.path, len(one.runs), one.target, one.torn)
            report_progress(done, len(sources))
    return checked


def _write_study(wanted: PublishedImport, name: str, selected: Selection) -> None:
    """Write a study, in a process that writes several; existing runs in the store are kept."""
    from plenum.tracking.writer import StudyWriter

    prepared_files = {file: _prepare(wanted.release, file) for file in selected.files}
    # all at once, since the name of a condition says what varies in its study
    cells = {each.condition["cell"]: each.condition for each in prepared_files.values()}
    writer = StudyWriter(wanted.uri, PUBLISHED + name, wanted.release.origin, cells)
    for file, prepared in prepared_files.items():
        written = writer.open(prepared.condition, prepared.target)
        for journal in prepared.journals:
            written.replicate(journal, Usage())
        written.close(prepared.journals, prepared.estimates, config="")
        rows = [r for t in _list_answered(wanted.release) if t.follows(file) for r in t.rows]
        if rows:
            written.attach("next_answers.csv", format_csv(pd.DataFrame(rows)))


@dataclass(frozen=True)
class _PreparedCondition:
    """A condition with its journals and estimates, which several studies may use."""

    condition: dict[str, Any]
    target: int
    journals: list[Path]
    estimates: dict[str, Any]


@cache
def _folder() -> "tempfile.TemporaryDirectory[str]":
    """Return a temporary folder that keeps this process's journals until it ends."""
    return tempfile.TemporaryDirectory()


@cache
def _list_answered(release: Release) -> list[branching.AnsweredTurns]:
    return branching.read(release)


@cache
def _prepare(release: Release, file: PublishedFile) -> _PreparedCondition:
    condition = load(release, file)
    journals = condition.write(Path(_folder().name) / file.path)  # two files may be one condition
    transcripts = [read_transcript(journal) for journal in journals]
    estimates = report_condition(transcripts, count_usage(transcripts, (), condition.target, ""))
    return _PreparedCondition(condition.mapping, condition.target, journals, estimates)


def _summarise(name: str, selected: Selection, conditions: Sequence[_CheckedFile]) -> None:
    runs = sum(condition.runs for condition in conditions)
    target = sum(condition.target for condition in conditions)
    print(
        f"{PUBLISHED + name}: {len(conditions)} condition{'s' if len(conditions) > 1 else ''}, "
        f"{target} replicates = {runs} completed + {target - runs} failed"
    )
    for condition in conditions:
        if condition.torn:
            lines = f"{condition.torn} line{'s' if condition.torn > 1 else ''}"
            print(f"  {condition.path}: {lines} can't be read, and left out")
    for path, stands in selected.left_out:
        print(f"  {path}: left out; {stands} is the same condition, and no less whole")


def _summarise_files(release: Release, studies: Collection[str]) -> None:
    """Print the files that are in no study, and the files that the clone lacks."""
    for path in () if studies else release.list_unused():
        print(f"not imported: {path} is in no study of {release.catalogue}")
    for path in release.absent(studies):
        print(f"not imported: {path} was released and is not in the clone")
