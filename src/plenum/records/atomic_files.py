"""Writing to files so that no half-written data is read later, and errors name the file."""

import json
import os
from contextlib import suppress
from pathlib import Path

encode_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""The encoder of a line of JSON, without spaces."""


def append_bytes(descriptor: int, data: bytes, path: Path) -> None:
    """Append to a file, in one system call if the disk allows it.

    After it returns, a killed process loses nothing. If the disk doesn't take all of it, the part
    that it took is cut off again.

    Raises
    ------
    OSError
        With the ``path``: the disk is full, or gone.
    """
    done = 0
    try:
        while done < len(data):  # a disk that is nearly full takes a part
            # No fsync: what the system has taken survives a kill. A power cut may cost the last
            # lines, which are then asked for again.
            done += os.write(descriptor, data[done:])
    except OSError as error:
        with suppress(OSError):
            # Without the part: the next line would be joined to it, and both be lost.
            os.ftruncate(descriptor, os.fstat(descriptor).st_size - done)
        raise _of(error, path) from None


def write_whole(path: Path, text: str) -> None:
    """Replace a file's text atomically: it is either the new one or the old one.

    Raises
    ------
    OSError
        With the ``path``.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        # A rename is atomic within a folder: readers find the old text or the new one.
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise _of(error, path) from None


def _of(error: OSError, path: Path) -> OSError:
    return OSError(error.errno, error.strerror or str(error), str(path))
