"""The folder that holds a condition's journals: where it is, who holds it, how far it is."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from plenum.design.condition import Job
from plenum.records.storage import BATCHES, Storage
from plenum.records.storage import folder as folder_of_journals
from plenum.tracking import store

_AT_ONCE = 16


class Busy(Exception):
    """Another process is running the condition."""


def folder_of(job: Job) -> Path:
    """The folder of a job's condition."""
    return folder_of_journals(job.journals) / job.condition.folder


def journal_of(job: Job, index: int) -> Path:
    """The journal of a replicate."""
    return folder_of(job) / f"{index:03d}.jsonl"


def take_up(jobs: Sequence[Job]) -> None:
    """Open the buckets behind the jobs' folders, if any, and fetch what they have of the jobs.

    A condition that another process of this machine runs is left to it.

    Raises
    ------
    UserError
        A bucket can't be written to.
    Stopped
        One doesn't answer.
    """

    def fetch(item: tuple[Path, Storage]) -> None:
        folder, storage = item
        with suppress(Busy), locked(folder):
            storage.fetch(folder)

    wanted = {}
    for job in jobs:
        storage = Storage.of(job.journals, job.durable or job.calls.batch)
        if storage is not None:
            for condition in (job.condition, job.condition.base):
                wanted[storage.mirror / condition.folder] = storage
            wanted[storage.mirror / BATCHES] = storage
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(threads.map(fetch, wanted.items()))
    for storage in set(wanted.values()):
        storage.flush()  # whoever plays a replicate now is the only one who writes it


def begun(job: Job) -> list[int]:
    """The replicates that have a journal."""
    return [index for index in range(job.replicates) if journal_of(job, index).exists()]


def with_all_begun(job: Job) -> Job:
    """The job with room for every replicate that has a journal, however few are asked for now."""
    names = (journal.stem for journal in folder_of(job).glob("*.jsonl"))
    last = max((int(name) for name in names if name.isdecimal()), default=-1)
    return replace(job, replicates=max(job.replicates, last + 1))


def looks_ended(job: Job) -> bool:
    """Whether each replicate's journal ends in its closing entry, as far as a glance tells."""
    return not job.retry_failed and all(
        _ends_in_closing_entry(journal_of(job, index)) for index in range(job.replicates)
    )


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a condition's folder, which is made if need be; a killed process lets go at once.

    Raises
    ------
    Busy
        Another process holds it.
    """

    def refuse() -> None:
        raise Busy(f"another process is running this condition ({folder})")

    folder.mkdir(parents=True, exist_ok=True)
    with store.locked(folder / "lock", refuse):
        yield


def _ends_in_closing_entry(journal: Path) -> bool:
    try:
        lines = journal.read_bytes().splitlines()
    except OSError:
        return False
    return bool(lines) and b'"kind":"end"' in lines[-1]
