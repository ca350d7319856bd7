"""A cluster of Ray on this machine is cleared away by a process that outlives the sweep's.

Ray's agents go on when the process that started them, or the one between, is killed. All that is
of one cluster names its folder in its command line or its environment: whoever does when the
sweep's process is gone, however it went, is ended, and the folder removed.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_READY = b"ready\n"
_FOR_S = 5.0
"""Seconds for which processes are looked for that only just start."""
_SWEEPS = 3
"""Times in a row that no process has to be found."""


class SessionEnd:
    """The folder of a cluster on this machine, and the process that clears it away.

    Attributes
    ----------
    folder
        For Ray's temporary files; its path is short, since sockets lie in it.
    """

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="plenum-ray-", dir="/tmp")
        self._process = subprocess.Popen(
            # Isolated: with nothing of the user's environment or folder on its path.
            [sys.executable, "-I", __file__, self.folder],
            stdin=subprocess.PIPE,
            # Ctrl-C goes to the terminal's processes: this one has to outlive it.
            start_new_session=True,
            env={},  # no key of a provider outlives the sweep
        )

    def ready(self) -> None:
        """Note that Ray has started: from now on the end of this process has another reason."""
        assert self._process.stdin is not None
        self._process.stdin.write(_READY)
        self._process.stdin.flush()

    def close(self) -> None:
        """Have all cleared away, and wait for it."""
        with suppress(OSError):
            self.ready()
        self._process.communicate()


def clear(folder: str) -> None:
    """End the processes that name a folder, and remove it."""
    until, absent = time.monotonic() + _FOR_S, 0
    while absent < _SWEEPS and time.monotonic() < until:
        found = _list_naming(folder)
        for process in found:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        # Several sweeps without any: a process may have started another just before its end.
        absent = 0 if found else absent + 1
        time.sleep(0.2)
    shutil.rmtree(folder, ignore_errors=True)


def _list_naming(folder: str) -> list[int]:
    """List this user's other processes whose command line or environment names a folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        said = b""
        for name in ("cmdline", "environ"):  # the latter may be closed to others
            with suppress(OSError):
                said += (entry / name).read_bytes()
        if folder.encode() in said and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


def main() -> None:
    """Wait for the end of the parent, and clear away what it leaves."""
    for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)
    # The pipe ends with the parent, however that ends: a kill closes it as well.
    said = sys.stdin.buffer.read()
    clear(sys.argv[1])
    if _READY not in said:
        print("error: hydra/launcher: Ray ended while it started; try again", file=sys.stderr)


if __name__ == "__main__":
    main()
