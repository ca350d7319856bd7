"""The chat contract: messages in; text, token counts, finish reason, latency and attempts out.

A backend makes single attempts and raises :class:`CallError`; :func:`plenum.models.retry.call`
retries and returns an :class:`Answer`. Nothing here caches: two calls are two draws.
"""

from dataclasses import dataclass
from typing import Protocol

from plenum.records import Failure


@dataclass(frozen=True)
class Message:
    """One message of a chat; ``role`` is ``system``, ``user`` or ``assistant``."""

    role: str
    content: str


@dataclass(frozen=True)
class Chat:
    """A call to a model.

    Parameters
    ----------
    model
        The model's id, as LiteLLM writes it.
    messages
        The whole conversation, oldest message first.
    temperature, max_tokens
        Sampling.
    seed
        Names this call's own random stream: no two calls of a study share one.
    """

    model: str
    messages: tuple[Message, ...]
    temperature: float
    max_tokens: int
    seed: int


@dataclass(frozen=True)
class Reply:
    """What a model answered.

    ``finish`` is the provider's finish reason (``stop``, ``length``, ``content_filter``);
    ``cost`` is in US dollars, ``None`` where the price isn't known.
    """

    text: str
    tokens_in: int
    tokens_out: int
    finish: str = "stop"
    cost: float | None = 0.0


@dataclass(frozen=True)
class Attempt:
    """One try of a call: how it ended, how long it took (seconds), when it began (Unix time)."""

    outcome: str
    status: int | None
    latency_s: float
    started: float
    detail: str = ""


@dataclass(frozen=True)
class Answer:
    """How a call ended well: the reply, and every attempt that it took.

    The two are kept apart: a reply is what was said and goes to the journal, attempts are how it
    was obtained and go to the call log, so that equal deliberations have equal journals.
    """

    reply: Reply
    attempts: tuple[Attempt, ...]

    @property
    def latency_s(self) -> float:
        """Seconds spent waiting for the model, over all attempts, without the backoff."""
        return sum(attempt.latency_s for attempt in self.attempts)


class CallError(Exception):
    """A failed attempt.

    Parameters
    ----------
    failure
        The typed reason.
    detail
        What the provider said, in one line, free of secrets.
    status
        The HTTP status, where there was one.
    retry_after
        Seconds to wait, where the provider asked for it.
    """

    def __init__(
        self,
        failure: Failure,
        detail: str,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(detail)
        self.failure = failure
        self.detail = " ".join(detail.split())[:500]
        self.status = status
        self.retry_after = retry_after


class ChatModel(Protocol):
    """What a backend provides."""

    def check(self, models: tuple[str, ...]) -> None:
        """Refuse, before any call, what can't work: a missing key or library (``UserError``)."""

    async def attempt(self, chat: Chat, number: int) -> Reply:
        """Make one attempt, the ``number``-th of this call, counted from 1.

        Raises
        ------
        CallError
            The attempt failed.
        """

    async def close(self) -> None:
        """Release what the backend holds."""
