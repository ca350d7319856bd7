"""The append-only journal of a replicate.

A journal is JSON lines. Every line carries ``chain``, a digest over the line and the ``chain`` of
the line before, so that a changed, lost or reordered line shows. It holds what was said and
decided and nothing of when or how fast, so that equal deliberations have equal bytes. How each
answer was obtained (attempts, status, latency) goes to the call log beside it
(:mod:`plenum.records.calls`).
"""

import hashlib
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from plenum.records import writing

SCHEMA = 1
MESSAGES = ("say", "vote")
"""Kinds of entries that a program under audit reports itself."""
REFUSED = "refused"
"""The kind of calls of a program under audit that failed for good, and that it was told so."""
ELICITED = "elicited"
"""The kind of answers to questions after a run, which its program never sees."""
NO_ANSWERS = ("end", "reopen", "round", REFUSED, *MESSAGES)
"""Kinds of entries that are no answers to calls."""
_KEY = ',"chain":"'


class DamagedJournal(Exception):
    """A journal whose whole lines don't verify; nothing is written to it."""


def read_entries(path: Path) -> list[dict[str, Any]]:
    """The whole, verified lines of a journal; a torn last line is left out.

    Raises
    ------
    DamagedJournal
        A whole line is no JSON or its digest doesn't match.
    """
    return _parse(path)[0]


class Journal:
    """A journal opened for writing; it continues after the last whole line.

    Parameters
    ----------
    path
        The file; created, with its folder, where it doesn't exist.
    head
        What identifies the replicate. A journal that exists must agree on ``condition`` and
        ``replicate``.

    Attributes
    ----------
    head
        The first line, as it is in the file.
    entries
        The lines behind it that were there when the journal was opened.

    Raises
    ------
    DamagedJournal
        A whole line doesn't verify, or the file belongs to another replicate.
    """

    def __init__(self, path: Path, head: dict[str, Any]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            entries, size, self._chain = _parse(path)
            if entries:
                _check_head(path, entries[0], head)
            os.ftruncate(self._descriptor, size)
            if not entries:
                self.append({"kind": "head", "schema": SCHEMA, **head})
        except BaseException:
            self.close()
            raise
        self.head: dict[str, Any] = entries[0] if entries else {"kind": "head", **head}
        self.entries: list[dict[str, Any]] = entries[1:]

    @property
    def end(self) -> dict[str, Any] | None:
        """The closing entry that was there when the journal was opened, if any."""
        last = self.entries[-1] if self.entries else None
        return last if last and last["kind"] == "end" else None

    def append(self, entry: dict[str, Any]) -> None:
        """Write one entry: after it returns, a killed process loses nothing."""
        body = writing.encode(entry)
        chain = _link(self._chain, body)
        writing.append(self._descriptor, _line(body[:-1], chain).encode() + b"\n", self.path)
        self._chain = chain

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The entries that are answers to calls, in order."""
        return [e for e in self.entries if e["kind"] not in NO_ANSWERS]

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _link(chain: str, body: str) -> str:
    return hashlib.blake2b(f"{chain}{body}".encode(), digest_size=8).hexdigest()


def _parse(path: Path) -> tuple[list[dict[str, Any]], int, str]:
    """Entries, the size of the whole lines in bytes, and the last chain."""
    entries: list[dict[str, Any]] = []
    size, chain = 0, ""
    *lines, _torn = path.read_bytes().split(b"\n")  # a kill in mid-write tears the last line
    for number, line in enumerate(lines, start=1):
        entry, chain = _verify(path, number, line, chain)
        entries.append(entry)
        size += len(line) + 1
    return entries, size, chain


def _line(body: str, chain: str) -> str:
    """A line without its end; ``body`` is the entry without its closing brace."""
    return f'{body}{_KEY}{chain}"}}'


def _verify(path: Path, number: int, line: bytes, chain: str) -> tuple[dict[str, Any], str]:
    try:
        text = line.decode()
        body, _, _ = text.rpartition(_KEY)
        entry = json.loads(text)
        link = entry.pop("chain")
        complete = isinstance(entry["kind"], str)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        complete = False
    if not complete:
        raise DamagedJournal(f"journal {path}, line {number}: no whole entry")
    # Its very bytes: JSON would allow other line ends and spaces.
    if text != _line(body, link) or link != _link(chain, body + "}"):
        raise DamagedJournal(
            f"journal {path}, line {number}: its digest doesn't match; "
            "move the file away to start the replicate afresh"
        )
    return entry, link


def _check_head(path: Path, existing: dict[str, Any], head: dict[str, Any]) -> None:
    if existing.get("schema") != SCHEMA:
        raise DamagedJournal(f"journal {path}: schema {existing.get('schema')}, not {SCHEMA}")
    for key in ("condition", "replicate"):
        if existing.get(key) != head.get(key):
            raise DamagedJournal(
                f"journal {path}: it belongs to {key} {existing.get(key)}, not {head.get(key)}"
            )
