"""Safe reading of files that others may have put there.

A pipe, a socket or a device has no end, or blocks until something is written, so only regular files
are read.
"""

import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_regular_file(path: Path) -> BinaryIO:
    """Open a regular file, maybe behind a link, for reading; never block on anything else.

    Raises
    ------
    OSError
        There is none, it can't be read, or it is something else.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        kind = "folder" if stat.S_ISDIR(mode) else "pipe, a device or something else"
        raise OSError(f"{path}: it is no file but a {kind}")
    return os.fdopen(descriptor, "rb")


def require_regular_file(path: Path) -> None:
    """Raise as :func:`open_regular_file` does, for a file that other code opens by its name."""
    open_regular_file(path).close()


def read_bytes(path: Path) -> bytes:
    """Read the bytes of a regular file; raise as :func:`open_regular_file` does."""
    with open_regular_file(path) as file:
        return file.read()


def read_text(path: Path) -> str:
    """Read the UTF-8 text of a regular file, with any line end as a line feed.

    Raises
    ------
    OSError
        As :func:`open_regular_file`.
    UnicodeDecodeError
        It is no UTF-8.
    """
    return read_bytes(path).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
