"""Write an archive: a zip file whose bytes follow from its contents, sealed by its own digest."""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

SEAL = 64
"""The last bytes of the file: the SHA-256 of all before them, in hexadecimal."""

MODE = 0o100644
_TIME = (1980, 1, 1, 0, 0, 0)
_LEVEL = 6
_CHUNK = 1 << 20


@dataclass
class Packer:
    """An archive that is being written.

    Attributes
    ----------
    files
        ``size`` and ``sha256`` of what is in it, by name.
    """

    into: ZipFile
    files: dict[str, dict[str, int | str]] = field(default_factory=dict)

    def add(self, name: str, data: bytes) -> None:
        """Write a file."""
        if name in self.files:
            raise ValueError(f"{name} is there twice")
        info = ZipInfo(name, _TIME)
        info.compress_type, info.create_system, info.external_attr = ZIP_DEFLATED, 3, MODE << 16
        self.into.writestr(info, data, compresslevel=_LEVEL)
        self.files[name] = described(data)


def described(data: bytes) -> dict[str, int | str]:
    """What the manifest says of a file."""
    return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


@contextmanager
def sealed(path: Path, check: Callable[[Path], None]) -> Iterator[Packer]:
    """An archive that appears under its name when it is whole, sealed and checked, or not at all.

    Parameters
    ----------
    check
        Is given the file before it gets its name; raises where it isn't to have it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w+b") as file:
            with ZipFile(file, "w", ZIP_DEFLATED) as into:
                yield Packer(into)
                into.comment = b"0" * SEAL
            size = file.tell()
            seal = digest(file, size - SEAL)
            file.seek(size - SEAL)
            file.write(seal.encode())
            file.flush()
            os.fsync(file.fileno())
        check(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def digest(file: BinaryIO, size: int) -> str:
    """The SHA-256 of the first bytes of a file."""
    found = hashlib.sha256()
    file.seek(0)
    while size > 0 and (chunk := file.read(min(size, _CHUNK))):
        found.update(chunk)
        size -= len(chunk)
    return found.hexdigest()
