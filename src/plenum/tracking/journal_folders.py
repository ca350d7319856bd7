"""The folders in which conditions' journals lie: held, measured and removed."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from plenum.base.errors import UserError
from plenum.tracking import store
from plenum.tracking.tracker import lock_file


def size(folder: Path) -> int:
    """Bytes of the files in a folder; 0 where there is none."""
    return sum(file.stat().st_size for file in folder.glob("*") if file.is_file())


@contextmanager
def held(journals: Path, uri: str, study: str, folders: Sequence[str]) -> Iterator[None]:
    """Hold what runs of a study hold: its tracking lock, and those of conditions' folders.

    Raises
    ------
    UserError
        Another process holds one: it runs a condition, or writes the study to MLflow.
    """

    def refuse() -> None:
        raise UserError(f"study: another process runs or writes {study!r}; wait until it has ended")

    locks = [lock_file(journals, uri, study), *(journals / name / "lock" for name in folders)]
    with ExitStack() as stack:
        for lock in locks:
            if lock.parent.is_dir():
                stack.enter_context(store.locked(lock, refuse))
        yield


def remove(journals: Path, folders: Sequence[str]) -> None:
    """Remove folders with their journals; those that aren't there are left out."""
    for name in folders:
        if (journals / name).is_dir():
            shutil.rmtree(journals / name)
