"""Runs that a process has begun in MLflow and hasn't ended, and their end once it is gone.

A file beside the store names the runs, and the process holds its lock for as long as it lives. So
who finds the file unlocked knows that the process is gone. One on another machine is never judged,
since a lock may not reach that far: the file names its machine.
"""

import fcntl
import socket
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from plenum.base.file_locks import is_locked

_BOOT = Path("/proc/sys/kernel/random/boot_id")


class OpenRuns:
    """The runs that this process has begun, in a file that is there from the first one on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: Any = None

    def add(self, run_id: str) -> None:
        """Note a run that this process is to end; where nothing can be written it isn't noted."""
        with suppress(OSError):
            if self._file is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                made = tempfile.NamedTemporaryFile("w", dir=self._folder, delete=False)  # noqa: SIM115
                fcntl.flock(made, fcntl.LOCK_EX)
                self._file = made
                self._file.write(f"{' '.join(_name_machine())}\n")
            self._file.write(f"{run_id}\n")
            self._file.flush()

    def close(self) -> None:
        """Forget them, since all have ended."""
        if self._file is not None:
            Path(self._file.name).unlink(missing_ok=True)
            with suppress(OSError):  # another process has a file there
                self._folder.rmdir()


def has_left(folder: Path) -> bool:
    """Return whether a folder names runs whose process is gone."""
    return any(map(_read_left, folder.glob("*")))


def settle(client: Any, folder: Path) -> None:
    """End the runs whose process is gone as ``KILLED``."""
    from mlflow.exceptions import MlflowException

    for path in filter(_read_left, folder.glob("*")):
        for run_id in _read_left(path):
            with suppress(MlflowException):  # such as of a run that was deleted meanwhile
                if client.get_run(run_id).info.status == "RUNNING":
                    client.set_terminated(run_id, "KILLED")
        path.unlink(missing_ok=True)


def _read_left(path: Path) -> list[str]:
    """Read the runs of a process that is gone; none of one that lives or can't be judged."""
    with suppress(OSError, UnicodeDecodeError):
        if not is_locked(path):
            machine, *runs = path.read_text(encoding="utf-8").splitlines() or [""]
            return runs if {*machine.split()} & {*_name_machine()} else []
    return []


def _name_machine() -> list[str]:
    """Return what names this machine: its name, and where there is one that of its kernel's start.

    The latter holds for all containers of the machine, whatever they are called.
    """
    return [socket.gethostname(), *(_BOOT.read_text().split() if _BOOT.is_file() else ())]
