"""Locks on files that hold between processes, and folders that can be written to."""

import fcntl
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from plenum.base.errors import UserError


@contextmanager
def hold_lock(path: Path, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold a file lock; if another process has it, call ``waiting`` once and wait."""
    with path.open("a") as handle:  # creates it, and leaves the text that the holder wrote there
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def is_locked(path: Path) -> bool:
    """Return whether a process of this machine holds a file lock; the holder isn't disturbed."""
    with path.open() as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def require_writable(key: str, folder: Path) -> None:
    """Refuse a folder that can't be made or written to, before anything is run for it."""
    existing = next(each for each in (folder.resolve(), *folder.resolve().parents) if each.exists())
    try:  # permissions don't tell: root passes them, and a file system may still refuse
        with tempfile.TemporaryDirectory(prefix=".plenum-", dir=existing):
            pass
    except OSError as error:
        raise UserError(f"{key}: {folder} can't be written to: {error.strerror}") from None
