"""Writing so that nothing half written is read later, and so that what fails names its file."""

import json
import os
from contextlib import suppress
from pathlib import Path

encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""A line of JSON, as compact as it gets."""


def append(descriptor: int, data: bytes, path: Path) -> None:
    """Append to a file, in one system call where the disk takes it so.

    After it returns, a killed process loses nothing. Where the disk doesn't take all of it, what
    it took is cut off again.

    Raises
    ------
    OSError
        With the ``path``: the disk is full, or gone.
    """
    done = 0
    try:
        while done < len(data):
            done += os.write(descriptor, data[done:])
    except OSError as error:
        with suppress(OSError):
            os.ftruncate(descriptor, os.fstat(descriptor).st_size - done)
        raise _of(error, path) from None


def write_whole(path: Path, text: str) -> None:
    """Write a file that is there in whole, or as it was before.

    Raises
    ------
    OSError
        With the ``path``.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise _of(error, path) from None


def _of(error: OSError, path: Path) -> OSError:
    return OSError(error.errno, error.strerror or str(error), str(path))
