"""The base of all conversations: the call that is due, and the journal entry of its answer.

A deliberation and an episode are state machines with the same interface (:class:`Conversation`),
so that one loop conducts, journals and resumes both.
"""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from plenum.base.identity import derive_seed
from plenum.base.reasoning import split_reasoning
from plenum.base.text import replace_surrogates
from plenum.calls.chat import AnswerSchema, Chat, Message, Reply
from plenum.design.condition import Condition
from plenum.records.failures import Failure

Entry = dict[str, Any]
C = TypeVar("C", bound=Condition)
_RARE = ("reasoning", "reasoned", "answered_by", "host", "fingerprint", "day")
"""Fields that an entry has only where they hold something, since journals are older."""


@dataclass
class Ask:
    """The call that a conversation waits for."""

    kind: str
    round: int
    seat: str
    chat: Chat


class Misread(ValueError):
    """An answer that can't be read.

    The message says why; ``noted`` holds the part of it that is kept.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.noted: Entry = {}


class ConversationFailed(Exception):
    """Raised to end a replicate as failed."""

    def __init__(self, ask: Ask, reason: Failure, detail: str) -> None:
        super().__init__(detail)
        self.entry = make_failure_entry(ask, reason, detail)


class Conversation(ABC, Generic[C]):
    """A replicate that a generator plays: it yields each call and takes the reply.

    Parameters
    ----------
    condition, replicate
        What is played; they name the seeds of the calls.

    Attributes
    ----------
    ask
        The call that is due; ``None`` when it is over.
    end
        The last entry; ``None`` while it goes on.
    rounds
        Entries of rounds that are over, besides those of answers; a committee has none.
    """

    def __init__(self, condition: C, replicate: int) -> None:
        self.ask: Ask | None = None
        self.end: Entry | None = None
        self.rounds: list[Entry] = []
        self._condition, self._replicate = condition, replicate
        self._position = 0
        self._entry: Entry = {}
        self._script = self._play()
        self._go_on(None)

    @abstractmethod
    def _play(self) -> Generator[Ask, Reply, Entry]:
        """Play from the first call to the last entry; set ``_entry`` for each reply."""

    def answer(self, reply: Reply) -> Entry:
        """Take the reply to :attr:`ask`, and return its journal entry."""
        text = replace_surrogates(reply.text)
        self._go_on(reply if text == reply.text else dataclasses.replace(reply, text=text))
        return self._entry

    def ask_again(self, taken_back: int) -> None:
        """Give the call that is due, and all after it, other seeds: its last answers don't count.

        Parameters
        ----------
        taken_back
            How many of its answers are in the journal; of 0 nothing changes.
        """
        if taken_back and self.ask is not None:
            self._position += taken_back - 1
            chat = dataclasses.replace(self.ask.chat, seed=self._next_seed())
            self.ask = dataclasses.replace(self.ask, chat=chat)

    def _go_on(self, reply: Reply | None) -> None:
        try:
            self.ask = next(self._script) if reply is None else self._script.send(reply)
        except StopIteration as stop:
            self.ask, self.end = None, stop.value
        except ConversationFailed as failed:
            self.ask, self.end = None, failed.entry

    def _ask(
        self, ask: Ask, read: Callable[[str, bool], Entry], repair: Callable[[str], Message]
    ) -> Generator[Ask, Reply, Entry | None]:
        """Ask, with one repair at most, and return the parsed answer.

        Parameters
        ----------
        ask
            The call.
        read
            What its entry notes of the answer's text, which may be that of the repair; raises
            :class:`Misread`.
        repair
            The message that asks for another answer, by the problem.

        Returns
        -------
        dict or None
            With what was noted of an answer before the repair; ``None`` where :meth:`_unread`
            doesn't raise.
        """
        kept: Entry = {}
        for again in (False, True):
            reply = yield ask
            try:
                parsed = read(reply.text, again)
            except Misread as problem:
                self._note(ask, reply, **problem.noted, problem=str(problem))
                kept |= problem.noted
                why = str(problem)
            else:
                self._note(ask, reply, **parsed)
                return kept | parsed
            if not again:
                messages = (*ask.chat.messages, quote_reply(reply), repair(why))
                kind = f"{ask.kind}_repair"
                chat = ask.chat
                ask = self._call(kind, ask.round, ask.seat, chat.model, messages, chat.answer)
        self._unread(ask, reply, why)
        return None

    @abstractmethod
    def _unread(self, ask: Ask, reply: Reply, problem: str) -> None:
        """Handle a repair that can't be read either."""

    def _call(
        self,
        kind: str,
        number: int,
        seat: str,
        model: str,
        messages: tuple[Message, ...],
        answer: AnswerSchema | None = None,
    ) -> Ask:
        sampling, seed = self._condition.sampling, self._next_seed()
        chat = Chat(model, messages, sampling.temperature, sampling.max_tokens, seed, answer=answer)
        return Ask(kind, number, seat, chat)

    def _next_seed(self) -> int:
        self._position += 1
        return derive_seed(self._condition.identity, self._replicate, self._position - 1, "call")

    def _note(self, ask: Ask, reply: Reply, **parsed: Any) -> None:
        self._entry = answer_entry(ask, reply, **parsed)


def answer_entry(ask: Ask, reply: Reply, **parsed: Any) -> Entry:
    """Make the entry of an answer, with its parsed parts."""
    return {
        "kind": ask.kind,
        "round": ask.round,
        "seat": ask.seat,
        "model": ask.chat.model,
        **describe_reply(reply),
        **{key: _plain(value) for key, value in parsed.items()},
    }


def describe_reply(reply: Reply) -> Entry:
    """Return the fields of a reply that its journal entry has."""
    return {key: value for key, value in vars(reply).items() if value or key not in _RARE}


def make_failure_entry(ask: Ask, reason: Failure, detail: str) -> Entry:
    """Make the last entry of a replicate that failed at ``ask``."""
    return {
        "kind": "end",
        "status": "failed",
        "reason": str(reason),
        "at": {"call": ask.kind, "round": ask.round, "seat": ask.seat},
        "detail": detail,
    }


def quote_reply(reply: Reply) -> Message:
    """Quote a reply in a repair; providers refuse a message without text."""
    return Message("assistant", reply.text if reply.text.strip() else "(no answer)")


def rebuild_reply(entry: Entry) -> Reply:
    """Rebuild the reply that a journal entry was made from."""
    names = [field.name for field in dataclasses.fields(Reply)]
    return Reply(**{name: entry[name] for name in names if name in entry or name not in _RARE})


def separate_reasoning(reply: Reply) -> Reply:
    """Take a model's reasoning off its answer; where there is no other answer, it is the answer."""
    reasoning, text = split_reasoning(replace_surrogates(reply.text))
    given = replace_surrogates(reply.reasoning).strip()
    reasoning = "\n".join(filter(None, (given, reasoning)))
    if not text and reasoning and reply.finish == "stop":
        return dataclasses.replace(reply, text=reasoning, reasoning="", reasoned=True)
    return dataclasses.replace(reply, text=text, reasoning=reasoning)


def _plain(value: Any) -> Any:
    """Convert a parsed value to its JSON form, since resuming compares the two."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    return {k: list(v) if isinstance(v, tuple) else v for k, v in fields.items()}
