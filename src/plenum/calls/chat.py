"""The chat contract: messages in; text, token counts, finish reason, latency and attempts out.

A backend makes single attempts and raises :class:`~plenum.calls.call_errors.CallError`;
:func:`plenum.calls.retry.call_with_retries` retries, asks for admission for each attempt, and
returns an :class:`Answer`. Nothing here caches: two calls are two draws.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from plenum.calls.raw_requests import RawRequest, ToolCall
    from plenum.design.settings import Sampling

TOKENS_A_WORD = 4 / 3
"""Tokens a word of English prose, for estimates."""

WHOLE = {"type": "integer", "minimum": 0, "maximum": 100}
"""The schema of a whole number from 0 to 100."""


@dataclass(unsafe_hash=True)
class Message:
    """One message of a chat; ``role`` is ``system``, ``user`` or ``assistant``.

    The first ``shared`` characters of the content return, with all messages before, in other
    calls: a backend may keep what it computed for them.
    """

    role: str
    content: str
    shared: int = field(default=0, compare=False)


@dataclass(frozen=True)
class AnswerSchema:
    """The JSON object that an answer has to be, which a backend enforces where it can.

    Attributes
    ----------
    name
        What is asked for, such as ``turn``, ``ballot`` or ``count``.
    schema
        Its JSON schema, in the part of the standard that OpenAI's strict mode takes: all properties
        are required, and no others are allowed.
    """

    name: str
    schema: Mapping[str, Any] = field(hash=False)


@dataclass(unsafe_hash=True)
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
    logprobs
        Ask for the log-probabilities of the answer's tokens, where the provider has them.
    request
        What code under audit sent, of which the other fields are a plain reading; ``None``
        for plenum's own calls.
    session
        Whose call it is, ``CONDITION-REPLICATE``: reruns have one seed, and several sessions.
    server
        Which server of a fleet is to answer; empty where there is none to choose.
    answer
        The form that the answer is held to; ``None`` where it is free.
    """

    model: str
    messages: tuple[Message, ...]
    temperature: float
    max_tokens: int
    seed: int
    logprobs: bool = False
    request: "RawRequest | None" = field(default=None, hash=False)
    # Not compared: they say whose call it is and how it is answered, and not what is asked.
    session: str = field(default="", compare=False)
    server: str = field(default="", compare=False)
    answer: AnswerSchema | None = field(default=None, compare=False)


@dataclass(unsafe_hash=True)
class Reply:
    """The answer of a model.

    ``finish`` is the provider's finish reason (``stop``, ``length``, ``content_filter``); ``cost``
    is in US dollars, ``None`` if the price isn't known. ``reasoning`` is what the model wrote
    before it answered; ``reasoned`` is true if it wrote nothing else, so that the text is its
    reasoning. ``answered_by`` and ``host`` are the model that answered and, behind a router, who
    ran it, and ``fingerprint`` the system's, each as the provider says it, or empty. ``day`` is the
    date in UTC on which a provider answered.
    """

    text: str
    tokens_in: int
    tokens_out: int
    finish: str = "stop"
    cost: float | None = 0.0
    reasoning: str = ""
    reasoned: bool = False
    answered_by: str = ""
    host: str = ""
    fingerprint: str = ""
    day: str = ""


@dataclass
class Response:
    """An attempt that ended well: the reply, and what came with it.

    The two are kept apart: a reply is what was said and goes to the journal, so that equal
    deliberations have equal journals; the rest says how it was obtained.

    Parameters
    ----------
    hold_s
        Seconds for which the provider's rate-limit headers leave no room for another call.
    fingerprint
        The provider's system fingerprint, where it sends one.
    logprobs
        Tokens with their natural log-probabilities, where :attr:`Chat.logprobs` asked for them.
    dropped
        Names of what the provider sent with the answer and what doesn't fit its type or bounds.
    body
        The provider's whole answer to a :class:`RawRequest`, in its interface.
    tools
        Tools that a simulated agent calls.
    server
        Which of several servers answered, where that is known; else empty.
    cached, written
        Tokens of the prompt that the provider had in its cache, and that it has kept there since.
    counted
        True if the provider said no numbers of tokens, so that they were counted here.
    """

    reply: Reply
    hold_s: float = 0.0
    fingerprint: str | None = None
    logprobs: tuple[tuple[str, float], ...] = ()
    dropped: tuple[str, ...] = ()
    body: Mapping[str, Any] | None = None
    tools: "tuple[ToolCall, ...]" = ()
    server: str = ""
    cached: int = 0
    written: int = 0
    counted: bool = False


@dataclass
class Attempt:
    """One try of a call: its outcome, duration (seconds) and begin (Unix time).

    ``outcome`` is ``ok`` or a :class:`~plenum.records.failures.Failure`; ``number`` counts from 1;
    ``reached`` is false if nothing can have reached the provider; ``server`` is the one of a fleet
    that it ended at.
    """

    number: int
    outcome: str
    status: int | None
    latency_s: float
    started: float
    detail: str = ""
    reached: bool = True
    server: str = ""


@dataclass
class Answer:
    """A call that ended well: the response, and the attempt that brought it."""

    response: Response
    attempt: Attempt


class ChatModel(Protocol):
    """The contract of a backend."""

    def check(self, models: tuple[str, ...], sampling: "Sampling") -> None:
        """Refuse, before any call, a setup that can't work; raise ``UserError``."""

    def provider(self, model: str) -> str:
        """Name the provider of a model; calls to one provider share their limits."""

    def server(self, chat: Chat) -> str:
        """Choose the server of a fleet for the next attempt; empty without a fleet."""

    async def attempt(self, chat: Chat, number: int) -> Response:
        """Make one attempt, the ``number``-th of this call, counted from 1.

        Raises
        ------
        CallError
            The attempt failed.
        """

    async def close(self) -> None:
        """Release connections and other resources."""

    def environment(self, models: tuple[str, ...], constrained: bool = False) -> Mapping[str, str]:
        """Describe the environment that these models' answers depend on; empty if unknown.

        ``constrained`` adds what answers that are held to a schema depend on besides.
        """


def make_schema(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """Make the JSON schema of an object that has exactly these properties, in this order."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
