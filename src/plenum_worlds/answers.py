"""Parsing of agents' answers: a JSON object with an analysis, an action and a message.

If an answer is cut off, its complete parts, such as action and message, are kept.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from plenum.base.json_reply import refuse_repeats, strip_fence
from plenum.base.text import replace_surrogates, visible_text
from plenum.calls.conversation import Misread

Action = TypeVar("Action")

BREAKS_OFF = "it breaks off before its end; be brief"
"""Problem reported to an agent whose answer was cut off."""

_MOST_DIGITS = 4000
_MEMBER = re.compile(r'\s*"([^"\\]*)"\s*:\s*')


class UnreadableAnswer(Misread):
    """Raised if an answer has no readable action; the message says what is wrong with it.

    ``cut`` is true if the answer is the beginning of an object that it doesn't close.
    """

    def __init__(self, problem: str, *, cut: bool = False) -> None:
        super().__init__(replace_surrogates(problem))
        self.cut = cut


@dataclass(frozen=True)
class ParsedAnswer(Generic[Action]):
    """The parsed answer: an action, and a message to the others, which may be empty.

    ``given`` is the action as it was written; ``cut`` is true if the answer ends inside the object.
    """

    action: Action
    given: Any
    message: str
    cut: bool


def parse_agent_answer(text: str, key: str, read: Callable[[Any], Action]) -> ParsedAnswer[Action]:
    """Parse an answer.

    Parameters
    ----------
    text
        The answer: a JSON object, optionally in a fenced block or followed by words.
    key
        The action's key in the object.
    read
        Checks the action's value; raises :class:`ValueError` if it isn't allowed.

    Raises
    ------
    Unreadable
        There is no object, no action in it, or one that isn't allowed.
    """
    body = strip_fence(text, whole=False).strip()
    try:
        data, end = _DECODER.raw_decode(body)
    except UnreadableAnswer:
        raise
    except (ValueError, RecursionError):
        return _parse(_begun(body, key), key, read, cut=_cut(body))
    behind = body[end:]
    if not isinstance(data, dict):
        raise UnreadableAnswer("no JSON object" if behind else f'the object needs the key "{key}"')
    if f'"{key}"' in visible_text(behind):
        raise UnreadableAnswer("there is more than one object")
    return _parse(data, key, read, cut=False)


def _parse(
    data: dict[str, Any], key: str, read: Callable[[Any], Action], *, cut: bool
) -> ParsedAnswer[Action]:
    if key not in data:
        raise UnreadableAnswer(f'the object needs the key "{key}"', cut=cut)
    message = data.get("message", "")
    if not isinstance(message, str):
        message = ""
    try:
        action = read(data[key])
    except ValueError as problem:
        raise UnreadableAnswer(str(problem), cut=cut) from None
    return ParsedAnswer(action, data[key], replace_surrogates(message), cut)


def _begun(body: str, key: str) -> dict[str, Any]:
    """Return the complete members of an object that is cut off or has a syntax error."""
    cut = _cut(body)
    members: list[tuple[str, Any]] = []
    at = 1 if body.startswith("{") else len(body)
    while name := _MEMBER.match(body, at):
        try:
            value, end = _DECODER.raw_decode(body, name.end())
        except (ValueError, RecursionError):
            break
        # what follows shows what is whole: a number may be cut in its middle, and a bare quote
        # ends a text too soon
        rest = body[end:].lstrip()
        if rest[:1] in ((",", "}", "") if isinstance(value, str) else (",",)):
            members.append((name[1], value))
        if not rest.startswith(","):
            break
        at = len(body) - len(rest) + 1
    data = refuse_repeats(UnreadableAnswer)(members)
    if key not in data:
        raise UnreadableAnswer(BREAKS_OFF if cut else "no whole JSON object", cut=cut)
    if members[0][0] != key and visible_text(body).count(f'"{key}"') > 1:
        raise UnreadableAnswer(
            f'the key "{key}" stands twice', cut=cut
        )  # one may be quoted in a text
    return data


def _cut(body: str) -> bool:
    """Return whether an answer that isn't complete JSON is cut off, rather than malformed.

    A complete answer ends with the closing brace.
    """
    return body.startswith("{") and not body.endswith("}")


def _number(digits: str) -> int | float:
    """Convert a whole number; one with too many digits for Python becomes a float."""
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


_DECODER = json.JSONDecoder(
    object_pairs_hook=refuse_repeats(UnreadableAnswer), parse_int=_number, strict=False
)
