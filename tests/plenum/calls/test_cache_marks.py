"""What Anthropic is asked to keep, and what it says that it kept, over a real socket."""

import asyncio
import json
from typing import Any

import pytest
from openai_server import Server, serving

from plenum.calls.api.backend import ApiBackend
from plenum.calls.api.cache_marks import mark_messages
from plenum.calls.call_log import _read
from plenum.calls.chat import Chat, Message, Response

SONNET = "anthropic/claude-sonnet-4-6"
RULES, CASE, REST = "You chair. " * 200, "The case. " * 400, "It is your turn."
PROMPT = (Message("system", RULES), Message("user", CASE + REST, shared=len(CASE)))
ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-6",
    "content": [{"type": "text", "text": "I agree."}],
    "stop_reason": "end_turn",
    "usage": {
        **{"input_tokens": 10, "output_tokens": 5},
        **{"cache_read_input_tokens": 300, "cache_creation_input_tokens": 1200},
    },
}


def of(prompt: tuple[Message, ...], model: str = SONNET) -> Chat:
    return Chat(model, prompt, 0.0, 50, 7, session="abc-1")


def asked(prompt: tuple[Message, ...], monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Response]:
    """The request that arrives, and what is read of the answer."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-unused")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    async def call(server: Server) -> Response:
        server.script[:] = [{"raw": json.dumps(ANSWER)}]
        backend = ApiBackend({"anthropic": server.url.removesuffix("/v1")}, False)
        try:
            return await backend.attempt(of(prompt), 1)
        finally:
            await backend.close()

    with serving() as server:
        response = asyncio.run(call(server))
        return server.requests[0], response


@pytest.mark.slow
def test_the_block_where_the_shared_part_ends_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    request, response = asked(PROMPT, monkeypatch)
    assert {k.lower(): v for k, v in request["headers"].items()}["x-session-id"] == "abc-1"
    (user,) = request["body"]["messages"]
    marked, rest = user["content"]
    assert marked == {"type": "text", "text": CASE, "cache_control": {"type": "ephemeral"}}
    assert rest == {"type": "text", "text": REST}
    assert (response.cached, response.written) == (300, 1200)
    assert (response.reply.tokens_in, response.reply.tokens_out) == (1510, 5)
    dollars = 10 * 3e-6 + 300 * 0.3e-6 + 1200 * 3.75e-6 + 5 * 15e-6
    assert response.reply.cost == pytest.approx(dollars)


@pytest.mark.parametrize(
    ("prompt", "model"),
    [
        ((PROMPT[0], Message("user", CASE + REST)), SONNET),
        ((Message("system", "Short."), Message("user", "A case.", shared=6)), SONNET),
        (PROMPT, "anthropic/claude-haiku-4-5"),  # it keeps nothing below 4,096 tokens
    ],
    ids=["nothing returns", "too short", "too short for the model"],
)
def test_nothing_else_is_marked(prompt: tuple[Message, ...], model: str) -> None:
    plain = [{"role": message.role, "content": message.content} for message in prompt]
    assert mark_messages(of(prompt, model)) == plain


def test_a_repair_keeps_the_mark_of_what_it_repairs() -> None:
    more = (Message("assistant", "No."), Message("user", "Again, please."))
    sent = mark_messages(of((*PROMPT, *more)))
    assert sent[1]["content"][0]["cache_control"] == {"type": "ephemeral"}
    assert [each["content"] for each in sent[2:]] == ["No.", "Again, please."]


def test_a_line_with_odd_counts_is_read_without_them() -> None:
    line = {
        **{"replicate": 1, "model": "m", "id": "a-1", "outcome": "ok", "answered": True},
        **{"status": 200, "latency_s": 0.1, "call": "turn", "round": 1, "seat": "Chair"},
    }
    read = _read(json.dumps({**line, "cached": -1, "written": 7, "server": 3}).encode())
    assert read == {**line, "written": 7}
