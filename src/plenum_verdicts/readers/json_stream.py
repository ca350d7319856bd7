"""JSON texts read in pieces: only one record of a long list is in memory at a time."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from plenum.base.json_reply import refuse_repeats
from plenum_verdicts.readers.data_sets import Wrong, require_few_values

_PIECE = 1 << 20
_LARGEST = 1 << 27
"""Number of characters that one record may have."""

_DEEPEST = 8
_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?|([{}\[\]])', re.S)
_AFTER = frozenset(",:]} \t\r\n")
"""Characters that may stand after a value."""
_DECODER = json.JSONDecoder(object_pairs_hook=refuse_repeats(Wrong))


class Missing(Wrong):
    """Raised where a JSON text has no value at some keys."""


def key_paths(head: str) -> frozenset[str]:
    """Return the paths of the keys of a JSON text's beginning, at most eight levels deep.

    Examples
    --------
    >>> sorted(key_paths('{"a": {"b": 1}, "c": [{"d": "x'))
    ['a', 'a.b', 'c', 'c[].d']
    """
    paths: set[str] = set()
    above: list[str] = []  # the path of each open object or list
    path = ""
    for text, is_key, mark in _TOKEN.findall(head):
        if is_key and above and len(above) <= _DEEPEST:
            path = f"{above[-1]}.{text[1:-1]}".removeprefix(".")
            paths.add(path)
        elif mark in ("{", "["):
            if len(above) < _DEEPEST:
                path += "[]" if mark == "[" else ""
            above.append(path)
        elif mark and above:
            above.pop()
            path = above[-1] if above else ""
            if not above:
                break  # of lines of JSON, the first
    return frozenset(paths)


def items(path: Path, *keys: str) -> Iterator[Any]:
    """Yield the items of the list that lies at some keys of a JSON file.

    Raises
    ------
    Wrong
        There is no such list, or the text is damaged.
    """
    with path.open(encoding="utf-8-sig") as file:
        text = _JsonText(file)
        text.descend(keys)
        text.take("[")
        while text.peek() != "]":
            yield text.value()
            if text.peek() != "]":
                text.take(",")
        text.take("]")
        for _ in keys:  # what follows must be whole, too
            text.skip_members()
        if text.peek():
            raise Wrong("something follows the end of the JSON text")


def member(path: Path, *keys: str) -> Any:
    """Return the value that lies at some keys of a JSON file; raise as :func:`items`."""
    with path.open(encoding="utf-8-sig") as file:
        text = _JsonText(file)
        text.descend(keys)
        return text.value()


class _JsonText:
    """A JSON text, of which only the piece that is being read is in memory."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._text, self._at, self._ended = file, "", 0, False

    def peek(self) -> str:
        """Return the next character that isn't space; empty at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in " \t\r\n":
                    return self._text[self._at]
                self._at += 1
            if self._ended:
                return ""
            self._fill(_PIECE)

    def take(self, mark: str) -> None:
        """Go past a mark."""
        if (found := self.peek()) != mark:
            raise Wrong(f"{mark!r} was expected and {found or 'the end'!r} found")
        self._at += 1

    def value(self) -> Any:
        """Return the next value, and go past it."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
                whole = self._text[end : end + 1] in _AFTER
                if whole or self._ended:  # else it may be a number that goes on: 1 of 1.5
                    self._at = end
                    return value
            except (ValueError, RecursionError) as problem:
                too_deep = isinstance(problem, RecursionError)
                if isinstance(problem, Wrong):  # of a key that stands twice
                    raise
                if self._ended or too_deep or not isinstance(problem, json.JSONDecodeError):
                    why = "it is nested too deeply" if too_deep else f"{problem}"
                    raise Wrong(f"no JSON, or cut off: {why}") from None
            require_few_values(self._text, self._at)
            if len(self._text) - self._at > _LARGEST:
                raise Wrong(f"a record has over {_LARGEST:,} characters, or isn't JSON")
            self._fill(max(_PIECE, len(self._text) - self._at))

    def descend(self, keys: tuple[str, ...]) -> None:
        """Go to the value at some keys."""
        for key in keys:
            self.take("{")
            while self.peek() != "}":
                name = self.value()
                self.take(":")
                if name == key:
                    break
                self.value()
                if self.peek() != "}":
                    self.take(",")
            else:
                raise Missing(f"it has no {key}")

    def skip_members(self) -> None:
        """Go past the rest of an object."""
        while self.peek() == ",":
            self.take(",")
            self.value()
            self.take(":")
            self.value()
        self.take("}")

    def _fill(self, size: int) -> None:
        more = self._file.read(size)
        self._ended = not more
        self._text, self._at = self._text[self._at :] + more, 0
