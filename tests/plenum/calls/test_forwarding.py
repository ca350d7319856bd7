"""Requests that a program wrote go to the provider as they are, with the real key."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from numpy.testing import assert_allclose

from plenum.base.errors import UserError
from plenum.calls.api import routes
from plenum.calls.api.backend import ApiBackend
from plenum.calls.api.prices import Prices
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Chat, Message, Response
from plenum.calls.raw_requests import RawRequest
from plenum.design.settings import Calls
from plenum.records.failures import Failure

pytestmark = pytest.mark.slow

KEY = "sk-canary-0123456789abcdef"
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
TOOLS = [{"type": "function", "function": {"name": "vote", "parameters": {"type": "object"}}}]
CALL = {"id": "call_1", "type": "function", "function": {"name": "vote", "arguments": "{}"}}

COMPLETION = {
    "id": "chatcmpl-9",
    "model": "gpt-4.1-mini-2025-04-14",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": None, "tool_calls": [CALL]},
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {"prompt_tokens": 10, "completion_tokens": 3},
}
RESPONSE = {
    "id": "resp_9",
    "status": "incomplete",
    "incomplete_details": {"reason": "max_output_tokens"},
    "output": [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "message", "content": [{"type": "output_text", "text": "B it"}]},
    ],
    "usage": {
        "input_tokens": 10,
        "output_tokens": 3,
        "input_tokens_details": {"cached_tokens": 4},
    },
}
MESSAGE = {
    "id": "msg_9",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "B"},
        {"type": "tool_use", "id": "toolu_1", "name": "vote", "input": {}},
    ],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 6, "cache_read_input_tokens": 4, "output_tokens": 3},
}
ANSWERS = {"/chat/completions": COMPLETION, "/responses": RESPONSE, "/messages": MESSAGE}


@asynccontextmanager
async def provider(seen: list[Any], status: int = 200, body: Any = None) -> AsyncIterator[str]:
    """A server that answers every interface, and keeps the requests."""

    async def answer(request: web.Request) -> web.Response:
        seen.append((request.path, dict(request.headers), await request.json()))
        path = request.path.removeprefix("/v1")
        return web.json_response(body or ANSWERS[path], status=status)

    app = web.Application()
    app.router.add_post("/v1/{path:.+}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    await runner.cleanup()


def forwarded(
    monkeypatch: pytest.MonkeyPatch, model: str, request: RawRequest, **more: Any
) -> tuple[Response, Any]:
    """What comes back, and what the provider saw."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)
    seen: list[Any] = []

    async def call() -> Response:
        async with provider(seen, **more) as url:
            bases: dict[str, str | None] = {"openai": url, "anthropic": url.removesuffix("/v1")}
            backend = ApiBackend(bases, True, Calls(), Prices())
            try:
                chat = Chat(model, (Message("user", "x"),), 1.0, 100, 7, request=request)
                return await backend.attempt(chat, 1)
            finally:
                await backend.close()

    return asyncio.run(call()), seen


def test_a_completion_goes_out_untouched_and_comes_back_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent = {
        "model": "gpt-4.1-mini",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}, IMAGE]}],
        "tools": TOOLS,
        "top_logprobs": 3,
        "x_of_its_own": [1, None],
    }
    response, seen = forwarded(monkeypatch, "openai/gpt-4.1-mini", RawRequest("chat", sent))
    ((path, headers, body),) = seen
    assert (path, body) == ("/v1/chat/completions", sent)  # no seed, no temperature of ours
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert response.body == COMPLETION
    assert (response.reply.text, response.reply.finish) == ("", "tool_calls")
    assert_allclose(response.reply.cost or 0, 10 * 0.4e-6 + 3 * 1.6e-6)


def test_a_response_is_read_with_what_was_cached_and_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    request = RawRequest("responses", {"input": "x"})
    response, seen = forwarded(monkeypatch, "openai/gpt-4.1-mini", request)
    assert seen[0][0] == "/v1/responses"
    assert seen[0][2] == {"input": "x", "model": "gpt-4.1-mini"}
    assert (response.reply.text, response.reply.finish) == ("B it", "length")
    assert_allclose(response.reply.cost or 0, 6 * 0.4e-6 + 4 * 0.1e-6 + 3 * 1.6e-6)


def test_a_message_goes_to_anthropic_with_its_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    request = RawRequest("messages", {"messages": []}, {"anthropic-beta": "tools-1"})
    response, seen = forwarded(monkeypatch, "anthropic/claude-sonnet-4-6", request)
    ((path, headers, body),) = seen
    assert (path, body["model"]) == ("/v1/messages", "claude-sonnet-4-6")
    assert headers["x-api-key"] == KEY
    assert headers["anthropic-beta"] == "tools-1"
    assert headers["anthropic-version"]
    assert response.body == MESSAGE
    assert (response.reply.text, response.reply.finish) == ("B", "tool_calls")
    assert (response.reply.tokens_in, response.reply.tokens_out) == (10, 3)


def test_what_anthropic_keeps_for_an_hour_costs_more_than_for_five_minutes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mark = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    request = RawRequest("messages", {"system": [mark], "messages": []})
    kept = {"ephemeral_5m_input_tokens": 200, "ephemeral_1h_input_tokens": 1000}
    usage = {"input_tokens": 6, "cache_creation_input_tokens": 1200, "output_tokens": 3}
    body = {**MESSAGE, "usage": {**usage, "cache_creation": kept}}
    response, _ = forwarded(monkeypatch, "anthropic/claude-sonnet-4-6", request, body=body)
    assert (response.reply.tokens_in, response.written) == (1206, 1200)
    dollars = 6 * 3e-6 + 200 * 3.75e-6 + 1000 * 6e-6 + 3 * 15e-6
    assert response.reply.cost == pytest.approx(dollars)
    assert request.cached_for_an_hour
    assert not RawRequest("messages", {"system": "for 1h"}).cached_for_an_hour


@pytest.mark.parametrize(
    ("interface", "body"),
    [
        ("responses", {"output": 7}),
        ("messages", {"content": [{"type": "text", "text": 7}], "usage": {}}),
        ("messages", {"content": [], "usage": []}),
    ],
)
def test_a_body_without_what_a_call_needs_is_a_failed_attempt(
    monkeypatch: pytest.MonkeyPatch, interface: str, body: Any
) -> None:
    with pytest.raises(CallError) as error:
        forwarded(monkeypatch, "openai/gpt-4.1-mini", RawRequest(interface, {}), body=body)
    assert error.value.failure == Failure.SERVER


def test_a_program_s_answer_without_counts_comes_back_and_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body = {"choices": [{"message": {"content": "x"}}]}
    request = RawRequest("chat", {})
    response, _ = forwarded(monkeypatch, "openai/gpt-4.1-mini", request, body=body)
    assert response.counted
    assert (response.reply.text, response.body) == ("x", body)


def test_a_refusal_of_anthropic_s_is_classed_by_its_status(monkeypatch: pytest.MonkeyPatch) -> None:
    body = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}
    request = RawRequest("messages", {})
    with pytest.raises(CallError) as error:
        forwarded(monkeypatch, "anthropic/claude-sonnet-4-6", request, status=429, body=body)
    assert (error.value.failure, error.value.detail) == (Failure.RATE_LIMIT, "slow down")


@pytest.mark.parametrize(
    ("model", "interface", "named"),
    [
        ("gpt-4.1-mini", "chat", "gpt-4.1-mini"),
        ("my-model", "responses", "openai/my-model"),
        ("Qwen/Qwen3-8B", "chat", "openai/Qwen/Qwen3-8B"),
        ("hosted_vllm/x", "chat", "hosted_vllm/x"),
        ("claude-of-tomorrow", "messages", "anthropic/claude-of-tomorrow"),
    ],
)
def test_a_model_that_names_no_provider_is_its_interface_s(
    model: str, interface: str, named: str
) -> None:
    assert routes.litellm_name(model, interface) == named


def test_a_provider_without_these_interfaces_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    with pytest.raises(UserError, match=r"backend\.api_base\.openai"):
        forwarded(monkeypatch, "gemini/gemini-2.5-flash", RawRequest("chat", json.loads("{}")))
