"""What an agent in a world answers: a JSON object whose action stands first.

A cut answer keeps what is whole: its action, and its message where that is whole too.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from plenum.base.text import visible, well_formed
from plenum.models.conversation import Misread

Action = TypeVar("Action")

_FENCE = re.compile(r"\A```(?:json)?[ \t]*\n(.*?)(?:\n[ \t]*```)?\Z", re.DOTALL)
_MESSAGE = re.compile(r'\s*,\s*"message"\s*:\s*')


class Unreadable(Misread):
    """An answer without a readable action; the message says what is wrong with it.

    ``cut`` says that the answer is the beginning of an object: it ends inside of it.
    """

    def __init__(self, problem: str, *, cut: bool = False) -> None:
        super().__init__(well_formed(problem))
        self.cut = cut


@dataclass(frozen=True)
class ParsedAnswer(Generic[Action]):
    """What was read of an answer: the action, and the message to the others (maybe empty).

    ``cut`` says that the answer ends inside the object.
    """

    action: Action
    message: str
    cut: bool


def parse(text: str, key: str, read: Callable[[Any], Action]) -> ParsedAnswer[Action]:
    """Read an answer.

    Parameters
    ----------
    text
        The answer: a JSON object, maybe in a fenced block, maybe with words behind it.
    key
        Of the action in the object.
    read
        Checks the action's value; raises :class:`ValueError` where it isn't allowed.

    Raises
    ------
    Unreadable
        There is no object, no action in it, or one that isn't allowed.
    """
    stripped = text.strip()
    fenced = _FENCE.match(stripped)
    body = fenced[1].strip() if fenced else stripped
    try:
        data, end = _DECODER.raw_decode(body)
    except Unreadable:
        raise
    except (ValueError, RecursionError):
        return _parsed(_begun(body, key), key, read, cut=_cut(body))
    behind = body[end:]
    if not isinstance(data, dict):
        raise Unreadable("no JSON object" if behind else f'the object needs the key "{key}"')
    if f'"{key}"' in visible(behind):
        raise Unreadable("there is more than one object")
    return _parsed(data, key, read, cut=False)


def _parsed(
    data: dict[str, Any], key: str, read: Callable[[Any], Action], *, cut: bool
) -> ParsedAnswer[Action]:
    if key not in data:
        raise Unreadable(f'the object needs the key "{key}"', cut=cut)
    message = data.get("message", "")
    if not isinstance(message, str):
        message = ""
    try:
        action = read(data[key])
    except ValueError as problem:
        raise Unreadable(str(problem), cut=cut) from None
    return ParsedAnswer(action, well_formed(message), cut)


def _begun(body: str, key: str) -> dict[str, Any]:
    """What is whole of an object that was cut: the action, which stands first, and the message."""
    start = re.match(rf'\{{\s*"{re.escape(key)}"\s*:\s*', body)
    if start is None:
        raise Unreadable("no JSON object", cut=_cut(body))
    try:
        value, end = _DECODER.raw_decode(body, start.end())
    except (ValueError, RecursionError):
        raise Unreadable("no whole JSON object, nor a whole action", cut=_cut(body)) from None
    if not re.match(r"\s*,", body[end:]):
        # a number may be cut in the middle; only what follows shows that it is whole
        raise Unreadable("no JSON object", cut=_cut(body))
    message = _MESSAGE.match(body, end)
    try:
        text, end = _DECODER.raw_decode(body, message.end()) if message else ("", end)
    except (ValueError, RecursionError):
        text = ""
    complete = re.match(r"\s*(?:[,}]|\Z)", body[end:])  # else a quote in it ended it too soon
    return {key: value, "message": text if complete else ""}


def _cut(body: str) -> bool:
    """Whether an answer that isn't whole JSON ends inside its object, rather than being malformed.

    What closes the object is the last thing that a whole answer writes.
    """
    return body.startswith("{") and not body.endswith("}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise Unreadable("a key stands twice")
    return data


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, strict=False)
