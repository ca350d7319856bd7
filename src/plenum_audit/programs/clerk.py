"""A clerk model that reads a decision from a committee's text, twice to show its own error."""

import json
from typing import Any

from plenum.base import seed_for
from plenum.models import Chat, Message, Reply
from plenum_audit.programs.case import NO_DECISION, AuditCase
from plenum_audit.programs.decision import Given, UnreadableDecision, read_decision

CLERK_KIND = "clerk"
"""Kind of the journal's entries."""

OPENING = "A committee had to choose one of these options:"
READINGS = (1, 2)
_MAX_TOKENS = 50
_LONGEST_TEXT = 20_000


def ask_clerk(case: AuditCase, text: str, model: str, *names: str | int) -> Chat:
    """Return the clerk's question; ``names`` determine the seed of the call."""
    options = [f"{label}: {name}" for label, name in case.options.items()]
    prompt = "\n".join(
        [
            OPENING,
            *options,
            "",
            "It wrote this, as a JSON string:",
            json.dumps(text[-_LONGEST_TEXT:]),
            "",
            "Which option did it decide for? Answer with the option's label alone, or with",
            f"{NO_DECISION} where it decided for none, or for more than one.",
        ]
    )
    return Chat(model, (Message("user", prompt),), 0.0, _MAX_TOKENS, seed_for(*names, CLERK_KIND))


def make_reading(case: AuditCase, number: int, model: str, reply: Reply) -> dict[str, Any]:
    """Return the journal's entry of a reading; an unreadable one has no decision."""
    try:
        option = read_decision(Given(text=reply.text), {**case.options, NO_DECISION: NO_DECISION})
    except UnreadableDecision:
        option = NO_DECISION
    named = {"kind": CLERK_KIND, "round": number, "seat": CLERK_KIND, "model": model}
    return {**named, **vars(reply), "option": option}
