"""The first difference between two journals of one replicate."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

IDENTICAL, ELSEWHERE, DIFFERS = "artifact-identical", "environment", "differs"
MISSING, PENDING = "missing", "pending"
OUTCOMES = (IDENTICAL, ELSEWHERE, DIFFERS, PENDING, MISSING)

_CHAIN = b',"chain":"'
_EXCERPT = 40
"""Bytes of context on either side of a difference. Both sides together have 80, the width of a
terminal."""


@dataclass(frozen=True)
class JournalDifference:
    """The place where two journals first differ.

    Attributes
    ----------
    offset
        Number of bytes before it in the first journal.
    line
        Number of the line, from 1.
    entry
        The parsed line (``kind``, ``round``, ``seat``), from the first journal if it has the line.
    first, second
        The bytes around it in both journals.
    """

    offset: int
    line: int
    entry: dict[str, Any]
    first: str
    second: str

    @property
    def place(self) -> str:
        """The entry in words, such as ``turn, round 3, Chair``."""
        parts = [str(self.entry.get("kind", "?"))]
        parts += [f"round {self.entry['round']}"] if "round" in self.entry else []
        parts += [str(self.entry["seat"])] if "seat" in self.entry else []
        return ", ".join(parts)


@dataclass(frozen=True)
class RerunComparison:
    """The result of comparing a replicate's rerun with its first run.

    Attributes
    ----------
    outcome
        ``artifact-identical``: equal bytes. ``environment``: equal except for the environments that
        the journals name. ``differs``. ``pending``: equal so far, but one of the two hasn't ended.
        ``missing``: one of the two doesn't exist.
    difference
        The first difference, if any.
    environment
        Keys in which the environments differ, with both values.
    ended
        Status with which the first run's replicate ended: ``completed`` or ``failed``; empty if it
        hasn't.
    """

    outcome: str
    difference: JournalDifference | None = None
    environment: dict[str, tuple[str, str]] = field(default_factory=dict)
    ended: str = ""


def compare_journals(first: Path, second: Path) -> RerunComparison:
    """Compare two journals byte by byte, up to the first difference.

    Lines are compared without their ``chain``, which repeats every difference in all later lines.
    The environment in the head, and in lines that say that a journal continues in another
    environment, is compared separately: it alone doesn't make journals differ.
    """
    if not (first.exists() and second.exists()):
        return RerunComparison(MISSING)
    both = first.read_bytes(), second.read_bytes()
    entries = _entries(both[0]), _entries(both[1])
    last = entries[0][-1].body if entries[0] else {}
    ended = str(last.get("status", "")) if last.get("kind") == "end" else ""
    return replace(_compare(both, entries), ended=ended)


def _compare(
    both: tuple[bytes, bytes], entries: "tuple[list[_Entry], list[_Entry]]"
) -> RerunComparison:
    ended = all(lines and lines[-1].body.get("kind") == "end" for lines in entries)
    if both[0] == both[1]:
        return RerunComparison(IDENTICAL if ended else PENDING)
    environment = _environment(*entries)
    compared = ([line for line in lines if not line.elsewhere] for lines in entries)
    for first, second in zip_longest(*compared):
        if first is None or second is None:
            if not ended:
                return RerunComparison(PENDING, None, environment)
            return RerunComparison(DIFFERS, _only_in_one(first, second, both), environment)
        if first.content != second.content:
            return RerunComparison(DIFFERS, _difference(first, second), environment)
    if not ended:
        return RerunComparison(PENDING, None, environment)
    if environment:
        return RerunComparison(ELSEWHERE, None, environment)
    return RerunComparison(DIFFERS, _anywhere(*both), environment)


@dataclass(frozen=True)
class _Entry:
    """A complete line of a journal."""

    number: int
    offset: int
    text: bytes
    body: dict[str, Any]

    @property
    def elsewhere(self) -> bool:
        """True if the line only says that the journal continues in another environment."""
        return self.body.get("kind") == "reopen" and "environment" in self.body

    @property
    def content(self) -> bytes:
        """The line without its chain, and for a head without its environment."""
        # A line without a chain, which no journal of ours has, is compared whole.
        text = self.text.rpartition(_CHAIN)[0] or self.text
        if self.body.get("kind") != "head" or "environment" not in self.body:
            return text
        rest = {k: v for k, v in self.body.items() if k not in ("environment", "chain")}
        # Without the closing brace, which stands behind the chain in the other lines, too.
        return json.dumps(rest, ensure_ascii=False, separators=(",", ":"))[:-1].encode()


def _entries(data: bytes) -> list[_Entry]:
    """Return the complete lines; a line torn by a kill is left out."""
    entries = []
    offset = 0
    for number, text in enumerate(data.split(b"\n")[:-1], start=1):
        try:
            body = json.loads(text)
        # A line that is no JSON is compared by its bytes alone.
        except ValueError:
            body = {}
        entries.append(_Entry(number, offset, text, body if isinstance(body, dict) else {}))
        offset += len(text) + 1
    return entries


def _environment(first: list[_Entry], second: list[_Entry]) -> dict[str, tuple[str, str]]:
    """Return the keys in which any environments of the two journals differ, with both values."""
    named = [
        [e.body["environment"] for e in lines if isinstance(e.body.get("environment"), dict)]
        for lines in (first, second)
    ]
    keys = sorted({key for each in named for environment in each for key in environment})
    values = {
        key: [" then ".join(dict.fromkeys(str(e.get(key, "-")) for e in each)) for each in named]
        for key in keys
    }
    return {key: (left, right) for key, (left, right) in values.items() if left != right}


def _difference(first: _Entry, second: _Entry) -> JournalDifference:
    """Return where two lines differ, ignoring a head's environment."""
    at = common_prefix(first.content, second.content)
    # The environment stands last in a head: what is before it keeps its place.
    return JournalDifference(
        first.offset + at,
        first.number,
        first.body,
        _excerpt(first.content, at),
        _excerpt(second.content, at),
    )


def _only_in_one(
    first: _Entry | None, second: _Entry | None, both: tuple[bytes, bytes]
) -> JournalDifference:
    """Return the difference for a line that only one of the journals has."""
    left = first or second
    assert left is not None
    offset = left.offset if first else len(both[0])
    texts = [_excerpt(entry.text, 0) if entry else "" for entry in (first, second)]
    return JournalDifference(offset, left.number, left.body, texts[0], texts[1])


def _anywhere(first: bytes, second: bytes) -> JournalDifference:
    """Return the first differing byte anywhere, even in a chain or after the last whole line."""
    at = common_prefix(first, second)
    line = first.count(b"\n", 0, at) + 1
    entry = next((e for e in _entries(first) if e.number == line), None)
    body = entry.body if entry else {}
    return JournalDifference(at, line, body, _excerpt(first, at), _excerpt(second, at))


def common_prefix(first: Sequence[object], second: Sequence[object]) -> int:
    """Return the length of the common prefix of two sequences."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(first), len(second)))


def _excerpt(text: bytes, at: int) -> str:
    around = text[max(at - _EXCERPT, 0) : at + _EXCERPT].decode(errors="replace")
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in around)
