"""Answers, good and corrupted, and their response bodies: pure functions of the question."""

import hashlib
import json
import math
from collections.abc import Awaitable, Callable
from typing import Any

from plenum.base.errors import UserError
from plenum.calls.chat import Chat, Reply
from plenum.calls.simulated.backend import SimulatedBackend
from plenum.design.settings import Simulated
from plenum.records.transcript import SIMULATED
from support.fault_server.questions import ParsedRequest, UnreadableRequest

Answers = Callable[[Chat], Awaitable[Reply]]
"""A source of good answers; it raises :class:`UnreadableRequest` where it has none."""

BROKEN_STATE = 'STATE: pref=[0.5;0.5]; conf=high; tags=["one"]'
CANNED = 'I would settle on option A.\nSTATE: pref=[0.500,0.250,0.250]; conf=60; tags=["cost"]'
_NOT_READ = (
    "the simulated backend can't read this prompt: it answers the prompts of plenum's committees "
    "only"
)


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


async def answer_canned(chat: Chat) -> Reply:
    """Return a fixed turn of three options, whatever the prompt."""
    tokens = sum(len(message.content) for message in chat.messages[1:]) // 4
    text = CANNED
    if chat.answer is not None:  # in the form of a constrained turn
        labels = chat.answer.schema["properties"]["state"]["properties"]["weights"]["properties"]
        weights = {label: 100 // len(labels) for label in labels}
        state = {"weights": weights, "confidence": 60, "tags": ["cost", "trust"]}
        text = json.dumps({"argument": CANNED.partition("\n")[0], "state": state})
    return Reply(text, tokens, len(text) // 4)


def spoil(reply: Reply, fault: str | None) -> Reply:
    """Apply an answer fault to an answer: it is cut off in the middle, or malformed."""
    if fault is None:
        return reply
    text = reply.text[: len(reply.text) // 2] if fault == "length" else _malform(reply.text)
    tokens = math.ceil(len(text.split()) * 4 / 3)
    return Reply(text, reply.tokens_in, tokens, "length" if fault == "length" else "stop")


def _malform(text: str) -> str:
    argument, state, _ = text.rpartition("STATE:")
    return argument + BROKEN_STATE if state else text.replace("}", "").replace(":", " is", 1)


def write_completion(question: ParsedRequest, reply: Reply | None) -> bytes:
    """Return a body in the interface of the request; without a reply its choices are empty."""
    tokens_in, tokens_out = (reply.tokens_in, reply.tokens_out) if reply else (0, 0)
    if question.native:
        native = {
            "model": question.chat.model,
            "created_at": "2023-11-14T22:13:20Z",
            "message": {"role": "assistant", "content": reply.text if reply else ""},
            "done": True,
            "done_reason": reply.finish if reply else "stop",
            "prompt_eval_count": tokens_in,
            "eval_count": tokens_out,
        }
        return json.dumps(native).encode()
    body = {
        "id": f"chatcmpl-{question.key}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": question.chat.model,
        "choices": [_write_choice(question, reply)] if reply else [],
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        },
        "system_fingerprint": SIMULATED,
    }
    return json.dumps(body).encode()


def _write_choice(question: ParsedRequest, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": None}
    if question.tool:
        function = {"name": question.tool, "arguments": reply.text}
        call = {"id": f"toolu_{question.key}", "type": "function", "function": function}
        message |= {"content": None, "tool_calls": [call]}
    logprobs = {"content": _make_logprobs(reply.text), "refusal": None}
    return {
        "index": 0,
        "message": message,
        "logprobs": logprobs if question.logprobs else None,
        "finish_reason": reply.finish,
    }


def _make_logprobs(text: str) -> list[dict[str, Any]]:
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
