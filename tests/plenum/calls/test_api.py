"""The api backend against a real HTTP server that speaks the OpenAI chat protocol.

Both transports have to tell the same story: what is asked below without a transport of its own is
asked of both.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Awaitable
from typing import Any, TypeVar

import pytest
from command_line import KEY
from openai_server import Server, completion

from plenum.base.errors import UserError
from plenum.calls.api.backend import ApiBackend
from plenum.calls.api.completions import ReportedError, read_completion
from plenum.calls.api.faults import classify_reported
from plenum.calls.api.interfaces import INTERFACES
from plenum.calls.api.prices import Prices
from plenum.calls.api.routes import Route
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Chat, Message, Response
from plenum.design.settings import Calls, Sampling, StatedPrice
from plenum.records.failures import Failure

pytestmark = pytest.mark.slow

MODELS = ("gpt-4.1", "anthropic/claude-sonnet-4-6", "gemini/gemini-2.5-flash", "xai/grok-3-mini")
MINI = (0.4e-6, 1.6e-6, 0.1e-6)  # of gpt-4.1-mini: input, output, cached input
PLAIN = Sampling(0.7, 50)

Result = TypeVar("Result")


def chat(model: str = "gpt-4.1-mini", seed: int = 11, **more: Any) -> Chat:
    messages = (Message("system", "You are the clerk."), Message("user", "The private ballots"))
    return Chat(model, messages, 0.0, 50, seed, **more)


def ask(
    server: Server,
    transport: str,
    step: dict[str, Any] | None = None,
    *,
    provider: str = "openai",
    send_seed: bool = False,
    prices: Prices | None = None,
    number: int = 1,
    base: str | None = None,
    idle_s: float = 10.0,
    **more: Any,
) -> Response:
    """One attempt; ``step`` is what the server does with it."""
    server.script[:] = [step] if step else []
    calls = Calls(transport=transport, idle_timeout_s=idle_s)
    backend = ApiBackend({provider: base or server.url}, send_seed, calls, prices)
    return closing(backend, backend.attempt(chat(**more), number))


def closing(backend: ApiBackend, calls: Awaitable[Result]) -> Result:
    """What calls come to; the backend is closed then."""

    async def run() -> Result:
        try:
            return await calls
        finally:
            await backend.close()

    return asyncio.run(run())


def refused(server: Server, transport: str, step: dict[str, Any], **more: Any) -> CallError:
    """The error of an attempt that fails."""
    with pytest.raises(CallError) as caught:
        ask(server, transport, step, **more)
    return caught.value


def says(content: str | None = "I agree.", headers: Any = None, **choice: Any) -> dict[str, Any]:
    """The server answers with this."""
    return {"choice": {"content": content, **choice}, "headers": headers}


# --- what is sent ------------------------------------------------------------------------------


def test_the_request_is_what_the_condition_says(server: Server, transport: str) -> None:
    ask(server, transport, says())
    (request,) = server.requests
    assert request["path"] == "/v1/chat/completions"
    assert request["headers"]["Authorization"] == f"Bearer {KEY}"
    assert request["body"] == {
        "model": "gpt-4.1-mini",
        "messages": [
            {"role": "system", "content": "You are the clerk."},
            {"role": "user", "content": "The private ballots"},
        ],
        "temperature": 0.0,
        "max_tokens": 50,
    }


def test_a_replicates_calls_name_it_to_every_router(server: Server, transport: str) -> None:
    ask(server, transport, says(), session="3fa85f6457174562-12")
    sent = {name.lower(): value for name, value in server.requests[0]["headers"].items()}
    names = ("x-session-id", "x-litellm-session-id", "x-smg-routing-key")
    assert {sent[name] for name in names} == {"3fa85f6457174562-12"}


def test_the_server_that_a_router_names_is_kept(server: Server, transport: str) -> None:
    routed = ask(server, transport, says(headers={"x-litellm-model-id": "gpu-3"}))
    assert routed.server == "gpu-3"
    assert ask(server, transport, says()).server == ""


def test_each_call_sends_its_own_seed_that_fits_into_what_a_provider_takes(
    server: Server, transport: str
) -> None:
    for seed in (5, 6, 2**63 + 5):
        ask(server, transport, says(), send_seed=True, seed=seed)
    sent = [request["body"]["seed"] for request in server.requests]
    assert sent[:2] == [5, 6]
    assert 0 <= sent[2] < 2**31


def test_log_probabilities_are_asked_for_and_come_back(server: Server, transport: str) -> None:
    answer = completion("gpt-4.1-mini", "So be it")
    tokens = [("So", -0.25), (" be it", -1.5)]
    answer["choices"][0]["logprobs"] = {
        "content": [
            {"token": token, "logprob": value, "bytes": None, "top_logprobs": []}
            for token, value in tokens
        ],
        "refusal": None,
    }
    response = ask(server, transport, {"raw": json.dumps(answer)}, logprobs=True)
    assert server.requests[0]["body"]["logprobs"] is True
    assert list(response.logprobs) == tokens
    assert ask(server, transport, says()).logprobs == ()


def test_a_reasoning_models_answer_is_bounded_under_its_own_name(
    server: Server, transport: str
) -> None:
    server.script[:] = [says()]
    backend = ApiBackend({"openai": server.url}, False, Calls(transport=transport))
    closing(backend, backend.attempt(Chat("o3-mini", chat().messages, 1.0, 50, 11), 1))
    body = server.requests[0]["body"]
    assert body["max_completion_tokens"] == 50
    assert "max_tokens" not in body


def test_the_lean_path_names_attempts_organisation_and_project(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORGANIZATION", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT", "proj-1")
    for seed, number in [(5, 1), (5, 2), (6, 1)]:
        ask(server, "lean", says(), seed=seed, number=number)
    headers = [request["headers"] for request in server.requests]
    ids = [each["X-Client-Request-Id"] for each in headers]
    assert ids == ["0000000000000005-1", "0000000000000005-2", "0000000000000006-1"]
    assert headers[0].items() >= {("OpenAI-Organization", "org-1"), ("OpenAI-Project", "proj-1")}


@pytest.mark.parametrize("base", ["", "/", "/v1", "/v1/"])
def test_ollama_is_reached_on_its_openai_compatible_side(
    server: Server, transport: str, base: str
) -> None:
    root = server.url.removesuffix("/v1")
    said = ask(
        server, transport, says(), provider="ollama", base=f"{root}{base}", model="ollama/llama3"
    )
    (request,) = server.requests
    assert request["path"] == "/v1/chat/completions"
    assert request["body"]["model"] == "llama3"
    assert KEY not in str(request["headers"])  # another provider's key stays here
    assert (said.reply.text, said.reply.cost) == ("I agree.", 0.0)


@pytest.mark.parametrize("key", [None, ""])
def test_openai_at_a_loopback_address_needs_no_key(
    server: Server, transport: str, monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    if key is not None:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    ApiBackend({"openai": server.url}, False).check(("openai/my-model",), PLAIN)
    said = ask(server, transport, says(), model="openai/my-model")
    assert server.requests[0]["body"]["model"] == "my-model"
    assert said.reply.text == "I agree."


@pytest.mark.parametrize(
    "url", [None, "http://10.0.0.1/v1", "http://127.evil.example/v1", "http://localhost.example/v1"]
)
def test_openai_elsewhere_needs_a_key(monkeypatch: pytest.MonkeyPatch, url: str | None) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UserError, match="OPENAI_API_KEY"):
        ApiBackend({"openai": url} if url else {}, False).check(("openai/my-model",), PLAIN)


def test_connections_are_kept_and_used_again(server: Server) -> None:
    server.script[:] = [says() for _ in range(50)]
    backend = ApiBackend({"openai": server.url}, False, Calls())

    async def in_turn() -> None:
        for number in range(50):
            await backend.attempt(chat(seed=number), 1)

    closing(backend, in_turn())
    assert len(server.requests) == 50
    assert len({request["port"] for request in server.requests}) == 1


def test_the_pool_opens_no_more_connections_than_calls_are_allowed(server: Server) -> None:
    server.script[:] = [{**says(), "wait": 0.02} for _ in range(30)]
    backend = ApiBackend({"openai": server.url}, False, Calls(max_concurrency=4))

    async def together() -> None:
        await asyncio.gather(*(backend.attempt(chat(seed=n), 1) for n in range(30)))

    closing(backend, together())
    assert len({request["port"] for request in server.requests}) == 4


def test_the_lean_path_is_used_where_it_can_be(server: Server) -> None:
    ask(server, "lean", says())
    ask(server, "litellm", says())
    lean, other = (request["headers"]["User-Agent"] for request in server.requests)
    assert lean == "plenum"
    assert other != "plenum"


# --- what comes back ---------------------------------------------------------------------------


def test_text_tokens_finish_and_cost_come_back(server: Server, transport: str) -> None:
    response = ask(server, transport, says("I agree.", finish="length"))
    reply = response.reply
    assert response.fingerprint == "fp_1"
    assert (reply.text, reply.finish) == ("I agree.", "length")
    assert (reply.tokens_in, reply.tokens_out) == (1000, 100)
    assert reply.cost == pytest.approx(1000 * MINI[0] + 100 * MINI[1])
    cached = ask(server, transport, says("I agree.", cached=800)).reply.cost
    assert cached == pytest.approx(200 * MINI[0] + 800 * MINI[2] + 100 * MINI[1])
    stated = Prices({"gpt-4.1-mini": StatedPrice(2.0, 3.0)})
    assert ask(server, transport, says(), prices=stated).reply.cost == pytest.approx(2.3e-3)


@pytest.mark.parametrize(
    ("step", "text", "finish"),
    [
        *((says("", finish=finish), "", finish) for finish in ("stop", "length", "content_filter")),
        (says(None), "", "stop"),
        (says(None, refusal="I can't take part."), "I can't take part.", "refusal"),
    ],
    ids=["stop", "length", "content_filter", "no text", "refusal in a field of its own"],
)
def test_why_an_answer_without_text_ended_comes_back(
    server: Server, transport: str, step: dict[str, Any], text: str, finish: str
) -> None:
    reply = ask(server, transport, step).reply
    assert (reply.text, reply.finish) == (text, finish)


@pytest.mark.parametrize("content_type", ["text/html", "text/plain", "application/octet-stream"])
def test_a_completion_under_a_wrong_content_type_is_read_all_the_same(
    server: Server, transport: str, content_type: str
) -> None:
    raw = json.dumps(completion("gpt-4.1-mini", "I agree."))
    step = {"raw": raw, "content_type": content_type}
    assert ask(server, transport, step).reply.text == "I agree."


# --- failures ----------------------------------------------------------------------------------

STATUSES = {
    **dict.fromkeys((400, 404, 409, 413, 422), Failure.REQUEST),
    **dict.fromkeys((401, 403), Failure.AUTH),
    **dict.fromkeys((408, 504), Failure.TIMEOUT),
    429: Failure.RATE_LIMIT,
    **dict.fromkeys((500, 502, 503, 529), Failure.SERVER),
}
CODES = (
    (400, "content_filter", Failure.CONTENT_FILTER),
    (400, "content_policy_violation", Failure.CONTENT_FILTER),
    (429, "insufficient_quota", Failure.BUDGET),
    (429, "billing_hard_limit_reached", Failure.BUDGET),
    (429, "rate_limit_exceeded", Failure.RATE_LIMIT),
    (400, "context_length_exceeded", Failure.REQUEST),
    (401, "invalid_api_key", Failure.AUTH),
)
NO_CHOICES = {**completion("gpt-4.1-mini", ""), "choices": []}
PAGE = "<html>Bad gateway</html>"


@pytest.mark.parametrize(
    ("step", "failure"),
    [
        *(({"status": status}, failure) for status, failure in STATUSES.items()),
        # the code of an error is more exact than its status
        *(({"status": status, "code": code}, failure) for status, code, failure in CODES),
        *(({"raw": raw}, Failure.SERVER) for raw in ("", "{", "[]", "{}", "null", "7")),
        *(({"raw": f'{{"choices": {c}}}'}, Failure.SERVER) for c in ("null", '[{"index": 0}]')),
        ({"raw": json.dumps(completion("m", "I agree."))[:90]}, Failure.SERVER),
        *(({"raw": PAGE, "content_type": f"{t}"}, Failure.SERVER) for t in ("text/html", "x/json")),
        ({"raw": json.dumps(NO_CHOICES)}, Failure.EMPTY),
        ({"raw": json.dumps({**NO_CHOICES, "usage": None})}, Failure.EMPTY),
        ({"reset": 1}, Failure.SERVER),
        ({"reset": 1, "sent": '{"choices": ['}, Failure.SERVER),
    ],
    ids=str,
)
def test_what_fails_is_a_typed_failure_in_one_attempt(
    server: Server, transport: str, step: dict[str, Any], failure: Failure
) -> None:
    error = refused(server, transport, step)
    assert error.failure is failure
    if "status" in step:
        assert error.status == step["status"]
        assert "scripted" in error.detail
    assert len(server.requests) == 1  # neither LiteLLM nor its client retries anything


def test_what_only_the_lean_path_can_tell(server: Server) -> None:
    """LiteLLM words an error under status 200 as a 400; redirects it follows by itself."""
    error = refused(server, "lean", {"raw": '{"error": {"message": "overloaded"}}'})
    assert (error.failure, error.status) == (Failure.SERVER, 502)
    elsewhere = {"status": 307, "headers": {"Location": server.url + "/elsewhere"}}
    assert refused(server, "lean", elsewhere).failure is Failure.REQUEST
    assert len(server.requests) == 2


USAGE = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}


@pytest.mark.parametrize(
    "usage",
    [None, {}, {"prompt_tokens": 9}, {"completion_tokens": 3}, {**USAGE, "prompt_tokens": -9}],
    ids=str,
)
def test_missing_tokens_are_counted_and_not_booked_as_nothing(
    server: Server, transport: str, usage: dict[str, Any] | None
) -> None:
    """LiteLLM makes up 0 for what a provider doesn't say."""
    sent = {**completion("m", "I agree."), "usage": usage}
    response = ask(server, transport, {"raw": json.dumps(sent)})
    assert response.counted
    said = (usage or {}).get("prompt_tokens", 0)
    assert response.reply.tokens_in == said if said > 0 else response.reply.tokens_in > 0
    assert 0 < response.reply.tokens_out <= 4
    if usage is None:
        del sent["usage"]
        assert ask(server, transport, {"raw": json.dumps(sent)}).counted


def test_an_answer_without_text_may_have_no_tokens(server: Server, transport: str) -> None:
    sent = {**completion("m", ""), "usage": {**USAGE, "completion_tokens": 0}}
    response = ask(server, transport, {"raw": json.dumps(sent)})
    reply = response.reply
    assert (reply.text, reply.tokens_in, reply.tokens_out) == ("", 9, 0)
    assert not response.counted


def test_a_server_that_is_not_there_is_a_server_failure_that_bills_nobody(
    server: Server, transport: str
) -> None:
    error = refused(server, transport, {}, base="http://127.0.0.1:9/v1")
    assert (error.failure, error.reached) == (Failure.SERVER, False)


def test_a_connection_that_falls_silent_is_a_timeout(server: Server) -> None:
    started = time.monotonic()
    error = refused(server, "lean", {**says(), "wait": 30}, idle_s=0.5)
    assert error.failure is Failure.TIMEOUT
    assert "silent" in error.detail
    assert 0.5 <= time.monotonic() - started < 29  # the server waits for 30


def test_an_attempt_after_a_cut_connection_succeeds(server: Server) -> None:
    """The pool must not hand the broken connection out again."""
    server.script[:] = [says(), {"reset": 1}, says("Once more.")]
    backend = ApiBackend({"openai": server.url}, False, Calls())

    async def thrice() -> Response:
        await backend.attempt(chat(), 1)
        with pytest.raises(CallError):
            await backend.attempt(chat(), 2)
        return await backend.attempt(chat(), 3)

    assert closing(backend, thrice()).reply.text == "Once more."


# --- rate limits -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (429, {"Retry-After": "7"}, 7),
        (503, {"Retry-After": "7"}, 7),
        (429, {"Retry-After-Ms": "1500", "Retry-After": "2"}, 1.5),
        (429, {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s"}, 360),
    ],
    ids=["seconds", "overloaded", "milliseconds", "the limit's reset"],
)
def test_what_a_refusal_asks_for_reaches_the_policy(
    server: Server, transport: str, status: int, headers: dict[str, str], seconds: float
) -> None:
    step = {"status": status, "headers": headers}
    assert refused(server, transport, step).retry_after == seconds


@pytest.mark.parametrize(("left", "hold_s"), [("0", 0.12), ("3", 0)])
def test_an_answer_that_used_up_the_limit_asks_for_a_pause(
    server: Server, transport: str, left: str, hold_s: float
) -> None:
    headers = {"x-ratelimit-remaining-requests": left, "x-ratelimit-reset-requests": "120ms"}
    assert ask(server, transport, says(headers=headers)).hold_s == pytest.approx(hold_s)


# --- keys --------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_a_key_in_the_providers_message_is_blotted_out(
    server: Server, transport: str, status: int
) -> None:
    error = refused(server, transport, {"status": status, "message": f"Incorrect key: {KEY}"})
    assert KEY not in error.detail
    assert KEY not in str(error)
    assert "<OPENAI_API_KEY>" in error.detail


@pytest.mark.parametrize("model", MODELS)
def test_a_missing_key_is_named_and_a_set_one_is_enough(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{name}_API_KEY" for name in ("OPENAI", "ANTHROPIC", "GEMINI", "GOOGLE", "XAI")]
    for name in names:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UserError, match=r"set the environment variable .*_API_KEY") as caught:
        ApiBackend({}, False).check((model,), PLAIN)
    assert model in str(caught.value)
    for name in names:
        monkeypatch.setenv(name, KEY)
    ApiBackend({}, False).check((model,), PLAIN)
    assert KEY not in repr(Route("gpt-4.1", "openai", "gpt-4.1", None, KEY))


@pytest.mark.parametrize("broken", ["sk-1234\r\nX-Evil: 1", "sk-12\n34", "sk-12 34", "sk-äöü"])
@pytest.mark.parametrize("model", ["gpt-4.1", "anthropic/claude-sonnet-4-6", "xai/grok-3-mini"])
def test_a_key_that_would_break_a_header_is_refused_without_being_shown(
    model: str, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI", "ANTHROPIC", "XAI"):
        monkeypatch.setenv(f"{name}_API_KEY", broken)
    with pytest.raises(UserError, match="_API_KEY holds a character that no key has") as caught:
        ApiBackend({}, False).check((model,), PLAIN)
    assert broken not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_space_around_a_key_does_no_harm(
    server: Server, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    ask(server, transport, says())
    assert server.requests[0]["headers"]["Authorization"] == f"Bearer {KEY}"


# --- what is refused before any call -----------------------------------------------------------


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", KEY)


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("model", ["o1", "o3-mini", "o4-mini", "gpt-5", "openai/gpt-5-mini"])
def test_a_model_that_takes_no_temperature_of_ours_is_refused_in_one_line(model: str) -> None:
    with pytest.raises(UserError, match=rf"^model {model}: .*temperature") as caught:
        ApiBackend({}, False).check((model,), Sampling(0.0, 50))
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith("; set sampling.temperature=1")
    ApiBackend({}, False).check((model,), Sampling(1.0, 50))


@pytest.mark.usefixtures("keys")
def test_a_seed_for_a_provider_that_takes_none_is_refused() -> None:
    model = "anthropic/claude-sonnet-4-6"
    with pytest.raises(UserError, match=rf"^model {model}: .*seed") as caught:
        ApiBackend({}, True).check((model,), PLAIN)
    assert "\n" not in str(caught.value)
    ApiBackend({}, True).check(("gpt-4.1",), PLAIN)


@pytest.mark.usefixtures("keys")
def test_models_and_providers_that_nobody_knows_are_refused() -> None:
    backend = ApiBackend({}, False)
    found = [backend.provider(model) for model in ("gpt-4.1", "anthropic/claude-sonnet-4-6")]
    assert found == ["openai", "anthropic"]
    with pytest.raises(UserError, match="write it as provider/model"):
        backend.check(("no-such-model",), PLAIN)
    with pytest.raises(UserError, match=r"calls\.rpm\.opnai"):
        ApiBackend({}, False, Calls(rpm={"opnai": 5})).check(("gpt-4.1-mini",), PLAIN)
    both = Calls(rpm={"openai": 5, "openai/gpt-4o": 2})
    ApiBackend({}, False, both).check(("gpt-4.1-mini",), PLAIN)


@pytest.mark.parametrize("provider", ["hosted_vllm", "lm_studio", "llamafile", "openai_like"])
def test_a_server_of_ones_own_without_a_url_is_refused(provider: str) -> None:
    """LiteLLM would send the prompts to OpenAI."""
    with pytest.raises(UserError, match=rf"set backend\.api_base\.{provider}|{provider.upper()}"):
        ApiBackend({}, False).check((f"{provider}/my-model",), PLAIN)


def test_the_import_needs_no_network() -> None:
    """In a process whose sockets can't connect, the import neither fails nor tries."""
    code = (
        "import socket\n"
        "tried = []\n"
        "def refuse(self, address):\n"
        "    tried.append(address)\n"
        "    raise OSError('no network')\n"
        "socket.socket.connect = refuse\n"
        "import plenum.calls.api.backend\n"
        "assert not tried, tried\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("prefix", ["hosted_vllm", "vllm", "openai_like", "lm_studio", "llamafile"])
def test_every_server_of_ones_own_is_reached_by_both_transports_without_a_key(
    server: Server, transport: str, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    reply = ask(server, transport, says(), provider=prefix, model=f"{prefix}/my/model").reply
    assert (reply.text, reply.cost) == ("I agree.", None)
    (request,) = server.requests
    assert (request["path"], request["body"]["model"]) == ("/v1/chat/completions", "my/model")


def test_a_proxy_gets_its_login(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = server.url.removesuffix("/v1").replace("http://", "http://user:secret-pass@")
    monkeypatch.setenv("http_proxy", proxy)
    monkeypatch.delenv("no_proxy", raising=False)
    ask(server, "lean", says(), base="http://provider.invalid/v1")
    (request,) = server.requests
    assert request["headers"]["Proxy-Authorization"].startswith("Basic ")


@pytest.mark.parametrize(("thought", "kept"), [("Let me see.", "Let me see."), ({"a": 1}, "")])
def test_a_message_says_who_answered_and_what_was_thought_before(thought: Any, kept: str) -> None:
    blocks = [{"type": "thinking", "thinking": thought}, {"type": "text", "text": "Yes."}]
    usage = {"input_tokens": 3, "output_tokens": 4}
    body = {"model": "m-2026", "content": blocks, "usage": usage, "stop_reason": "end_turn"}
    read = read_completion(
        INTERFACES["messages"].as_completion(body), None, logprobs=False, hold_s=0.0
    )
    assert (read.reply.text, read.reply.reasoning) == ("Yes.", kept)
    assert read.reply.answered_by == "m-2026"


USED = {"prompt_tokens": 3, "completion_tokens": 4}
DETAILS = [{"type": "reasoning.text", "text": "Yes."}]


@pytest.mark.parametrize(
    ("choice", "reasoned"),
    [
        ({"message": {"content": {"type": "text", "text": "Yes."}}}, False),
        ({"text": "Yes.", "finish_reason": "eos"}, False),
        ({"message": {"reasoning_details": DETAILS}, "finish_reason": "stop"}, True),
        ({"message": {"reasoning_content": "Yes."}, "finish_reason": "eos"}, True),
    ],
)
def test_an_answer_that_came_whole_is_read_in_any_envelope(
    choice: dict[str, Any], reasoned: bool
) -> None:
    read = read_completion(
        {"choices": [choice], "usage": USED}, None, logprobs=False, hold_s=0.0
    ).reply
    assert (read.text, read.reasoned, read.finish) == ("Yes.", reasoned, "stop")


@pytest.mark.parametrize(
    ("body", "status", "failure"),
    [
        ({"object": "error", "message": "Insufficient balance", "code": "1113"}, 502, "budget"),
        ({"code": 429, "message": "too many requests"}, 429, "rate_limit"),
        ({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, 502, "budget"),
        ({"error": "context length exceeded", "code": "400"}, 400, "request"),
        ({"error": {"message": "账户余额不足", "code": 429}}, 429, "budget"),
        ({"error": {"message": "Please top up.", "code": 429}}, 429, "budget"),
        ({"error": {"message": "exceeded your current quota, 15 per minute. Please retry in 2s",
                    "code": 429}}, 429, "rate_limit"),
        ({"error": {"message": "in arrears", "code": "Arrearage"}}, 502, "budget"),
    ],
)  # fmt: skip
def test_an_error_inside_a_200_is_that_error_wherever_it_stands(
    body: dict[str, Any], status: int, failure: str
) -> None:
    with pytest.raises(ReportedError) as told:
        read_completion(body, None, logprobs=False, hold_s=0.0)
    assert told.value.status == status
    route = Route("openai/m", "openai", "m", "http://127.0.0.1:1/v1")
    assert classify_reported(route, told.value, {}).failure == failure
