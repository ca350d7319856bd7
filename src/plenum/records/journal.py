"""The append-only journal of a replicate.

A journal is JSON lines. Every line carries ``chain``, a digest over the line and the ``chain`` of
the line before, so that a changed, lost or reordered line shows. It holds what was said and
decided and nothing of when or how fast, so that equal deliberations have equal bytes. How each
answer was obtained (attempts, status, latency) goes to the call log next to it
(:mod:`plenum.calls.call_log`).
"""

import fcntl
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from plenum.records import atomic_files
from plenum.records.chain import DamagedJournal, chain_entry, verify_lines

SCHEMA = 1
MESSAGES = ("say", "vote")
"""Kinds of entries that a committee under audit reports itself."""
REFUSED = "refused"
"""The kind of calls of a committee under audit that failed for good, as it was told."""
TRIAL = "trial_"
"""Begins the kinds of answers to a model's trial, which the call log has and no journal."""
NO_ANSWERS = ("end", "reopen", "round", REFUSED, *MESSAGES)
"""Kinds of entries that are no answers to calls."""


def drop_revoked(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Drop the answers that a ``reopen`` revoked to ask for others.

    Such an entry says under ``again`` how many answers before it are asked for again. They stay in
    the journal, since they were paid for; results are read from the rest.
    """
    kept: list[dict[str, Any]] = []
    for entry in entries:
        for _ in range(entry.get("again", 0)):
            last = max(n for n, each in enumerate(kept) if each["kind"] not in NO_ANSWERS)
            del kept[last]
        kept.append(entry)
    return kept


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
    begun
        True if its first line was there by then.

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
            self._inode = os.fstat(self._descriptor).st_ino
            entries, self._size, self._chain = verify_lines(path, path.read_bytes())
            if entries:
                _check_head(path, entries[0], head)
            os.ftruncate(self._descriptor, self._size)  # without the line that a kill tore
            if not entries:
                self.append({"kind": "head", "schema": SCHEMA, **head})
        except BaseException:
            self.close()
            raise
        self.head: dict[str, Any] = entries[0] if entries else {"kind": "head", **head}
        self.entries: list[dict[str, Any]] = entries[1:]
        self.begun = bool(entries)

    @property
    def end(self) -> dict[str, Any] | None:
        """The closing entry that was there when the journal was opened, if any."""
        last = self.entries[-1] if self.entries else None
        return last if last and last["kind"] == "end" else None

    def append(self, entry: dict[str, Any]) -> None:
        """Write one entry: after it returns, a killed process loses nothing.

        Raises
        ------
        DamagedJournal
            Another process writes the file; nothing was written.
        """
        line, link = chain_entry(atomic_files.encode_json(entry), self._chain)
        data = line.encode() + b"\n"
        try:
            self._lock()
            self._require_alone()
            atomic_files.append_bytes(self._descriptor, data, self.path)
        finally:
            with suppress(OSError):  # a shared folder without locks
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        self._chain, self._size = link, self._size + len(data)

    def _lock(self) -> None:
        """Keep other processes of this machine out while a line is written."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise self._not_alone() from None
        except OSError:
            pass  # a shared folder without locks: the size decides

    def _require_alone(self) -> None:
        """Refuse to write after lines of another process, which would break the chain.

        The file is opened since that makes NFS look at the server's.
        """
        try:
            looking = os.open(self.path, os.O_RDONLY)
        except FileNotFoundError:
            return  # removed: there is nobody else's to spoil
        try:
            there = os.fstat(looking)
        finally:
            os.close(looking)
        if (there.st_size, there.st_ino) != (self._size, self._inode):
            raise self._not_alone()

    def _not_alone(self) -> DamagedJournal:
        return DamagedJournal(
            f"journal {self.path}: another process writes this replicate; this one stopped"
        )

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


def _check_head(path: Path, existing: dict[str, Any], head: dict[str, Any]) -> None:
    if existing.get("schema") != SCHEMA:
        raise DamagedJournal(f"journal {path}: schema {existing.get('schema')}, not {SCHEMA}")
    for key in ("condition", "replicate"):
        if existing.get(key) != head.get(key):
            raise DamagedJournal(
                f"journal {path}: it belongs to {key} {existing.get(key)}, not {head.get(key)}"
            )
