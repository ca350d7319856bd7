"""Reading of a logged run from its row: its end, its usage, its messages."""

import json
import re
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from functools import lru_cache
from typing import Any

from plenum.base.identity import digest
from plenum.base.reasoning import strip_reasoning
from plenum.base.secrets import redact
from plenum.base.text import flatten, replace_surrogates
from plenum.records.failures import Failure
from plenum_verdicts.cases.case import NO_DECISION, AuditCase
from plenum_verdicts.cases.cases import find_option
from plenum_verdicts.cases.decision import GivenDecision, UnreadableDecision, read_decision
from plenum_verdicts.readers.data_sets import Wrong

Entry = dict[str, Any]

SEAT = "program"
"""Seat of messages for which the log names none."""

_FAILED = "failed"
"""How verdicts call a run that failed, which no decision may be called."""

_MOST = 1e12
"""A number of tokens or a cost beyond which a sum of many may not be a number any more."""

_LONGEST = 100
"""Number of a decision's characters that are shown."""


def decision(row: Mapping[str, Any]) -> str:
    """Return the decision's text in one line; empty without one.

    A long text is cut, and a digest is added so that texts with the same beginning stay distinct.
    """
    return _shorten(_line(row))


@lru_cache(4096)
def _shorten(text: str) -> str:
    if text == _FAILED:  # a label that reads like a run that failed
        return f'"{text}"'
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... {digest(text)[:8]}"


def _line(row: Mapping[str, Any]) -> str:
    """Return the whole decision in one line."""
    text = row.get("decision")
    if text is None:
        return ""
    if isinstance(text, dict | list):  # equal objects may have their keys in another order
        text = json.dumps(text, sort_keys=True, ensure_ascii=False)
    return _answer(text if isinstance(text, str) else str(text))


@lru_cache(4096)
def _answer(text: str) -> str:
    return flatten(strip_reasoning(text))


@lru_cache(4096)
def fold(text: str) -> str:
    """Return a text in the form in which equal values are equal.

    These are composed and decomposed letters, a text and the same one in a code fence, 1000, 1e3
    and 1000.0, and JSON with other spaces or with its keys in another order.

    Examples
    --------
    >>> fold("1.0"), fold(".5"), fold('{"b": 2.0, "a": 1}'), fold("1.0.2")
    ('1', '0.5', '{"a": 1, "b": 2}', '1.0.2')
    """
    text = _FENCE.sub(r"\1", unicodedata.normalize("NFC", text))
    if _NUMBER.fullmatch(text):
        return f"{Decimal(text).normalize() + 0:f}"
    if text[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            held = json.loads(text, parse_float=lambda number: json.loads(fold(number)))
            return json.dumps(held, sort_keys=True, ensure_ascii=False)
    return text


_FENCE = re.compile(r"\A```\w*\s+((?:(?!```).)*?)\s*```\s*\Z", re.DOTALL)
_NUMBER = re.compile(r"-?(\d{1,15}\.?\d{0,10}|\.\d{1,10})(e[+-]?\d)?", re.IGNORECASE | re.ASCII)


def read_folded(row: Mapping[str, Any]) -> str:
    """Return the form of a decision in which equal values are equal, as short as a decision."""
    return _shorten(fold(_line(row)))


def list_messages(row: Mapping[str, Any]) -> list[tuple[int, str, str]]:
    """Return what was said in a run: round, seat, text.

    Raises
    ------
    Wrong
        The field ``messages`` is no list of objects.
    """
    messages = row.get("messages") or []
    if isinstance(messages, str):  # of a CSV
        try:
            messages = json.loads(messages)
        except (ValueError, RecursionError):
            messages = None
    if not isinstance(messages, list):
        raise Wrong("messages: no list")
    said = []
    for number, message in enumerate(messages, 1):
        if not isinstance(message, dict):
            raise Wrong(f"messages: number {number} is no object with seat, text, maybe round")
        text = message.get("text", message.get("content")) or ""
        seat = message.get("seat", message.get("name", message.get("role", SEAT)))
        text = replace_surrogates(text if isinstance(text, str) else json.dumps(text))
        said.append((_number(message, "round", int) or number, str(seat), text))
    return said


def read_usage(row: Mapping[str, Any]) -> tuple[int, int, float | None] | None:
    """Return a run's tokens in and out and its cost, as far as the log has them.

    Raises
    ------
    Wrong
        A field isn't a number.
    """
    used = [_number(row, name) for name in ("tokens_in", "tokens_out", "cost")]
    if all(value is None for value in used):
        return None
    return int(used[0] or 0), int(used[1] or 0), used[2]


def _number(row: Mapping[str, Any], name: str, kind: type = float) -> Any:
    """Return a number of at least 0, or ``None``."""
    value = row.get(name)
    if value is None or value == "":
        return None
    try:
        number = kind(value)
    except (TypeError, ValueError, OverflowError):
        number = -1
    if isinstance(value, bool) or not 0 <= number < _MOST:
        raise Wrong(f"{name}: {str(value)[:60]!r} is no number from 0 to {_MOST:g}")
    return number


def end(row: Mapping[str, Any], case: AuditCase, own: Mapping[str, str] | None = None) -> Entry:
    """Return how a run ended: its status, with a decision or a reason.

    Parameters
    ----------
    own
        The options in the order of this run, by whose labels its decision is read.
    """
    if error := row.get("error"):
        reason = str(error) if str(error) in Failure.__members__.values() else str(Failure.BUG)
        detail = flatten(str(error))[:500]
        return {"status": "failed", "reason": reason, "detail": detail}
    options, line = own or case.options, _line(row)
    label = line if line in options else None
    for text in () if label else (line, decision(row)):
        with suppress(Wrong):  # nothing that can be read
            label = label or find_option(text, options)
    if label is None:
        folded = [key for key, name in options.items() if fold(name) == fold(line)]
        label = folded[0] if len(folded) == 1 else None
    unread = {}
    if label is None and line not in ("", NO_DECISION):
        try:  # as what a program returns is read
            label = read_decision(GivenDecision(text=line), options)
        except UnreadableDecision as problem:
            unread = {"unread": redact(str(problem))}
    if own and label:  # the same name may have another label in this run
        label = find_option(own.get(label), case.options)
    return {"status": "completed", "decision": label or NO_DECISION, **unread}
