"""The replay of a conversation from its journal, to resume it or to rebuild its prompts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plenum.calls.conversation import Ask, Conversation, Entry, rebuild_reply
from plenum.design.condition import Condition
from plenum.design.kinds import KINDS
from plenum.records.journal import NO_ANSWERS, drop_revoked
from plenum.records.transcript import Transcript
from plenum.tracking.traces import TracedCall


class ReadDifferently(Exception):
    """Raised if a recorded answer is read, or a round played, differently than before.

    Attributes
    ----------
    where
        ``call 3`` or ``round 2``, counted from 1.
    """

    def __init__(self, where: str) -> None:
        super().__init__(f"{where}: this version of the code reads the journal differently")
        self.where = where


@dataclass(frozen=True)
class ReplayedCall:
    """A call of a replicate: the request, and the journal's entry of the answer.

    Attributes
    ----------
    entry
        ``None`` for the call at which a replicate failed or waits.
    """

    ask: Ask
    entry: Entry | None


def open_conversation(condition: Condition, index: int) -> Conversation[Any]:
    """Make the state machine of a replicate."""
    return KINDS[condition.kind].converse(condition, index)


def replay_answers(
    conversation: Conversation[Any], entries: Sequence[Entry]
) -> Iterator[ReplayedCall]:
    """Answer a conversation from a journal's entries, call by call.

    Parameters
    ----------
    conversation
        One that nothing has been answered in; it stands after the last entry at the end.
    entries
        All entries of the journal after its head; answers that were taken back are passed over,
        and what is asked in their place has seeds of its own.

    Raises
    ------
    ReadDifferently
        An answer amounts to another entry than the recorded one, or a round to another round.
    """
    number = 0
    for entry in drop_revoked(entries):
        # Before the entry counts: what is asked in its place has other seeds.
        conversation.ask_again(entry.get("again", 0))
        if entry["kind"] in NO_ANSWERS:
            continue
        number += 1
        ask = conversation.ask
        # "inherited" was added to the copy: the conversation itself doesn't know of it.
        recorded = {key: value for key, value in entry.items() if key != "inherited"}
        if ask is None or conversation.answer(rebuild_reply(entry)) != recorded:
            raise ReadDifferently(f"call {number}")
        yield ReplayedCall(ask, entry)
    rounds = [entry for entry in entries if entry["kind"] == "round"]
    # Not strict: a kill may have come before the last round was written.
    for number, (entry, played) in enumerate(zip(rounds, conversation.rounds, strict=False), 1):
        if entry != played:
            raise ReadDifferently(f"round {number}")
    if len(rounds) > len(conversation.rounds):
        raise ReadDifferently(f"round {len(conversation.rounds) + 1}")


def replay_calls(condition: Condition, transcript: Transcript) -> Iterator[ReplayedCall]:
    """Yield the calls of a replicate, with their prompts; last the one that is due, if any.

    Raises
    ------
    ReadDifferently
        The journal was written by another version of the code, or of the prompts.
    """
    conversation = open_conversation(condition, transcript.head["replicate"])
    yield from replay_answers(conversation, transcript.entries)
    if conversation.ask is not None:
        yield ReplayedCall(conversation.ask, None)


def convert_messages(ask: Ask) -> list[dict[str, str]]:
    """Convert a prompt to the form that is sent: ``role`` and ``content`` of each message."""
    return [{"role": m.role, "content": m.content} for m in ask.chat.messages]


def trace_calls(condition: Condition, transcript: Transcript) -> list[TracedCall]:
    """List the calls of a replicate in the form of its trace.

    Raises
    ------
    ReadDifferently
        As :func:`replay_calls`.
    """
    return [
        TracedCall(
            kind=call.ask.kind,
            round=call.ask.round,
            seat=call.ask.seat,
            model=call.ask.chat.model,
            messages=tuple(convert_messages(call.ask)),
            id=f"{call.ask.chat.seed:016x}",
            entry=call.entry,
        )
        for call in replay_calls(condition, transcript)
        # Of a failed replicate also the call that it failed at; of a pending one the last call is
        # only due.
        if call.entry is not None or transcript.status == "failed"
    ]
