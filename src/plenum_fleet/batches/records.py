"""The journal of batches: a file each, written before it is submitted, after, and at its end."""

import json
import os
import time
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from plenum.records.atomic_files import append_bytes, encode_json

OVER = ("collected", "abandoned")
"""Kinds of lines after which a batch is looked at no more."""
_LAST_LINE = 4096
Key = tuple[str, str]
"""Digests of a call, by which replicate makes it, and of its body."""


@dataclass(frozen=True)
class BatchRecord:
    """A batch that was to be submitted.

    Attributes
    ----------
    path
        The file.
    model, base
        Whose calls it holds, and the URL of the endpoint.
    items
        Their ids, ``CALL-ATTEMPT-BODY``, with digests of the call and of its body.
    at
        When it was written, just before it was submitted; Unix time.
    id
        The provider's; ``None`` where a kill came before it was noted.
    certain
        False where it was found in a list by its size alone, until its results say whose it is.
    """

    path: Path
    model: str
    base: str
    items: tuple[str, ...]
    at: float
    id: str | None = None
    certain: bool = True

    @property
    def name(self) -> str:
        """The batch's name, with us and with providers that keep one."""
        return self.path.stem

    def note_submission(self, ident: str, certain: bool = True) -> "BatchRecord":
        """Note the provider's id, or what may be it."""
        self.note("submitted" if certain else "found", id=ident)
        return replace(self, id=ident, certain=certain)

    def note_foreign(self) -> "BatchRecord":
        """Note that what was found belongs to another process."""
        self.note("mistaken", id=self.id)
        return replace(self, id=None)

    def note(self, kind: str, **more: Any) -> None:
        """Append a line, which is on the disk when this returns."""
        _append(self.path, {"kind": kind, "at": round(time.time(), 3), **more})


def make_item_id(session: str, seed: int, number: int, body: bytes) -> str:
    """Return the id of an attempt at a call; it is the same in every process."""
    call = blake2b(f"{session} {seed:016x}".encode(), digest_size=8).hexdigest()
    return f"{call}-{number}-{blake2b(body, digest_size=8).hexdigest()}"


def key(item: str) -> Key:
    """Return the call and the body of an item, whichever attempt it is."""
    call, _, body = item.split("-")
    return call, body


def begin(folder: Path, model: str, base: str, items: tuple[str, ...]) -> BatchRecord:
    """Write that a batch is going to be submitted.

    Raises
    ------
    OSError
        With the path.
    """
    folder.mkdir(parents=True, exist_ok=True)
    at = round(time.time(), 3)
    digest = blake2b("\n".join(items).encode(), digest_size=6).hexdigest()
    path = folder / f"b{at * 1000:.0f}-{digest}.jsonl"
    _append(path, {"kind": "batch", "model": model, "base": base, "items": items, "at": at})
    return BatchRecord(path, model, base, items, at)


def list_unfinished(folder: Path) -> list[BatchRecord]:
    """List the batches whose answers may not all be journaled, in the order of their submission."""
    files = sorted(path for path in folder.glob("b*.jsonl") if not _is_over(path))
    return [record for path in files if (record := _read(path)) is not None]


def others_ids(record: BatchRecord) -> set[str]:
    """Return the providers' ids that can't be this batch's: those of others, and what it mistook.

    What others have found, and isn't certain, may be this one's all the same.
    """
    ids = set()
    for path in record.path.parent.glob("b*.jsonl"):
        lines = _lines(path)
        if path == record.path:
            ids |= {str(line.get("id")) for line in lines if line["kind"] == "mistaken"}
        else:
            ident, certain = _id(lines)
            ids |= {ident} if ident and certain else set()
    return ids


def _append(path: Path, line: dict[str, Any]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        torn = os.fstat(descriptor).st_size and not _ends_whole(path)
        data = (("\n" if torn else "") + encode_json(line) + "\n").encode()
        append_bytes(descriptor, data, path)
        # Unlike an answer, a batch that a power cut makes us forget would be paid for twice.
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"


def _is_over(path: Path) -> bool:
    """Return whether a batch is over, by the last line; the first may be megabytes long."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _LAST_LINE))
        lines = file.read().splitlines()
    last = _line(lines[-1]) if lines else None
    return last is not None and last["kind"] in OVER


def _read(path: Path) -> BatchRecord | None:
    """Read a batch; none if a kill tore its first line, since then it wasn't sent."""
    lines = _lines(path)
    try:
        head = lines[0]
        items = tuple(head["items"])
        return BatchRecord(path, head["model"], head["base"], items, head["at"], *_id(lines))
    except (IndexError, KeyError, TypeError):
        return None


def _id(lines: list[dict[str, Any]]) -> tuple[str | None, bool]:
    """Return the provider's id by the last note, and whether it is certain, as at the end."""
    ended = any(line["kind"] == "ended" for line in lines)
    for line in reversed(lines):
        if line["kind"] in ("submitted", "found", "mistaken"):
            known = line["kind"] != "mistaken" and line.get("id")
            return str(known) if known else None, ended or line["kind"] != "found"
    return None, True


def _lines(path: Path) -> list[dict[str, Any]]:
    return [line for data in path.read_bytes().splitlines() if (line := _line(data))]


def _line(data: bytes) -> dict[str, Any] | None:
    try:
        line = json.loads(data)
    except ValueError:
        return None
    return line if isinstance(line, dict) and isinstance(line.get("kind"), str) else None
