"""A clerk model that reads a decision from a committee's text, twice to show its own error."""

import json
from contextlib import suppress
from functools import lru_cache
from typing import Any

from plenum.base import derive_seed, strip_reasoning
from plenum.models import AnswerSchema, Chat, Message, Reply, make_schema
from plenum_verdicts.cases import (
    NO_DECISION,
    AuditCase,
    GivenDecision,
    UnreadableDecision,
    last_json,
    read_decision,
)

CLERK_KIND = "clerk"
"""Kind of the journal's entries."""

OPENING = "A committee had to choose one of these options:"
READINGS = (1, 2)
_MAX_TOKENS = 50
_LONGEST_TEXT = 20_000


def ask_clerk(
    case: AuditCase, text: str, model: str, *names: str | int, held: bool = False
) -> Chat:
    """Return the clerk's question; ``names`` determine the seed of the call.

    If ``held``, the backend is asked for an object with the decision, and nothing else.
    """
    options = [f"{label}: {name}" for label, name in case.options.items()]
    prompt = "\n".join(
        [
            OPENING,
            *options,
            "",
            "It wrote this, as a JSON string:",
            json.dumps(strip_reasoning(text)[-_LONGEST_TEXT:]),
            "",
            "Which option did it decide for? Answer with the option's label alone, or with",
            f"{NO_DECISION} where it decided for none, or for more than one.",
        ]
    )
    messages, seed = (Message("user", prompt),), derive_seed(*names, CLERK_KIND)
    answer = choice_schema((*case.options, NO_DECISION)) if held else None
    return Chat(model, messages, 0.0, _MAX_TOKENS, seed, answer=answer)


@lru_cache(maxsize=256)
def choice_schema(labels: tuple[str, ...]) -> AnswerSchema:
    """Make the schema of an answer that is one of these labels."""
    decision = {"type": "string", "enum": list(labels)}
    return AnswerSchema("choice", make_schema(decision=decision))


def make_reading(case: AuditCase, number: int, model: str, reply: Reply) -> dict[str, Any]:
    """Return the journal's entry of a reading; an unreadable one has no decision."""
    try:
        given = GivenDecision(text=_read_choice(strip_reasoning(reply.text)))
        option = read_decision(given, {**case.options, NO_DECISION: NO_DECISION})
    except UnreadableDecision:
        option = NO_DECISION
    named = {"kind": CLERK_KIND, "round": number, "seat": CLERK_KIND, "model": model}
    return {**named, **vars(reply), "option": option}


def _read_choice(text: str) -> str:
    """Return the decision in the object that was asked for; the whole text if it is none."""
    with suppress(UnreadableDecision):
        match last_json(text):
            case {"decision": str(label), **others} if not others:
                return label
    return text
