"""The folder that holds a condition's journals: its path, its lock, its progress."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from plenum.base import hold_lock
from plenum.design import Job
from plenum.records import LocalStore, Store, local_folder, open_store

_AT_ONCE = 16


class Busy(Exception):
    """Raised if another process is running the condition."""


def find_condition_folder(job: Job) -> Path:
    """Return the folder of a job's condition."""
    return local_folder(job.journals) / job.condition.folder


def find_journal(job: Job, index: int) -> Path:
    """Return the journal of a replicate."""
    return find_condition_folder(job) / f"{index:03d}.jsonl"


def take_up(jobs: Sequence[Job]) -> None:
    """Open the buckets behind the jobs' folders, if any, and fetch their journals.

    A condition that another process of this machine runs is left to it.

    Raises
    ------
    UserError
        A bucket can't be written to.
    Stopped
        One doesn't answer.
    """

    def fetch(item: tuple[Path, Store]) -> None:
        folder, kept = item
        with suppress(Busy), lock_folder(folder):
            kept.fetch(folder)

    wanted: dict[Path, Store] = {}
    for job in jobs:
        kept = open_store(job.journals, job.durable)
        names = (job.condition.folder, job.condition.base.folder, *kept.others)
        wanted |= {kept.folder / name: kept for name in names if not isinstance(kept, LocalStore)}
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(threads.map(fetch, wanted.items()))  # going through them raises what was raised there
    for kept in set(wanted.values()):
        kept.flush()  # whoever plays a replicate now is the only one who writes it


def list_begun(job: Job) -> list[int]:
    """List the replicates that have a journal."""
    return [index for index in range(job.replicates) if find_journal(job, index).exists()]


def add_begun(job: Job) -> Job:
    """Extend a job to every replicate that has a journal, even if fewer are asked for now."""
    names = (journal.stem for journal in find_condition_folder(job).glob("*.jsonl"))
    last = max((int(name) for name in names if name.isdecimal()), default=-1)
    return replace(job, replicates=max(job.replicates, last + 1))


def looks_ended(job: Job) -> bool:
    """Return whether each replicate's journal ends in its closing entry, judged by a quick look."""
    return not job.retry_failed and all(
        _ends_in_closing_entry(find_journal(job, index)) for index in range(job.replicates)
    )


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Lock a condition's folder, created if needed; a killed process releases it at once.

    Raises
    ------
    Busy
        Another process holds it.
    """

    def refuse() -> None:
        raise Busy(f"another process is running this condition ({folder})")

    folder.mkdir(parents=True, exist_ok=True)
    with hold_lock(folder / "lock", refuse):
        yield


def _ends_in_closing_entry(journal: Path) -> bool:
    try:
        lines = journal.read_bytes().splitlines()
    except OSError:
        return False
    return bool(lines) and b'"kind":"end"' in lines[-1]
