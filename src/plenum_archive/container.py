"""The file of an archive: a zip whose bytes follow from its contents, sealed by its own digest.

Who opens one believes nothing that it says: it may be damaged or hostile.
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

from plenum.base import regular_files, zips
from plenum.design.ranges import is_study
from plenum_archive.layout import FORMAT, KIND, MANIFEST

SEAL = 64
"""The last bytes of the file: the SHA-256 of all before them, in hexadecimal."""

MODE = 0o100644
_TIME = (1980, 1, 1, 0, 0, 0)
_LEVEL = 6
_NAME = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9._-]*/)*[A-Za-z0-9_][A-Za-z0-9._-]*")
_LONGEST_NAME = 200
_ENCRYPTED = 0x1
_LARGEST = 1 << 30
"""Bytes of the largest file, and of all files together where the archive is small."""
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
    hasher = hashlib.sha256()
    file.seek(0)
    while size > 0 and (chunk := file.read(min(size, _CHUNK))):
        hasher.update(chunk)
        size -= len(chunk)
    return hasher.hexdigest()


class Damaged(Exception):
    """An archive that can't be read any further."""


@dataclass
class Box:
    """An archive opened for reading.

    Attributes
    ----------
    members
        What the zip file says of each file, by name.
    seal
        What is wrong with the file as a whole; empty where its digest fits.
    """

    zip: ZipFile
    seal: str
    members: dict[str, ZipInfo] = field(init=False)

    def __post_init__(self) -> None:
        self.members = {info.filename: info for info in self.zip.infolist()}

    def read(self, name: str, limit: int = _LARGEST) -> bytes:
        """A file's bytes.

        Raises
        ------
        Damaged
            It isn't there, can't be unpacked, or is larger than ``limit``.
        """
        return b"".join(self.chunks(name, limit))

    def described(self, name: str) -> dict[str, int | str]:
        """A file's size and digest, as the manifest should have them."""
        hasher, size = hashlib.sha256(), 0
        for chunk in self.chunks(name, _LARGEST):
            hasher.update(chunk)
            size += len(chunk)
        return {"size": size, "sha256": hasher.hexdigest()}

    def chunks(self, name: str, limit: int) -> Iterator[bytes]:
        """A file, piece by piece: never more of it than the zip file says that there is."""
        if name not in self.members:
            raise Damaged(f"{name}: missing")
        if self.members[name].file_size > limit:
            raise Damaged(f"{name}: larger than {limit:,} bytes")
        try:
            with self.zip.open(self.members[name]) as file:
                while chunk := file.read(_CHUNK):
                    yield chunk
        except Exception as error:  # zipfile and zlib have many words for damaged bytes
            raise Damaged(f"{name}: can't be unpacked ({error})") from None

    def unpack(self, place: str, folder: Path) -> None:
        """Write the files of a folder to the disk, under their names within it."""
        for name in self.members:
            if name.startswith(f"{place}/"):
                to = folder / name.removeprefix(f"{place}/")
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(self.read(name))

    def manifest(self) -> dict[str, Any]:
        """The manifest of the archive.

        Raises
        ------
        Damaged
            It can't be read, or is of another format.
        """
        try:
            manifest = json.loads(self.read(MANIFEST))
        except (ValueError, RecursionError):
            raise Damaged(f"{MANIFEST}: no JSON") from None
        if not isinstance(manifest, dict) or manifest.get("kind") != KIND:
            raise Damaged(f"{MANIFEST}: this is no archive of a plenum study")
        if manifest.get("format") != FORMAT:
            raise Damaged(
                f"{MANIFEST}: format {manifest.get('format')!r}; this version reads {FORMAT}"
            )
        if not is_study(manifest.get("study")):
            raise Damaged(f"{MANIFEST}: {manifest.get('study')!r} is no study's name")
        files = manifest.get("files")
        if not isinstance(files, dict) or not all(isinstance(f, Mapping) for f in files.values()):
            raise Damaged(f"{MANIFEST}: it lists no files")
        return manifest


@contextmanager
def opened(path: Path) -> Iterator[Box]:
    """Open an archive whose names and sizes are harmless.

    Raises
    ------
    Damaged
        It is no whole zip file, or one that could do harm.
    """
    with regular_files.opened(path) as file:
        size = path.stat().st_size
        try:
            zipped = ZipFile(file)
        except Exception:  # also of a directory whose bytes were changed
            raise Damaged("no whole zip file: it is cut off, damaged or something else") from None
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
            raise Damaged(f"{info.filename!a}: {wrong}")
    doubled = [n for n, k in Counter(i.filename.lower() for i in members).items() if k > 1]
    if doubled:
        raise Damaged(f"{doubled[0]}: there is more than one file of this name")
    if wrong := zips.bomb(members, size, _LARGEST):
        raise Damaged(wrong)


def _wrong(info: ZipInfo) -> str | None:
    """What speaks against unpacking a file."""
    name = info.filename
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        return "not a name that an archive has"
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        return "a link or something else that is no file"
    if info.flag_bits & _ENCRYPTED or info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        return "encrypted, or compressed in a way that plenum doesn't use"
    return None
