"""Conversion of a logged run to the entries of a journal."""

import json
from collections.abc import Iterator, Mapping
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
"""Seat of messages and tokens for which the log names none."""

_LONGEST = 100
"""Number of a decision's characters that are shown."""


def entries(row: Mapping[str, Any], case: AuditCase) -> Iterator[Entry]:
    """Yield a row's entries: messages, a call with its usage, and its end.

    Raises
    ------
    Wrong
        A field isn't in the form of :func:`plenum_audit.programs.logs.load`.
    """
    yield from _messages(row, case)
    if (used := call(row)) is not None:
        yield used
    yield end(row, case)


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


def _messages(row: Mapping[str, Any], case: AuditCase) -> Iterator[Entry]:
    messages = row.get("messages") or []
    if isinstance(messages, str):  # of a CSV
        try:
            messages = json.loads(messages)
        except (ValueError, RecursionError):
            messages = None
    if not isinstance(messages, list):
        raise Wrong("messages: no list")
    for number, message in enumerate(messages, 1):
        if not isinstance(message, dict):
            raise Wrong(f"messages: number {number} is no object with seat, text, maybe round")
        text = message.get("text", message.get("content")) or ""
        entry: Entry = {
            "kind": "say",
            "round": _number(message, "round", int) or number,
            "seat": str(message.get("seat", message.get("name", message.get("role", SEAT)))),
            "text": replace_surrogates(text if isinstance(text, str) else json.dumps(text)),
        }
        if (shares := message.get("preferences")) is not None:
            entry["preferences"] = _shares(shares, case)
        if (confidence := _number(message, "confidence")) is not None:
            entry["confidence"] = confidence
        yield entry


def _shares(shares: Any, case: AuditCase) -> dict[str, float]:
    """Return preferences by label, which add up to 1."""
    if isinstance(shares, list) and len(shares) == len(case.options):
        shares = dict(zip(case.options, shares, strict=True))
    valid = isinstance(shares, dict) and all(
        isinstance(share, int | float) and share >= 0 for share in shares.values()
    )
    total = sum(shares.values()) if valid else 0.0
    if not total or set(shares) - set(case.options):
        raise Wrong(f"preferences: {shares!r}; give a share to each of {', '.join(case.options)}")
    return {label: shares.get(label, 0) / total for label in case.options}


def call(row: Mapping[str, Any]) -> Entry | None:
    """Return the run's usage as a single call, since its requests are unknown.

    Raises
    ------
    Wrong
        A field isn't a number.
    """
    used = {name: _number(row, name) for name in ("tokens_in", "tokens_out", "cost")}
    if all(value is None for value in used.values()):
        return None
    return {
        "kind": "call",
        "round": 1,
        "seat": SEAT,
        "model": str(row.get("model") or "unknown"),
        "text": "",
        "tokens_in": int(used["tokens_in"] or 0),
        "tokens_out": int(used["tokens_out"] or 0),
        "finish": "stop",
        "cost": used["cost"],
    }


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
    """Return the run's last entry."""
    if error := row.get("error"):
        reason = str(error) if str(error) in Failure.__members__.values() else str(Failure.BUG)
        detail = flatten(str(error))[:500]
        return {"kind": "end", "status": "failed", "reason": reason, "detail": detail}
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
    return {"kind": "end", "status": "completed", "decision": label or NO_DECISION, **unread}
