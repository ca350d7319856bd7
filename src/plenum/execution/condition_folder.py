"""The folder that holds a condition's journals: its path, its lock, its progress."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from plenum.base.file_locks import hold_lock
from plenum.design.job import Job


class Busy(Exception):
    """Raised if another process is running the condition."""


def find_condition_folder(job: Job) -> Path:
    """Return the folder of a job's condition."""
    return Path(job.journals) / job.condition.folder


def find_journal(job: Job, index: int) -> Path:
    """Return the journal of a replicate."""
    return find_condition_folder(job) / f"{index:03d}.jsonl"


def list_begun(job: Job) -> list[int]:
    """List the replicates that have a journal."""
    return [index for index in range(job.replicates) if find_journal(job, index).exists()]


def add_begun(job: Job) -> Job:
    """Extend a job to every replicate that has a journal, even if fewer are asked for now."""
    names = (journal.stem for journal in find_condition_folder(job).glob("*.jsonl"))
    # By decimal names, since call logs lie beside the journals.
    last = max((int(name) for name in names if name.isdecimal()), default=-1)
    return replace(job, replicates=max(job.replicates, last + 1))


def looks_ended(job: Job) -> bool:
    """Return whether each replicate's journal ends in its closing entry, judged by a quick look."""
    # Where failures are retried an end may be reopened, which takes a closer look.
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
        # Quick and unverified: the chain is checked when the journal is opened in earnest.
        lines = journal.read_bytes().splitlines()
    except OSError:
        return False
    return bool(lines) and b'"kind":"end"' in lines[-1]
