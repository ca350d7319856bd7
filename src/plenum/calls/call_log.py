"""The call log of a condition, with one line for each attempt at a call."""

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

from pydantic_core import PydanticSerializationError, to_json

from plenum.records import atomic_files
from plenum.records.failures import Failure
from plenum.records.usage import Usage

Line = dict[str, Any]

_SENT = "sent"
_MOST = 2**53
"""A bound above any count and amount: beyond it floats don't hold every whole number."""
_OUTCOMES = {"ok", _SENT, *map(str, Failure)}


def find_call_logs(folder: Path) -> list[Path]:
    """List the call logs of a condition: ``calls.jsonl``, and one for each worker."""
    return sorted(folder.glob("calls*.jsonl"))


def read_attempts(path: Path, unread: Callable[[], object] = lambda: None) -> Iterator[Line]:
    """Yield the attempts of a call log, in the order in which they ended.

    An attempt that was sent and never ended, since the process was killed, comes last, as
    ``interrupted``: it may have been billed. One in a batch continues in the next run, whatever its
    number there, so it is yielded once.

    Parameters
    ----------
    path
        The log, or the folder that holds a condition's logs.
    unread
        Called for each line that is left out because it is torn or malformed.
    """
    if path.is_dir():
        for log in find_call_logs(path):
            yield from read_attempts(log, unread)
        return
    if not path.exists():
        return
    under_way: dict[str, list[Line]] = {}
    with path.open("rb") as lines:
        for data in lines:
            line = _read(data)
            if line is None:
                if data.strip():
                    unread()
                continue
            # An id may come twice, of a run and of the next one after a kill: each "sent" waits for
            # its own end.
            name = line.get("id", "")
            if line.get("batch"):
                name = f"batch {name.rpartition('-')[0]}"
                # Earlier lines are of the same attempt, which another process has sent.
                under_way.setdefault(name, []).clear()
            if line["outcome"] == _SENT:
                under_way.setdefault(name, []).append(line)
                continue
            if under_way.get(name):
                # Which of equal ones ended doesn't matter: their bounds are the same.
                under_way[name].pop()
            yield line
    for line in (line for left in under_way.values() for line in left):
        yield {**line, "outcome": str(Failure.INTERRUPTED), "detail": "the process was killed"}


class CallLog:
    """The log of a whole condition, one line an attempt: outcome, status, latency, time.

    Attributes
    ----------
    usage
        Attempts and seconds by replicate, over this run and all runs before, in all logs of the
        folder.
    unread
        Lines of runs before that can't be read and are left out.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.usage: defaultdict[int, Usage] = defaultdict(Usage)
        self.unread = 0
        try:
            # The log has no chain: a torn line stays, as one that can't be read.
            if path.stat().st_size and not path.read_bytes().endswith(b"\n"):
                # A kill tore the last line: the next one mustn't be appended to it.
                atomic_files.append_bytes(self._descriptor, b"\n", path)
            for line in read_attempts(path.parent, self._count_unread):
                self._count(line)
        except BaseException:
            self.close()
            raise

    def recount(self, replicate: int) -> None:
        """Count a replicate's attempts anew, from all logs of the folder."""
        self.usage[replicate] = Usage()
        for line in read_attempts(self._path.parent):
            if line["replicate"] == replicate:
                self._count(line)

    def append(self, line: Line) -> None:
        """Write one attempt and count it."""
        self._write(line)
        self._count(line)

    def note_sent(self, line: Line) -> None:
        """Note that an attempt goes out, so that the log knows of it even after a kill."""
        self._write({**line, "outcome": _SENT})

    def _write(self, line: Line) -> None:
        try:
            data = to_json(line)  # a seventh of the time of Python's encoder
        except PydanticSerializationError:  # lone surrogates of a server, which have no UTF-8
            data = atomic_files.encode_json(line).encode(errors="replace")
        atomic_files.append_bytes(self._descriptor, data + b"\n", self._path)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _count(self, line: Line) -> None:
        failed = int(line["outcome"] != "ok")
        self.usage[line["replicate"]] += Usage(
            attempts=1, failed_attempts=failed, seconds=line["latency_s"]
        )

    def _count_unread(self) -> None:
        self.unread += 1


def _read(data: bytes) -> Line | None:
    """Parse a line of the log; ``None`` for anything else."""
    try:
        line = json.loads(data.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(line, dict) or not _fits(line):
        return None
    for name in ("fingerprint", "server"):  # what a server sent, in logs of earlier versions
        if not _is_text(line.get(name, "")):
            del line[name]
    for name in ("cached", "written"):
        if not _is_count(line.get(name, 0)):
            del line[name]
    return line


def _fits(line: Line) -> bool:
    """Return whether a line has the fields that are written, each of its type."""
    if not all(fits(line.get(key)) for key, fits in _FIELDS.items()):
        return False
    if type(line["replicate"]) is not int:
        return True  # the log of a judge of wordings, which belongs to no conversation
    return all(fits(line.get(key)) for key, fits in _OF_CONVERSATION.items())


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value.isprintable()


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < _MOST


def _is_amount(value: object) -> bool:
    return type(value) in (int, float) and 0 <= value < _MOST  # type: ignore[operator]


_FIELDS: dict[str, Callable[[object], bool]] = {
    "replicate": lambda value: _is_count(value) or _is_text(value),
    "model": _is_text,
    "id": lambda value: value is None or _is_text(value),
    "outcome": lambda value: isinstance(value, str) and value in _OUTCOMES,
    "answered": lambda value: isinstance(value, bool),
    "status": lambda value: value is None or _is_count(value),
    "latency_s": _is_amount,
    "tokens_at_most": lambda value: value is None or _is_count(value),
    "cost_at_most": lambda value: value is None or _is_amount(value),
}
_OF_CONVERSATION: dict[str, Callable[[object], bool]] = {
    "call": _is_text,
    "round": _is_count,
    "seat": _is_text,
}
