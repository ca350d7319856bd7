"""The contract of a reader of logs, and the choice of the reader for a log."""

import csv
import gzip
import json
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.base.extensions import Registry, blame_part
from plenum.base.regular_files import open_regular_file
from plenum_verdicts.readers.data_sets import Row, Wrong, find_delimiter
from plenum_verdicts.readers.json_stream import key_paths

GROUP = "plenum.log_readers"
"""The group of entry points in which packages name their readers."""

Records = Iterator[tuple[str, Row | Wrong]]
"""Rows of runs, each with its place in the log, such as ``line 3``."""

_TEXTS = (".csv", ".tsv", ".json", ".jsonl")
"""Endings of files that are read as text, in UTF-8."""

_HEAD = 1 << 16
_LARGEST, _RATIO = 1 << 27, 100
"""Number of bytes to which any file may unpack, and how many times its size a larger one may."""

_LONGEST = 200
BROKEN: tuple[type[Exception], ...] = (
    ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError, OverflowError,
    zipfile.BadZipFile, NotImplementedError, struct.error, EOFError,
)  # fmt: skip
"""Errors that a reader may raise on a log that is damaged or in another format."""

_EXPLAINED: tuple[type[Exception], ...] = (UserError, OSError, *BROKEN)


@dataclass(frozen=True)
class LogSource:
    """A log to be read: a file, or runs that a service keeps.

    Attributes
    ----------
    name
        The path, or what names the runs of a service, such as ``mlflow:EXPERIMENT``.
    """

    name: str

    @cached_property
    def path(self) -> Path:
        """The file, of a ``.gz`` one unpacked; it exists if :attr:`is_file`."""
        path = Path(self.name).expanduser()
        if path.suffix != ".gz" or not path.is_file():
            return path
        folder = tempfile.TemporaryDirectory()
        self.__dict__["_unpacked"] = folder  # it lives as long as this source
        unpacked = Path(folder.name) / path.stem
        # A small file that unpacks to a disk's worth is refused before it has filled the disk.
        most = max(_LARGEST, _RATIO * path.stat().st_size)
        try:
            with gzip.open(path) as packed, unpacked.open("wb") as file:
                while (piece := packed.read(1 << 20)) and file.tell() <= most:
                    file.write(piece)
        except (OSError, EOFError, zlib.error) as problem:
            raise UserError(f"logs={self.name}: it can't be unpacked: {problem}") from None
        if piece:
            raise UserError(f"logs={self.name}: it would unpack to over {most:,} bytes")
        return unpacked

    @cached_property
    def is_file(self) -> bool:
        """True if there is such a file or folder."""
        try:
            return Path(self.name).expanduser().exists()
        except OSError:  # such as a name that is too long
            return False

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB of a file; empty without one."""
        if not self.is_file:
            return b""
        with open_regular_file(self.path) as file:
            return file.read(_HEAD)

    @cached_property
    def keys(self) -> frozenset[str]:
        """Paths of the keys in the head, if it is JSON: ``results.version``, ``[].trial``."""
        return key_paths(self.head.decode("utf-8-sig", errors="replace"))

    @cached_property
    def columns(self) -> frozenset[str]:
        """Names in the first line of a CSV or TSV file that isn't empty; none for other files."""
        if self.path.suffix not in (".csv", ".tsv"):
            return frozenset()
        line = self.head.decode("utf-8-sig", errors="replace").lstrip().partition("\n")[0]
        return frozenset(next(csv.reader([line], delimiter=find_delimiter(line)), []))

    @cached_property
    def is_lines(self) -> bool:
        """True for lines of JSON objects, whatever the file is called."""
        if self.path.suffix in (".jsonl", ".ndjson"):
            return True
        text = self.head.decode("utf-8-sig", errors="replace").strip()
        line, _, rest = text.partition("\n")
        try:
            # A pretty-printed object begins with { as well; only of lines the first is whole.
            return line[:1] == "{" == rest.lstrip()[:1] and isinstance(json.loads(line), dict)
        except (ValueError, RecursionError):
            return False


@dataclass(frozen=True)
class LogReader:
    """A reader of the logs of one tool.

    Attributes
    ----------
    name
        As in ``format=NAME``.
    title
        How the format is called in a sentence: "results of promptfoo".
    recognises
        Returns True if a log seems to be in this format, by its name or head.
    read
        Yields a row for each run with its place. The fields are those of
        :data:`plenum_verdicts.logs.log_columns.FIELDS`; unknown ones are left out. It says what
        the file says and chooses nothing: ``case`` is the tool's own id, else ``label`` and
        ``content``, a JSON value, identify the case; ``scores`` has the raw value of each score
        by its name, ``None`` or NaN where it wasn't measured; ``score`` is a tool's one score
        without a name; ``right`` is there only where the tool says passed or failed; ``error``
        only of a run that failed, not of a wrong one; ``cached`` is true if a cache answered.
        It may raise any of :data:`BROKEN` on a log that it can't read.
    describe
        Returns what identifies the program, such as its task and version.
    general
        True for a plain table, which is chosen only if no reader of a tool recognises the log.
    tell
        Yields sentences on what a log says of itself, such as that it was cancelled.
    plan
        Returns the numbers of cases and of runs of each that were planned; zeros if unknown.
    verdict
        The tool's word for whether a run is right.
    one_of
        A field in which a log must have one value, such as a filter of answers: rows with others
        are of the same runs. ``where`` chooses one.
    placed
        True if its ids may be places in a data set, which another order of it changes: ``content``
        alone says which case it is, and the id is its name.
    """

    name: str
    title: str
    recognises: Callable[[LogSource], bool]
    read: Callable[[LogSource], Records]
    describe: Callable[[LogSource], Mapping[str, Any]] = lambda source: {}
    general: bool = False
    tell: Callable[[LogSource], Iterable[str]] = lambda source: ()
    plan: Callable[[LogSource], tuple[int, int]] = lambda source: (0, 0)
    verdict: str = "right"
    one_of: str = ""
    placed: bool = False


READERS: Registry[LogReader] = Registry(GROUP, "format", LogReader)
"""Readers by name; an installed package adds one by an entry point of :data:`GROUP`."""


def find_reader(source: LogSource, named: str = "") -> LogReader:
    """Return the reader of that name, or the one that recognises the log.

    Raises
    ------
    UserError
        There is no reader of that name, or none or several recognise the log.
    """
    # UTF-16 without its mark is valid UTF-8 with many zeros. Only the first line tells: a text
    # further down may hold one, and be read all the same.
    if source.is_file and source.path.suffix in _TEXTS and b"\0" in source.head.partition(b"\n")[0]:
        raise UserError(f"logs={source.name}: it isn't UTF-8; save it as that")
    if named:
        return READERS[named]
    fitting = []
    for reader in READERS.values():
        with blame_part(f"{source.name}: format={reader.name} of {reader.recognises.__module__}"):
            fitting += [reader] if reader.recognises(source) else []
    # A tool's log is a table as well: general readers count only where no tool's does.
    chosen = [reader for reader in fitting if not reader.general] or fitting[:1]
    if len(chosen) > 1:
        names = " or ".join(f"format={reader.name}" for reader in chosen)
        raise UserError(f"logs={source.name}: it may be in several formats; say {names}")
    if not chosen:
        if not source.is_file:
            raise UserError(f"logs={source.name}: there is no such file")
        if not source.head.strip():
            raise UserError(f"logs={source.name}: it holds no run")
        raise UserError(
            f"logs={source.name}: it is in none of the known formats: {', '.join(READERS)}; "
            "format=NAME forces one: docs/audit-logs.md"
        )
    return chosen[0]


def read_records(reader: LogReader, source: LogSource) -> Records:
    """Yield the rows of a log.

    Raises
    ------
    UserError
        It can't be read; the message says why.
    """
    with _explaining(reader, source, reader.read):
        for record in reader.read(source):
            match record:
                # Readers may come from other packages: their mistake is told apart from a bad log.
                case (str(), Mapping() | Wrong()):
                    yield record
                case _:
                    raise RuntimeError("it yields what is no place with a row")


def describe_program(reader: LogReader, source: LogSource) -> Mapping[str, Any]:
    """Return what identifies the program of a log; raise as :func:`read_records`."""
    with _explaining(reader, source, reader.describe):
        match reader.describe(source):
            case Mapping() as about:
                return about
        raise RuntimeError("it describes the program by no mapping")


def list_told(reader: LogReader, source: LogSource) -> list[str]:
    """Return what a log says of itself, with its name; raise as :func:`read_records`."""
    with _explaining(reader, source, reader.tell):
        return [f"{source.name}: {line}" for line in reader.tell(source)]


@contextmanager
def _explaining(reader: LogReader, source: LogSource, part: Callable[..., Any]) -> Iterator[None]:
    """Say in words which log couldn't be read, and whose part it is that failed otherwise."""
    with blame_part(f"{source.name}: format={reader.name} of {part.__module__}"):
        try:
            yield
        except _EXPLAINED as problem:
            raise _explain(problem, reader, source) from None


def _explain(problem: Exception, reader: LogReader, source: LogSource) -> UserError:
    """Return an error in words for what a reader raised."""
    match problem:
        case UserError():
            return problem
        case UnicodeDecodeError():
            why = "it isn't UTF-8; save it as that"
        case OSError():
            why = f"can't be read: {problem}"
        # A message with a space is a sentence of a reader, not the name of a key.
        case KeyError() if not str(problem.args[0]).count(" "):
            why = f"it isn't {reader.title} (format={reader.name}): {problem} is missing"
        case _:
            why = f"it isn't {reader.title} (format={reader.name}): {problem}"
    return UserError(f"{source.name}: {why[:_LONGEST]}")
