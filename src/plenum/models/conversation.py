"""What every conversation shares: the call that is due, and the journal entry of its answer.

A deliberation and an episode are state machines with the same interface (:class:`Conversation`),
so that one loop conducts, journals and resumes both.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any, Protocol

from plenum.models import Chat, Message, Reply
from plenum.records import Failure

Entry = dict[str, Any]


@dataclass(frozen=True)
class Ask:
    """The call that a conversation waits for."""

    kind: str
    round: int
    seat: str
    chat: Chat


class Conversation(Protocol):
    """A replicate as a state machine.

    Attributes
    ----------
    ask
        The call that is due; ``None`` when it is over.
    end
        The last entry; ``None`` while it goes on.
    rounds
        Entries of rounds that are over, besides those of answers; a committee has none.
    """

    ask: Ask | None
    end: Entry | None
    rounds: list[Entry]

    def answer(self, reply: Reply) -> Entry:
        """Take the reply to :attr:`ask`, and return the journal entry it amounts to."""
        ...


def noted(ask: Ask, reply: Reply, **parsed: Any) -> Entry:
    """The entry of an answer, with what was read of it."""
    return {
        "kind": ask.kind,
        "round": ask.round,
        "seat": ask.seat,
        "model": ask.chat.model,
        **vars(reply),
        **{key: _plain(value) for key, value in parsed.items()},
    }


def failure(ask: Ask, reason: Failure, detail: str) -> Entry:
    """The last entry of a replicate that failed at ``ask``."""
    return {
        "kind": "end",
        "status": "failed",
        "reason": str(reason),
        "at": {"call": ask.kind, "round": ask.round, "seat": ask.seat},
        "detail": detail,
    }


def quoted(reply: Reply) -> Message:
    """What a repair quotes; providers refuse a message without text."""
    return Message("assistant", reply.text if reply.text.strip() else "(no answer)")


def recorded_reply(entry: Entry) -> Reply:
    """The reply that a journal entry was made from."""
    return Reply(**{f.name: entry[f.name] for f in dataclasses.fields(Reply)})


def _plain(value: Any) -> Any:
    """A parsed value as JSON gives it back: what is compared on resuming must be the same."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    return {k: list(v) if isinstance(v, tuple) else v for k, v in fields.items()}
