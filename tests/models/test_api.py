"""The api backend against a real HTTP server that speaks the OpenAI chat protocol."""

import asyncio
import sys
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from openai_server import Server, serving

from plenum.errors import UserError
from plenum.models import CallError, Chat, Message, Reply
from plenum.models.api import ApiBackend
from plenum.records import Failure

MODELS = ("gpt-4.1", "anthropic/claude-sonnet-4-6", "gemini/gemini-2.5-flash", "xai/grok-3-mini")
KEY = "sk-canary-0123456789abcdef"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving() as running:
        yield running


def ask(
    server: Server, model: str = "gpt-4.1-mini", send_seed: bool = False, seed: int = 11
) -> Reply:
    backend = ApiBackend({"openai": server.url}, send_seed)
    messages = (Message("system", "You are the clerk."), Message("user", "The private ballots"))

    async def once() -> Reply:
        try:
            return await backend.attempt(Chat(model, messages, 0.0, 50, seed), 1)
        finally:
            await backend.close()

    return asyncio.run(once())


def scripted(server: Server, **choice: str) -> None:
    server.script.append({"choice": choice})


def test_text_tokens_finish_and_cost_come_back(server: Server) -> None:
    scripted(server, content="I agree.", finish="length")
    reply = ask(server)
    assert (reply.text, reply.finish) == ("I agree.", "length")
    assert (reply.tokens_in, reply.tokens_out) == (1000, 100)
    assert reply.cost == pytest.approx(1000 * 0.4e-6 + 100 * 1.6e-6)


def test_the_request_is_what_the_condition_says(server: Server) -> None:
    scripted(server, content="x")
    ask(server)
    body = server.requests[0]["body"]
    assert body["model"] == "gpt-4.1-mini"
    assert (body["temperature"], body["max_tokens"]) == (0.0, 50)
    assert [m["role"] for m in body["messages"]] == ["system", "user"]
    assert "seed" not in body
    assert server.requests[0]["headers"]["Authorization"] == f"Bearer {KEY}"


def test_each_call_sends_its_own_seed_where_it_is_asked_for(server: Server) -> None:
    for seed in (5, 6):
        scripted(server, content="x")
        ask(server, send_seed=True, seed=seed)
    assert [r["body"]["seed"] for r in server.requests] == [5, 6]


def test_a_model_without_a_price_has_no_cost(server: Server) -> None:
    scripted(server, content="x")
    assert ask(server, model="openai/my-own-model").cost is None


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (400, Failure.REQUEST),
        (401, Failure.AUTH),
        (403, Failure.AUTH),
        (404, Failure.REQUEST),
        (429, Failure.RATE_LIMIT),
        (500, Failure.SERVER),
        (502, Failure.SERVER),
        (503, Failure.SERVER),
    ],
)
def test_statuses_become_typed_failures_in_one_attempt(
    server: Server, status: int, failure: Failure
) -> None:
    server.script.append({"status": status})
    with pytest.raises(CallError) as caught:
        ask(server)
    assert (caught.value.failure, caught.value.status) == (failure, status)
    assert len(server.requests) == 1  # LiteLLM itself retries nothing


def test_retry_after_reaches_the_policy(server: Server) -> None:
    server.script.append({"status": 429, "headers": {"Retry-After": "7"}})
    with pytest.raises(CallError) as caught:
        ask(server)
    assert caught.value.retry_after == 7


def test_retry_after_may_be_a_date(server: Server) -> None:
    when = formatdate(time.time() + 90, usegmt=True)
    server.script.append({"status": 503, "headers": {"Retry-After": when}})
    with pytest.raises(CallError) as caught:
        ask(server)
    assert caught.value.retry_after == pytest.approx(90, abs=10)


@pytest.mark.parametrize("raw", ["{", "[]", '{"choices": []}', '{"choices": null}'])
def test_broken_bodies_are_server_failures(server: Server, raw: str) -> None:
    server.script.append({"raw": raw})
    with pytest.raises(CallError) as caught:
        ask(server)
    assert caught.value.failure is Failure.SERVER


def test_a_key_in_the_providers_message_is_blotted_out(server: Server) -> None:
    server.script.append({"status": 401, "message": f"Incorrect API key: {KEY}"})
    with pytest.raises(CallError) as caught:
        ask(server)
    assert KEY not in caught.value.detail
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("model", MODELS)
def test_a_missing_key_is_named(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("OPENAI", "ANTHROPIC", "GEMINI", "GOOGLE", "XAI")
    for name in names:
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
    with pytest.raises(UserError, match=r"set the environment variable .*_API_KEY") as caught:
        ApiBackend({}, False).check((model,))
    assert model in str(caught.value)


@pytest.mark.parametrize("model", MODELS)
def test_a_set_key_is_enough(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI", "ANTHROPIC", "GEMINI", "XAI"):
        monkeypatch.setenv(f"{name}_API_KEY", KEY)
    ApiBackend({}, False).check((model,))


def test_a_model_that_no_provider_serves_is_refused() -> None:
    with pytest.raises(UserError, match="write it as provider/model"):
        ApiBackend({}, False).check(("no-such-model",))


def test_the_import_needs_no_network() -> None:
    """In a process whose sockets can't connect, the import neither fails nor tries."""
    import subprocess

    code = (
        "import socket\n"
        "tried = []\n"
        "def refuse(self, address):\n"
        "    tried.append(address)\n"
        "    raise OSError('no network')\n"
        "socket.socket.connect = refuse\n"
        "import plenum.models.api\n"
        "assert not tried, tried\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
