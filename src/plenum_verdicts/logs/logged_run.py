"""Reading of a logged run from its row: its end, its usage, its messages."""

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from plenum.base import digest, flatten, redact, replace_surrogates, strip_reasoning
from plenum.records import Failure
from plenum_verdicts.cases import (
    NO_DECISION,
    AuditCase,
    GivenDecision,
    UnreadableDecision,
    find_option,
    read_decision,
)
from plenum_verdicts.readers import Wrong

Entry = dict[str, Any]

SEAT = "program"
"""Seat of messages for which the log names none."""

_LONGEST = 100
"""Number of a decision's characters that are shown."""


def decision(row: Mapping[str, Any]) -> str:
    """Return the decision's text in one line; empty without one.

    A long text is cut, and a digest is added so that texts with the same beginning stay distinct.
    """
    return _shorten(_line(row))


@lru_cache(4096)
def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... {digest(text)[:8]}"


def _line(row: Mapping[str, Any]) -> str:
    """Return the whole decision in one line."""
    text = row.get("decision")
    return "" if text is None else _flat(strip_reasoning(str(text)))


_flat = lru_cache(4096)(flatten)


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
    if isinstance(value, bool) or not 0 <= number < float("inf"):
        raise Wrong(f"{name}: {str(value)[:60]!r} is no number of at least 0")
    return number


def end(row: Mapping[str, Any], case: AuditCase) -> Entry:
    """Return how a run ended: its status, with a decision or a reason."""
    if error := row.get("error"):
        reason = str(error) if str(error) in Failure.__members__.values() else str(Failure.BUG)
        detail = flatten(str(error))[:500]
        return {"status": "failed", "reason": reason, "detail": detail}
    label = None
    for text in (_line(row), decision(row)):
        with suppress(Wrong):  # nothing that can be read
            label = label or find_option(text, case.options)
    unread = {}
    if label is None and _line(row) not in ("", NO_DECISION):
        try:  # as what a program returns is read
            label = read_decision(GivenDecision(text=_line(row)), case.options)
        except UnreadableDecision as problem:
            unread = {"unread": redact(str(problem))}
    return {"status": "completed", "decision": label or NO_DECISION, **unread}
