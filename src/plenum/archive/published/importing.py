"""Bring the authors' released runs into a tracking store, study by study."""

import shutil
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from omegaconf import DictConfig, OmegaConf

from plenum.archive.progress import progress
from plenum.archive.published import catalogue
from plenum.archive.published.catalogue import PublishedFile, Selection, reference
from plenum.archive.published.conditions import PublishedCondition, load
from plenum.base.errors import UserError
from plenum.execution.summarise import report
from plenum.execution.usage import account
from plenum.records import Usage, read
from plenum.tracking import store

if TYPE_CHECKING:
    from plenum.tracking.writer import StudyWriter

PREFIX = "published_"
"""What the names of imported studies begin with."""

_PROCESSES = 2
"""Studies that are written at a time; a file of SQLite takes no more."""


@dataclass(frozen=True)
class PublishedImport:
    """What to import.

    Attributes
    ----------
    clone
        A clone of the authors' repository.
    studies
        Names of the papers' studies; empty for all.
    uri
        Of the tracking store, absolute.
    """

    clone: Path
    studies: tuple[str, ...]
    uri: str


def requested(cfg: DictConfig) -> PublishedImport:
    """Check the config of `scripts/import.py`.

    Raises
    ------
    UserError
        There is no such clone, study or store.
    """
    if cfg.archive is not None:
        raise UserError("published: an archive is named too; import one after the other")
    if cfg.tracking.uri is None:
        raise UserError(f"tracking: {cfg.tracking.name} keeps no study; use local or server")
    named = [] if cfg.study is None else OmegaConf.to_container(OmegaConf.create([cfg.study]))
    studies = tuple(map(str, named if isinstance(named, list) else ()))
    return PublishedImport(catalogue.clone_of(cfg), studies, store.absolute(str(cfg.tracking.uri)))


def bring_in(wanted: PublishedImport) -> None:
    """Read and check the files of all studies, then write them to the tracking store.

    Raises
    ------
    UserError
        A file is missing or isn't what it claims to be; nothing was written then.
    """
    store.check(wanted.uri)
    names = wanted.studies or tuple(reference()["studies"])
    chosen = {name: catalogue.selection(wanted.clone, name) for name in names}
    sources = list({f.path: f for one in chosen.values() for f in one.files}.values())
    conditions = _checked(wanted.clone, sources)
    store.open_client(wanted.uri)  # before several processes want to
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(_PROCESSES, get_context("spawn")) as pool,
        progress("writing") as say,
    ):
        writes = {
            pool.submit(_write_study, wanted, name, chosen[name], Path(folder)): name
            for name in sorted(chosen, key=lambda name: -len(chosen[name].files))
        }
        for done, write in enumerate(as_completed(writes), start=1):
            write.result()
            say(done, len(writes))
    for name, selected in chosen.items():
        _summarise(name, selected, [conditions[f.path] for f in selected.files])


def _checked(clone: Path, sources: Sequence[PublishedFile]) -> dict[Path, PublishedCondition]:
    found = {}
    with progress("checking") as say:
        for done, source in enumerate(sources, start=1):
            found[source.path] = load(clone, source)
            say(done, len(sources))
    return found


def _write_study(wanted: PublishedImport, name: str, selected: Selection, folder: Path) -> None:
    """Write a study, in a process of its own; what the store has already stays."""
    from plenum.tracking.writer import StudyWriter

    version = f"{reference()['repository']}@{reference()['commit']}"
    writer = StudyWriter(wanted.uri, PREFIX + name, version)
    for file in selected.files:
        _write(writer, load(wanted.clone, file), folder / name)


def _write(writer: "StudyWriter", condition: PublishedCondition, folder: Path) -> None:
    mapping = condition.mapping
    journals = condition.write(folder)
    transcripts = [read(journal) for journal in journals]
    written = writer.open(mapping, condition.target)
    for journal in journals:
        written.replicate(journal, Usage())
    estimates = report(transcripts, account(transcripts, (), condition.target, ""))
    written.close(journals, estimates, config="")
    shutil.rmtree(folder / mapping["condition"])


def _summarise(name: str, selected: Selection, conditions: Sequence[PublishedCondition]) -> None:
    runs = sum(len(condition.runs) for condition in conditions)
    target = sum(condition.target for condition in conditions)
    print(
        f"{PREFIX + name}: {len(conditions)} conditions, {target} replicates = {runs} completed + "
        f"{target - runs} failed"
    )
    for condition in conditions:
        if condition.torn:
            lines = f"{condition.torn} line{'s' * (condition.torn > 1)}"
            print(f"  {condition.source.path}: {lines} can't be read, and left out")
    for path, stands in selected.left_out:
        print(f"  {path}: left out; {stands} is the same condition, and as whole")
