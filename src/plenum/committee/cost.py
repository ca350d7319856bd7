"""Upper bound of a deliberation's usage: the longest answers that its protocol allows."""

import json

from plenum.committee.condition import CommitteeCondition
from plenum.models.chat import TOKENS_A_WORD
from plenum.models.conversation import Ask

_STATE_TOKENS, _JSON_TOKENS = 45, 25


def longest_run(condition: CommitteeCondition) -> CommitteeCondition:
    """The condition itself: no deliberation ends early."""
    return condition


def longest_answer(condition: CommitteeCondition, ask: Ask) -> tuple[str, float]:
    """A valid answer of full length, and its tokens."""
    labels = condition.scenario.labels
    if ask.kind == "ballot":
        return json.dumps({"decision": labels[0], "confidence": 50}), _JSON_TOKENS
    if ask.kind == "clerk":
        seats = len(condition.seats)
        count = {"decision": labels[0], "majority_count": seats, "total": seats}
        return json.dumps(count), _JSON_TOKENS
    words = condition.protocol.argument_words
    shares = ",".join(f"{1 / len(labels):.6f}" for _ in labels)
    state = f'STATE: pref=[{shares}]; conf=50; tags=["one","two"]'
    return f"{'order ' * words}\n{state}", words * TOKENS_A_WORD + _STATE_TOKENS
