"""Answers, good and corrupted, and their response bodies: pure functions of the question."""

import hashlib
import json
import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Protocol

from plenum.base import UserError
from plenum.design import Simulated
from plenum.models import SIMULATED, Chat, Reply, SimulatedBackend
from plenum_checks.fault_server.questions import ParsedRequest, UnreadableRequest

CREATED = 1_700_000_000
REFUSAL = "I'm sorry, but I can't help with that."
BROKEN_STATE = 'STATE: pref=[0.5;0.5]; conf=high; tags=["one"]'
ARGUMENT = (
    "I would settle on option A, with some reservations. It keeps the burden where it can be "
    "carried and the gains where they are needed. The best rival asks too much for what it gives, "
    "and its cost falls in the wrong place. Should the numbers shift, I would look at it again. "
    "I ask the committee to decide on that basis."
)
_NOT_READ = (
    "the simulated backend can't read this prompt: it answers the prompts of plenum's committees "
    "only; docs/fault-server.md says more"
)


class Answers(Protocol):
    """A source of good answers."""

    async def __call__(self, chat: Chat) -> Reply:
        """Answer a chat; raise :class:`UnreadableRequest` if that isn't possible."""


class SimulatedAnswers:
    """A source of answers by the simulated backend."""

    def __init__(self) -> None:
        self._backend = SimulatedBackend(Simulated())

    async def __call__(self, chat: Chat) -> Reply:
        """Return the simulated agent's answer."""
        try:
            return (await self._backend.attempt(chat, 1)).reply
        except (UserError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise UnreadableRequest(_NOT_READ) from None


class CannedAnswers:
    """A source of fixed valid answers, for load tests limited by the client."""

    def __init__(self) -> None:
        self._simulated = SimulatedAnswers()

    async def __call__(self, chat: Chat) -> Reply:
        """Return one argument for every turn and one vote for every ballot."""
        prompt = chat.messages[1].content if len(chat.messages) > 1 else ""
        task = prompt.rpartition("\n## ")[2]
        if task.startswith("Your turn") and chat.answer is not None:
            text = _turn(chat.answer.schema)
        elif task.startswith("Your turn"):
            options = task.partition("pref=[")[2].partition("]")[0].count(",") + 1
            state = _state_line(options)
            text = state if len(chat.messages) > 2 else f"{ARGUMENT}\n{state}"
        elif task.startswith("Private ballot"):
            label = task.partition('"decision": "')[2][:1]
            text = json.dumps({"decision": label, "confidence": 50})
        else:
            return await self._simulated(chat)
        return Reply(text, len(prompt) // 4, len(text) // 4)


@lru_cache(maxsize=32)
def _state_line(options: int) -> str:
    numbers = ",".join(f"{value / 1000:.3f}" for value in _shares(options, 1000))
    return f'STATE: pref=[{numbers}]; conf=60; tags=["cost_control","public_trust"]'


def _shares(options: int, whole: int) -> list[int]:
    share = whole // 2 // max(options - 1, 1)
    return [whole - share * (options - 1), *[share] * (options - 1)]


def _turn(schema: Mapping[str, Any]) -> str:
    labels = schema["properties"]["state"]["properties"]["weights"]["properties"]
    weights = dict(zip(labels, _shares(len(labels), 100), strict=True))
    state = {"weights": weights, "confidence": 60, "tags": ["cost_control", "public_trust"]}
    return json.dumps({"argument": ARGUMENT, "state": state})


def spoilt(reply: Reply, fault: str | None) -> Reply:
    """Apply an answer fault to an answer: cut off, malformed, empty or refused."""
    if fault is None:
        return reply
    if fault == "length":
        text = reply.text[: len(reply.text) // 2]
    elif fault == "malformed":
        text = _malform(reply.text)
    else:
        text = REFUSAL if fault == "refusal" else ""
    tokens = math.ceil(len(text.split()) * 4 / 3)
    return Reply(text, reply.tokens_in, tokens, "length" if fault == "length" else "stop")


def _malform(text: str) -> str:
    argument, state, _ = text.rpartition("STATE:")
    return argument + BROKEN_STATE if state else text.replace("}", "").replace(":", " is", 1)


def completion(question: ParsedRequest, reply: Reply | None) -> bytes:
    """Return a body in the interface of the request; without a reply its choices are empty."""
    tokens_in, tokens_out = (reply.tokens_in, reply.tokens_out) if reply else (0, 0)
    if question.native:
        message = {"role": "assistant", "content": reply.text if reply else ""}
        native = {
            "model": question.chat.model,
            "created_at": "2023-11-14T22:13:20Z",
            "message": message,
            "done": True,
            "done_reason": reply.finish if reply else "stop",
            "prompt_eval_count": tokens_in,
            "eval_count": tokens_out,
        }
        return json.dumps(native).encode()
    body = {
        "id": f"chatcmpl-{question.key}",
        "object": "chat.completion",
        "created": CREATED,
        "model": question.chat.model,
        "choices": [_choice(question, reply)] if reply else [],
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        },
        "system_fingerprint": SIMULATED,
    }
    return json.dumps(body).encode()


def _choice(question: ParsedRequest, reply: Reply) -> dict[str, Any]:
    wanted = question.logprobs
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": None}
    if question.tool:
        function = {"name": question.tool, "arguments": reply.text}
        call = {"id": f"toolu_{question.key}", "type": "function", "function": function}
        message |= {"content": None, "tool_calls": [call]}
    return {
        "index": 0,
        "message": message,
        "logprobs": {"content": _logprobs(reply.text), "refusal": None} if wanted else None,
        "finish_reason": reply.finish,
    }


def _logprobs(text: str) -> list[dict[str, Any]]:
    """Return one entry per word; its numbers come from the text's digest and mean nothing."""
    tokens = text.split()
    data = hashlib.shake_128(text.encode()).digest(2 * len(tokens))
    return [
        {
            "token": token,
            "logprob": -int.from_bytes(data[2 * n : 2 * n + 2], "big") / 2**14,
            "bytes": None,
            "top_logprobs": [],
        }
        for n, token in enumerate(tokens)
    ]
