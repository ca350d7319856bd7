"""Validation of a program's reports on itself: messages, votes, its decision.

Secrets are removed from the recorded parts, as from its output.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from plenum.base.secrets import redact
from plenum.base.text import flatten, replace_surrogates
from plenum_verdicts.cases.decision import rule_problem

_LONGEST_TEXT = 10**6
_LONGEST_SEAT = 80
_MOST_ROUNDS = 10**6


class RefusedReport(ValueError):
    """Raised for an invalid report; the message names the field, the value and what is allowed."""


def as_message(sent: Mapping[str, Any], options: Mapping[str, str]) -> dict[str, Any]:
    """Return the journal entry of a message.

    Raises
    ------
    RefusedReport
        A field is invalid.
    """
    entry: dict[str, Any] = {
        "kind": "say",
        "round": _round(sent.get("round")),
        "seat": _seat(sent),
        "text": redact(_text(sent, "text")),
    }
    if sent.get("preferences") is not None:
        entry["preferences"] = _shares(sent["preferences"], options)
    if sent.get("confidence") is not None:
        entry["confidence"] = _number(sent["confidence"], "confidence", 100)
    return entry


def as_vote(sent: Mapping[str, Any], options: Mapping[str, str]) -> dict[str, Any]:
    """Return the journal entry of a vote; raises :class:`RefusedReport`."""
    option = sent.get("option")
    if not isinstance(option, str) or option not in options:
        raise RefusedReport(f"option of a vote: {_show(option)}; it is one of {', '.join(options)}")
    return {
        "kind": "vote",
        "round": _round(sent.get("round")),
        "seat": _seat(sent),
        "option": option,
    }


def as_decision(sent: Any, options: Mapping[str, str]) -> dict[str, Any]:
    """Return the given fields among ``option``, ``text``, ``extract`` and ``confidence``.

    Their values are kept as they were sent, to be read later; raises :class:`RefusedReport`.
    """
    given = {"text": sent} if isinstance(sent, str) or sent is None else sent
    if not isinstance(given, Mapping):
        raise RefusedReport(f"decision: {_show(sent)}; it is a text, or has option or text")
    option = given.get("option")
    if option is not None and (not isinstance(option, str) or option not in options):
        raise RefusedReport(
            f"option decided: {_show(option)} is no label of the case; the labels are "
            f"{', '.join(options)}: send one, as Decision({json.dumps(next(iter(options)))}), or a "
            'text to read one from, as Decision(text="...", extract="name")'
        )
    named = {name: given.get(name) for name in ("text", "extract")}
    read: dict[str, Any] = {
        name: _text(named, name) for name, value in named.items() if value is not None
    }
    if problem := rule_problem(read.get("extract", "")):
        raise RefusedReport(f"extract: {problem}")
    if given.get("confidence") is not None:
        read["confidence"] = _number(given["confidence"], "confidence of the decision", 100)
    return read if option is None else {"option": option, **read}


def _round(value: Any) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not 0 <= value <= _MOST_ROUNDS:
        raise RefusedReport(f"round: {_show(value)}; it is a whole number from 0 to {_MOST_ROUNDS}")
    return value


def _seat(sent: Mapping[str, Any]) -> str:
    value = sent.get("seat")
    seat = flatten(value) if isinstance(value, str) else ""
    if not seat or len(seat) > _LONGEST_SEAT:
        raise RefusedReport(
            f"seat: {_show(value)}; it is a name of 1 to {_LONGEST_SEAT} characters"
        )
    return redact(seat)


def _text(sent: Mapping[str, Any], name: str) -> str:
    value = sent.get(name)
    if not isinstance(value, str):
        raise RefusedReport(f"{name}: {_show(value)}; it is a text")
    if len(value) > _LONGEST_TEXT:
        raise RefusedReport(f"{name}: {len(value)} characters; it has {_LONGEST_TEXT} at most")
    return replace_surrogates(value)


def _shares(value: Any, options: Mapping[str, str]) -> dict[str, float]:
    """Return preferences on the simplex; a missing option has 0."""
    if not isinstance(value, Mapping) or not set(value) <= set(options):
        raise RefusedReport(f"preferences: {_show(value)}; they are shares of {', '.join(options)}")
    shares = {label: _number(value.get(label, 0), f"preferences.{label}", 1) for label in options}
    if abs(sum(shares.values()) - 1) > 0.01:
        raise RefusedReport(f"preferences: they add up to {sum(shares.values()):g}, not to 1")
    return shares


def _number(value: Any, name: str, most: float) -> float:
    number = type(value) in (int, float) and math.isfinite(value)
    if not number or not 0 <= value <= most:
        raise RefusedReport(f"{name}: {_show(value)}; it is a number from 0 to {most:g}")
    return float(value)


def _show(value: Any) -> str:
    return flatten(repr(value))[:60]
