"""Answers that come in pieces, as server-sent events: the completion that the pieces make up."""

import re
from collections.abc import Iterator
from typing import Any

from plenum.calls.api import completions

_BEGINS = re.compile(rb"\s*(?:data|event|id|retry)?:")
"""The first field of a stream, which no JSON begins with: it is told without its Content-Type."""
_BETWEEN = re.compile(rb"(?:\r\n|\r|\n){2,}")
"""Empty lines between events; any of the three line ends of the standard may be used."""
_DATA = re.compile(rb"(?:^|[\r\n])data: ?([^\r\n]*)")
"""Lines of data; one space behind the colon is no part of it, by the standard."""
_DONE = b"[DONE]"
_ENDS = re.compile(rb"data: ?\[DONE\]\s*\Z")
_OF_ALL = ("id", "model", "provider", "system_fingerprint", "usage")
"""Fields of a completion that any of its pieces may have; the last one counts."""


def parse_answer(raw: bytes | bytearray) -> Any:
    """Parse the body of an answer, which came in one piece or as a stream of them.

    Raises
    ------
    UnfitReply, ReportedError
        As of :func:`join_stream`, and of :func:`~plenum.calls.api.completions.parse_body`.
    """
    return join_stream(raw) if _BEGINS.match(raw) else completions.parse_body(raw)


def join_stream(raw: bytes | bytearray) -> dict[str, Any]:
    """Join the pieces of a streamed completion.

    Raises
    ------
    UnfitReply
        It ended before the answer did, or a piece is none.
    ReportedError
        A piece reports an error: what came before it is no answer.
    """
    completions.bound_values(raw)
    whole: dict[str, Any] = {}
    fields: dict[str, list[Any]] = {}
    logprobs: list[Any] = []
    finish = None
    for piece in _parse_pieces(raw):
        if piece.get("error"):
            raise completions.ReportedError(piece["error"])
        whole |= {name: piece[name] for name in _OF_ALL if piece.get(name) is not None}
        for choice in _list_objects(piece.get("choices")):
            if choice.get("error") or choice.get("finish_reason") == "error":
                raise completions.ReportedError(choice.get("error") or "its choice is an error")
            _add(fields, choice.get("delta") or {})
            if isinstance(given := choice.get("logprobs"), dict):
                logprobs += _list_objects(given.get("content"))
            # Pieces after the one with the reason, such as that of the usage, have none.
            finish = choice.get("finish_reason") or finish
    # Some servers send no reason at the end; then the closing mark has to say that it is whole.
    if finish is None and not _ENDS.search(raw):
        raise completions.UnfitReply("the stream ended before the answer did")
    choice = {"message": _join(fields), "finish_reason": finish}
    return {**whole, "choices": [{**choice, "logprobs": {"content": logprobs}}]}


def _parse_pieces(raw: bytes | bytearray) -> Iterator[dict[str, Any]]:
    """Parse the data of each event up to the one that says that there are no more."""
    for event in _BETWEEN.split(bytes(raw)):
        # An event may have several lines of data, which the standard joins by line breaks.
        data = b"\n".join(_DATA.findall(event)).strip()
        if data == _DONE:
            return
        if data:  # else a comment, by which a server keeps the connection open
            piece = completions.parse_body(data)
            if not isinstance(piece, dict):
                raise completions.UnfitReply("a piece of the stream is no object")
            yield piece


def _list_objects(values: Any) -> list[dict[str, Any]]:
    return [each for each in values if isinstance(each, dict)] if isinstance(values, list) else []


def _add(fields: dict[str, list[Any]], delta: Any) -> None:
    """Add a piece of a message: each field is a list of what came of it."""
    if not isinstance(delta, dict):
        raise completions.UnfitReply("a piece of the stream has no delta")
    for name, value in delta.items():
        if value is not None:
            fields.setdefault(name, []).extend(value if isinstance(value, list) else [value])


def _join(fields: dict[str, list[Any]]) -> dict[str, Any]:
    """Join the pieces of a message: texts, and the calls of tools by their index."""
    calls: dict[str, dict[str, list[Any]]] = {}
    for piece in _list_objects(fields.pop("tool_calls", [])):
        # Pieces of one call share an index; as a text it is a key, whatever a server sends.
        _add(calls.setdefault(str(piece.get("index")), {}), piece.get("function") or {})
    joined: dict[str, Any] = {}
    for name, pieces in fields.items():
        plain = all(isinstance(piece, str) for piece in pieces)
        joined[name] = "".join(pieces) if plain else pieces
    called = [{"function": _join(call)} for call in calls.values()]
    return {**joined, "tool_calls": called} if called else joined
