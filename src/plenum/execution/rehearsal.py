"""A ballot and a clerk's count on trial, before anybody pays for the turns that lead to them.

A model that writes turns well may write no ballot that can be read, which shows only after the last
round. So a committee's model is asked for a ballot as soon as it has had its first word, and the
clerk's model for its count. These answers are in the call log and the budget, and in no journal.
"""

import dataclasses
from collections.abc import Callable, Sequence

from plenum.calls.call_errors import CallError
from plenum.calls.caller import Caller
from plenum.calls.chat import Reply
from plenum.calls.conversation import Ask, Entry, separate_reasoning
from plenum.committee.condition import CommitteeCondition
from plenum.committee.deliberation import Deliberation
from plenum.committee.failures import classify_failure
from plenum.design.condition import Condition
from plenum.records.journal import TRIAL

_QUOTED = 80
"""Characters of an answer that can't be read, in the line that says so. The number is plenum's own:
enough to see what was written in place of the object."""


class UnreadVote(Exception):
    """Raised if a ballot or a count can't be read after its repair either."""

    def __init__(self, voted: str, reason: str, problem: str, text: str) -> None:
        quoted = " ".join(text.split())[:_QUOTED]
        super().__init__(f"{voted}: {problem}; it wrote: {quoted!r}")
        self.reason = reason


async def rehearse_vote(
    condition: Condition,
    replicate: int,
    turn: Ask,
    replies: Sequence[Reply],
    caller: Caller,
    observe: Callable[[Entry], None],
) -> str:
    """Have a model vote after a turn of its own, and count as the clerk.

    Parameters
    ----------
    condition, replicate
        Which one the turn is of. Where its answers are held to their form, or nobody votes, nothing
        is asked.
    turn, replies
        The model's turn: what it was asked, and its answers, with that to a repair.
    caller, observe
        What makes the calls, and is called with each answer.

    Returns
    -------
    str
        What is to be said of a count that can't be read where the tally decides; else empty.

    Raises
    ------
    UnreadVote
        The ballot, or a count that decides, can't be read. Where a call fails, it shows nothing,
        and nothing is raised.
    """
    if not isinstance(condition, CommitteeCondition) or condition.constrained:
        return ""
    speaking = [seat for seat in condition.speaking_order if seat.name == turn.seat]
    # A committee of this seat alone, over after a round: other seeds than any of the replicate's.
    alone = dataclasses.replace(condition, rounds=1, seats=tuple(speaking))
    if alone.identity == condition.identity:  # it votes next, under the same seeds
        return ""
    deliberation = Deliberation(alone, replicate)
    for reply in replies:
        deliberation.answer(reply)
    # A clerk that also has a seat is tried after that seat's ballot.
    model, clerk = turn.chat.model, condition.clerk
    counts = clerk == model or clerk not in {seat.model for seat in condition.asked}
    asked: dict[str, tuple[str, Reply]] = {}
    while (ask := deliberation.ask) is not None and (counts or not ask.kind.startswith("clerk")):
        labels = {"replicate": replicate, "call": f"{TRIAL}{ask.kind}", "round": 1}
        labels["seat"] = ask.seat
        try:
            answer = await caller.ask(ask.chat, labels)
        except CallError:  # of the server; the model has shown nothing
            return ""
        reply = answer.response.reply
        if condition.reading == "lenient":
            reply = separate_reasoning(reply)
        entry = deliberation.answer(reply)
        read = classify_failure(reply, condition.reading) if "problem" in entry else "ok"
        caller.note_answer(ask.chat, labels, answer, read, journaled=False)
        observe({**entry, "kind": labels["call"]})
        asked[ask.kind.removesuffix("_repair")] = entry.get("problem", ""), reply
    for kind, (problem, reply) in asked.items():
        reason = classify_failure(reply, condition.reading)
        voted = f"{kind} of {model if kind == 'ballot' else clerk}"
        unread = UnreadVote(voted, reason, problem, reply.text)
        if problem and kind == "clerk" and condition.protocol.decision != "clerk":
            return f"model {clerk} counts so that nobody can read it ({unread}); the tally decides"
        if problem:
            raise unread
    return ""
