"""The file format of an archive: a zip with reproducible bytes, sealed by its own digest.

A reader trusts nothing in the file, since it may be damaged or hostile.
"""

import hashlib
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from plenum.base.regular_files import open_regular_file
from plenum.base.zips import unpack_problem
from plenum.design.ranges import is_study
from plenum_archive.layout import FORMAT, KIND, MANIFEST

SEAL = 64
"""Length of the seal: the file ends with the SHA-256 of all bytes before it, in hexadecimal."""

MODE = 0o100644
_TIME = (1980, 1, 1, 0, 0, 0)
_LEVEL = 6
_NAME = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9._-]*/)*[A-Za-z0-9_][A-Za-z0-9._-]*")
_LONGEST_NAME = 200
_ENCRYPTED = 0x1
_LARGEST = 1 << 30
"""Limit in bytes for one file, and for all files together in a small archive."""
_CHUNK = 1 << 20


@dataclass
class Packer:
    """Writer of an archive.

    Attributes
    ----------
    files
        ``size`` and ``sha256`` of each file written so far, by name.
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
        self.files[name] = describe_file(data)


def describe_file(data: bytes) -> dict[str, int | str]:
    """Return the manifest's entry for a file: its size and digest."""
    return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


@contextmanager
def write_sealed(path: Path, check: Callable[[Path], None]) -> Iterator[Packer]:
    """Write an archive that appears under its name only once it is whole, sealed and checked.

    If anything fails, no file is left behind.

    Parameters
    ----------
    check
        Called with the temporary file before it is renamed; raises to reject the archive.
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
    """Return the SHA-256 of the first ``size`` bytes of a file."""
    hasher = hashlib.sha256()
    file.seek(0)
    while size > 0 and (chunk := file.read(min(size, _CHUNK))):
        hasher.update(chunk)
        size -= len(chunk)
    return hasher.hexdigest()


class DamagedArchive(Exception):
    """Raised if an archive can't be read any further."""


@dataclass
class Box:
    """An archive opened for reading.

    Attributes
    ----------
    members
        The zip directory's entry of each file, by name.
    seal
        An error message if the file's digest is wrong; empty if it is right.
    """

    zip: ZipFile
    seal: str
    members: dict[str, ZipInfo] = field(init=False)

    def __post_init__(self) -> None:
        self.members = {info.filename: info for info in self.zip.infolist()}

    def read(self, name: str, limit: int = _LARGEST) -> bytes:
        """Return the bytes of a file.

        Raises
        ------
        Damaged
            The file is missing, can't be unpacked, or is larger than ``limit``.
        """
        return b"".join(self.chunks(name, limit))

    def describe_file(self, name: str) -> dict[str, int | str]:
        """Return the size and digest of a file, in the form of the manifest's entry."""
        hasher, size = hashlib.sha256(), 0
        for chunk in self.chunks(name, _LARGEST):
            hasher.update(chunk)
            size += len(chunk)
        return {"size": size, "sha256": hasher.hexdigest()}

    def chunks(self, name: str, limit: int) -> Iterator[bytes]:
        """Yield a file in pieces, never more bytes than its zip directory entry announces."""
        if name not in self.members:
            raise DamagedArchive(f"{name}: missing")
        if self.members[name].file_size > limit:
            raise DamagedArchive(f"{name}: larger than {limit:,} bytes")
        try:
            with self.zip.open(self.members[name]) as file:
                while chunk := file.read(_CHUNK):
                    yield chunk
        except Exception as error:  # zipfile and zlib have many words for damaged bytes
            raise DamagedArchive(f"{name}: can't be unpacked ({error})") from None

    def unpack(self, place: str, folder: Path) -> None:
        """Write the files of a folder to disk, under their names within it."""
        for name in self.members:
            if name.startswith(f"{place}/"):
                to = folder / name.removeprefix(f"{place}/")
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(self.read(name))

    def manifest(self) -> dict[str, Any]:
        """Return the manifest of the archive.

        Raises
        ------
        Damaged
            The manifest can't be read, or its format isn't supported.
        """
        try:
            manifest = json.loads(self.read(MANIFEST))
        except (ValueError, RecursionError):
            raise DamagedArchive(f"{MANIFEST}: no JSON") from None
        if not isinstance(manifest, dict) or manifest.get("kind") != KIND:
            raise DamagedArchive(f"{MANIFEST}: this is no archive of a plenum study")
        if manifest.get("format") != FORMAT:
            raise DamagedArchive(
                f"{MANIFEST}: format {manifest.get('format')!r}; this version reads {FORMAT}"
            )
        if not is_study(manifest.get("study")):
            raise DamagedArchive(f"{MANIFEST}: {manifest.get('study')!r} is no study's name")
        files = manifest.get("files")
        if not isinstance(files, dict) or not all(isinstance(f, Mapping) for f in files.values()):
            raise DamagedArchive(f"{MANIFEST}: it lists no files")
        return manifest


@contextmanager
def open_archive(path: Path) -> Iterator[Box]:
    """Open an archive after checking that its names and sizes are harmless.

    Raises
    ------
    Damaged
        The file isn't a complete zip file, or unpacking it could do harm.
    """
    with open_regular_file(path) as file:
        size = path.stat().st_size
        try:
            zipped = ZipFile(file)
        except Exception:  # also of a directory whose bytes were changed
            raise DamagedArchive(
                "no whole zip file: it is cut off, damaged or something else"
            ) from None
        with zipped:
            _refuse_harm(zipped.infolist(), size)
            yield Box(zipped, _seal(file, size))


def _seal(file: BinaryIO, size: int) -> str:
    file.seek(max(size - SEAL, 0))
    seal = file.read()
    if seal == digest(file, size - SEAL).encode():
        return ""
    return "cut off, changed, or packed anew: its SHA-256 isn't the one at its end"


def _refuse_harm(members: list[ZipInfo], size: int) -> None:
    for info in members:
        if (wrong := _wrong(info)) is not None:
            raise DamagedArchive(f"{info.filename!a}: {wrong}")
    doubled = [n for n, k in Counter(i.filename.lower() for i in members).items() if k > 1]
    if doubled:
        raise DamagedArchive(f"{doubled[0]}: there is more than one file of this name")
    if wrong := unpack_problem(members, size, _LARGEST):
        raise DamagedArchive(wrong)


def _wrong(info: ZipInfo) -> str | None:
    """Return the reason not to unpack a file; ``None`` if it is harmless."""
    name = info.filename
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        return "not a name that an archive has"
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        return "a link or something else that is no file"
    if info.flag_bits & _ENCRYPTED or info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        return "encrypted, or compressed in a way that plenum doesn't use"
    return None
