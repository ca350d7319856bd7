"""Upper bound of a deliberation's usage: the longest answers that its protocol allows."""

import json

from plenum.calls.chat import TOKENS_A_WORD
from plenum.calls.conversation import Ask
from plenum.committee.ballots import FORMS
from plenum.committee.condition import CommitteeCondition

_STATE_TOKENS, _JSON_TOKENS, _REASONED_TOKENS = 45, 25, 300
"""Tokens of a STATE line, of a short JSON object, and of a ballot with its reasons. A common
vocabulary takes 39 for a STATE line of five options, and 20 for a count."""


def longest_answer(condition: CommitteeCondition, ask: Ask) -> tuple[str, float]:
    """Make a valid answer of full length, and estimate its tokens."""
    labels, form = condition.scenario.labels, FORMS[condition.frame.answers]
    tokens = _JSON_TOKENS if form.closed else _REASONED_TOKENS
    if ask.kind == "ballot":
        return json.dumps({form.vote: labels[0], form.confidence: 50}), tokens
    if ask.kind == "clerk":
        seats = len(condition.asked)
        votes: dict[str, object] = {"majority_count": seats, "total": seats}
        if not form.closed:
            votes = {"vote": {labels[0]: seats}}
        return json.dumps({"decision": labels[0], **votes}), tokens
    words = condition.protocol.argument_words
    argument = "order " * words
    if ask.kind == "summary":
        return argument, words * TOKENS_A_WORD
    if condition.constrained:
        weights = dict.fromkeys(labels, 50)
        held = {"weights": weights, "confidence": 50, "tags": ["one", "two"]}
        turn = json.dumps({"argument": argument, "state": held})
        return turn, words * TOKENS_A_WORD + _STATE_TOKENS
    # Six decimals: their sum stays within the reader's tolerance, however many options there are.
    shares = ",".join(f"{1 / len(labels):.6f}" for _ in labels)
    state = f'STATE: pref=[{shares}]; conf=50; tags=["one","two"]'
    return f"{argument}\n{state}", words * TOKENS_A_WORD + _STATE_TOKENS
