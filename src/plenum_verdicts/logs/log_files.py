"""The sources that ``logs=`` names: a file, a folder of files, a pattern, or runs of a service."""

import glob
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from plenum.base.errors import UserError
from plenum.base.identity import digest
from plenum.base.regular_files import require_regular_file
from plenum_verdicts.readers.log_reader import LogReader, LogSource, find_reader

_SUFFIXES = (".csv", ".eval", ".gz", ".json", ".jsonl", ".ndjson", ".parquet", ".tsv")


def find_sources(logs: str) -> tuple[LogSource, ...]:
    """Return the files that a path, a folder or a pattern names, by name; or a service's runs.

    Raises
    ------
    UserError
        A folder or a pattern has no file, or a file can't be read.
    """
    source, path = LogSource(logs), Path(logs).expanduser()
    if source.is_file and path.is_dir():
        found = sorted(p for p in path.iterdir() if p.suffix in _SUFFIXES and p.is_file())
        if not found:
            raise UserError(f"logs={logs}: the folder has no file in {', '.join(_SUFFIXES)}")
    elif source.is_file:
        found = [path]
    elif any(mark in logs for mark in "*?["):
        found = sorted(map(Path, glob.glob(str(path))))
    elif ":" in logs:  # runs of a service
        return (source,)
    else:
        found = []
    if not found:
        raise UserError(f"logs={logs}: there is no such file")
    for path in found:
        try:
            require_regular_file(path)
        except OSError as error:
            raise UserError(f"logs={logs}: can't be read: {error}") from None
    return tuple(LogSource(str(path)) for path in found)


def find_common_reader(sources: Sequence[LogSource], named: str = "") -> LogReader:
    """Return the reader of all sources.

    Raises
    ------
    UserError
        They need several, or as for :func:`plenum_verdicts.readers.log_reader.find_reader`.
    """
    readers = {source.name: find_reader(source, named) for source in sources}
    first = readers[sources[0].name]
    for name, reader in readers.items():
        if reader.name != first.name:
            raise UserError(
                f"logs: {name} is {reader.title}, and {sources[0].name} is {first.title}; "
                "give files in one format, or force it by format=NAME"
            )
    return first


def _pieces(source: LogSource) -> Iterator[bytes]:
    """Yield the content of a file in pieces; of a service, its name."""
    if not source.is_file:
        yield source.name.encode()
        return
    with source.path.open("rb") as file:
        while piece := file.read(1 << 20):
            yield piece


def digest_sources(sources: Sequence[LogSource]) -> str:
    """Return the digest of a log's files, by which a verdict names what was read.

    Raises
    ------
    UserError
        Two files are equal.
    """
    names: dict[str, str] = {}
    for source in sources:
        hashed = hashlib.blake2b(digest_size=16)
        for piece in _pieces(source):
            hashed.update(piece)
        if (found := hashed.hexdigest()) in names:  # the same runs would count twice
            raise UserError(
                f"logs: {source.name} and {names[found]} are equal, byte by byte; give one of them"
            )
        names[found] = source.name
    return digest([*names]) if len(names) > 1 else found
