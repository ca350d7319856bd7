"""The longest prompts of a committee, and whether they fit the contexts of its models."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from plenum.base.errors import UserError
from plenum.calls.chat import Message
from plenum.calls.pace import TokenCounting
from plenum.committee.condition import CommitteeCondition
from plenum.committee.prompts import quote_remark, turn_prompt
from plenum.committee.state import make_even_state

_Count = Callable[[tuple[Message, ...]], int]

_WORD = "order "
"""A common word, which few tokens write: a bound that it breaks is broken by other words, too."""
_ARGUMENT = 0.8
"""The share of an answer's tokens that an argument can take: its state needs some, in any form. The
share is plenum's own: a STATE line takes some 40 tokens, a fifth of an answer of 200."""


def require_context(condition: CommitteeCondition, model: TokenCounting) -> None:
    """Refuse a window whose arguments, at full length, don't fit a model's context.

    Raises
    ------
    UserError
        A prompt that the protocol can make doesn't fit; the line names the window that does.
    """
    most, window = condition.sampling.max_tokens, condition.protocol.window
    for name in dict.fromkeys(seat.model for seat in condition.asked):
        count, context = partial(model.count, name), model.context(name)
        words = min(condition.protocol.argument_words, _longest(count, int(_ARGUMENT * most)))

        def length(k: int, name: str = name, words: int = words, count: _Count = count) -> int:
            return count(_fullest(condition, name, k, words))

        if length(window) + most <= context:
            continue
        # The largest smaller window that fits, to be named in the message.
        k = next((k for k in range(window - 1, 0, -1) if length(k) + most <= context), 0)
        raise UserError(
            f"protocol.window: {window}, but with arguments of {words} words a prompt has "
            f"{length(window)} tokens and its answer may have {most}, and model {name} has a "
            f"context of {context}; "
            + (f"protocol.window={k} fits" if k else "a smaller sampling.max_tokens makes room")
        )


def _longest(count: _Count, tokens: int) -> int:
    """Return the number of words that so many tokens write."""
    # The difference leaves out what the frame of a message takes.
    one, many = (count((Message("user", _WORD * number),)) for number in (1, 101))
    return max(1, int(tokens * 100 / max(many - one, 1)))


def _fullest(
    condition: CommitteeCondition, model: str, window: int, words: int
) -> tuple[Message, ...]:
    """Write the longest prompt of a model's seats in the last round, with a full window."""
    seats, rounds = condition.speaking_order, condition.rounds
    condition = replace(condition, protocol=replace(condition.protocol, window=window))
    # Alone, a seat has only its own turns before it; else those of all, less the one it makes.
    before = rounds - 1 if condition.protocol.alone else rounds * len(seats) - 1
    # A moderated window holds one summary, however long the discussion was.
    before = min(before, 1) if condition.moderated else before
    argument, form = (_WORD * words).strip(), condition.frame.remark
    remarks = [
        quote_remark(seats[number % len(seats)].label, argument, rounds, form)
        for number in range(min(window, before))
    ]
    table = {seat.name: make_even_state(len(condition.scenario.labels)) for seat in seats}
    prompts = (
        turn_prompt(condition.as_read_by(replicate), seat, remarks, table, rounds)
        for replicate in range(len(condition.variants) or 1)
        for seat in seats
        if seat.model == model
    )
    # By characters: only the longest one is then counted in tokens, which takes time.
    return max(prompts, key=lambda messages: sum(len(message.content) for message in messages))
