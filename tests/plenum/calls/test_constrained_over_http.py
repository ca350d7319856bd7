"""Constrained answers through real sockets: each server's form, and where it isn't honoured."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from aiohttp import web
from support.fault_server import Faults, FaultServer, FaultSettings, Latency, serve_in_thread

from plenum.base.errors import UserError
from plenum.calls.api.backend import ApiBackend
from plenum.calls.api.checks import require_parameters
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Chat, Message
from plenum.calls.conversation import Conversation
from plenum.committee.answer_forms import turn_schema
from plenum.committee.deliberation import Deliberation
from plenum.design.condition import Condition
from plenum.design.kinds import KINDS
from plenum.design.settings import Calls
from plenum.records.failures import Failure

pytestmark = pytest.mark.slow

Make = Callable[..., Condition]
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")
HELD = "protocol.answers=constrained"


def in_response_format(body: Any) -> Any:
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["strict"] is True
    return body["response_format"]["json_schema"]["schema"]


def in_json_object(body: Any) -> Any:
    assert body["response_format"]["type"] == "json_object"
    return body["response_format"]["schema"]


def in_tool(body: Any) -> Any:
    (tool,) = body["tools"]
    assert body["tool_choice"] == {"type": "tool", "name": tool["name"]}
    return tool["input_schema"]


Find = Callable[[Any], Any]
FORMS: dict[str, tuple[str, str, str, Find]] = {
    "openai": ("openai/gpt-4.1-mini", "auto", "/v1", in_response_format),
    "vllm": (
        *("hosted_vllm/m", "structured_outputs", "/v1"),
        lambda body: body["structured_outputs"]["json"],
    ),
    "sglang": ("hosted_vllm/m", "auto", "/v1", in_response_format),
    "llamacpp": ("llamafile/m", "auto", "/v1", in_json_object),
    "ollama": ("ollama/m", "auto", "", in_response_format),
    "ollama, its own": ("ollama_chat/m", "auto", "", lambda body: body["format"]),
    "anthropic": ("anthropic/claude-3-5-haiku-20241022", "auto", "", in_tool),
    "anthropic, newer": (
        *("anthropic/claude-sonnet-4-5", "auto", ""),
        lambda body: body["output_format"]["schema"],
    ),
}
"""Model, ``backend.answer_form``, path of the base URL, and where the schema is on the wire."""


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in KEYS:
        monkeypatch.setenv(name, "sk-of-these-tests")


@contextmanager
def listening(**settings: Any) -> Iterator[tuple[str, list[Any]]]:
    """A fault server: its URL without a path, and the bodies that it gets."""
    bodies: list[Any] = []

    class Listening(FaultServer):
        async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
            if request.method == "POST":
                body = json.loads(await request.read())
                bodies.extend([body] if "messages" in body else [])  # LiteLLM asks more of Ollama
            return await super().handle(request)

    made = FaultSettings(port=0, latency=Latency(0.0), **settings)
    with serve_in_thread(made, Listening) as server:
        yield server.url.removesuffix("/v1"), bodies


def backend_of(name: str, root: str, transport: Any = "lean") -> ApiBackend:
    model, form, path, _ = FORMS[name]
    base = {model.partition("/")[0]: root + path}
    return ApiBackend(base, False, Calls(transport=transport), answer_form=form)


def play(backend: ApiBackend, deliberation: Conversation[Any]) -> list[str]:
    """Ask the backend to the end; the kinds of calls."""
    kinds = []

    async def run() -> None:
        try:
            while deliberation.ask is not None:
                kinds.append(deliberation.ask.kind)
                response = await backend.attempt(deliberation.ask.chat, 1)
                deliberation.answer(response.reply)
        finally:
            await backend.close()

    asyncio.run(run())
    return kinds


def made(condition: Make, name: str, *more: str) -> Deliberation:
    return Deliberation(condition(HELD, "rounds=1", f"model.default={FORMS[name][0]}", *more), 0)


@pytest.mark.parametrize("transport", ["lean", "litellm"])
@pytest.mark.parametrize("name", FORMS)
def test_a_deliberation_parses_without_repair_in_the_form_of_every_server(
    name: str, transport: str, condition: Make
) -> None:
    find = FORMS[name][3]
    with listening() as (root, bodies):
        deliberation = made(condition, name)
        kinds = play(backend_of(name, root, transport), deliberation)
    assert kinds == [*["turn"] * 5, *["ballot"] * 5, "clerk"]
    assert deliberation.end is not None
    assert deliberation.end["status"] == "completed"
    assert [set(find(body)["properties"]) for body in (bodies[0], bodies[5], bodies[10])] == [
        {"argument", "state"},
        {"decision", "confidence"},
        {"decision", "majority_count", "total"},
    ]


@pytest.mark.needs("plenum_worlds")
@pytest.mark.parametrize("task", ["disaster", "misinformation", "public_goods"])
@pytest.mark.parametrize("name", FORMS)
def test_a_world_parses_without_repair_in_the_form_of_every_server(
    name: str, task: str, condition: Make
) -> None:
    find = FORMS[name][3]
    chosen = (f"task={task}", f"model.default={FORMS[name][0]}", "task.agents=2", "rounds=1")
    with listening() as (root, bodies):
        played = condition(HELD, *chosen)
        episode = KINDS[played.kind].converse(played, 0)
        kinds = play(backend_of(name, root), episode)
    assert kinds == [*["message"] * 2, *["action"] * 2]
    assert episode.end is not None
    assert episode.end["metrics"]["abstentions"] == 0
    members = [list(find(body)["properties"]) for body in bodies]
    assert [len(each) for each in members] == [3, 3, 2, 2]
    assert all(each[0] == "analysis" for each in members)


def test_free_answers_are_asked_for_without_a_schema(condition: Make) -> None:
    with listening() as (root, bodies):
        deliberation = Deliberation(condition("rounds=1", "model.default=openai/m"), 0)
        play(backend_of("openai", root), deliberation)
    assert all("response_format" not in body for body in bodies)


@pytest.mark.parametrize("name", ["openai", "llamacpp", "anthropic"])
def test_a_server_that_ignores_the_form_gets_a_repair_and_fails(name: str, condition: Make) -> None:
    with listening(schemas="ignored") as (root, _):
        deliberation = made(condition, name)
        kinds = play(backend_of(name, root), deliberation)
    assert kinds == ["turn", "turn_repair"]
    assert deliberation.end is not None
    assert deliberation.end["reason"] == Failure.PARSE


@pytest.mark.parametrize("transport", ["lean", "litellm"])
@pytest.mark.parametrize("name", FORMS)
def test_the_error_of_a_server_that_refuses_the_form_names_the_setting(
    name: str, transport: str, condition: Make
) -> None:
    with listening(schemas="refused") as (root, _), pytest.raises(CallError) as caught:
        play(backend_of(name, root, transport), made(condition, name))
    assert caught.value.failure == Failure.REQUEST
    assert str(caught.value).startswith(
        "the server refuses the form of protocol.answers=constrained (docs/providers.md"
    )
    assert "this server takes no schema" in caught.value.detail


def test_another_refusal_of_a_constrained_call_is_told_as_ever() -> None:
    chat = Chat("openai/m", (Message("user", "?"),), 0.0, 50, 1, answer=turn_schema(("A", "B")))
    with listening() as (root, _):
        backend = backend_of("openai", root)

        async def run() -> None:
            try:
                await backend.attempt(chat, 1)
            finally:
                await backend.close()

        with pytest.raises(CallError) as caught:
            asyncio.run(run())
    assert str(caught.value).startswith("the simulated backend can't read this prompt")


def test_a_model_without_schemas_is_refused_before_the_first_call(job: Any) -> None:
    with pytest.raises(UserError, match=r"response_format.*\(see protocol\.answers\)"):
        require_parameters([job("backend=api", "model.default=gpt-4", HELD)])
    require_parameters([job("backend=api", "model.default=gpt-4")])
    require_parameters([job("backend=api", "model.default=gpt-4.1-mini", HELD)])


def test_the_parameters_of_a_schema_are_made_once(condition: Make) -> None:
    ask = made(condition, "openai").ask
    assert ask is not None
    backend = ApiBackend({}, False)
    route = backend.route(ask.chat.model)
    assert backend._sampling(ask.chat, route) is backend._sampling(ask.chat, route)


def test_the_form_is_part_of_the_identity_where_it_is_chosen(condition: Make) -> None:
    plain = condition("backend=api")
    usual = ("answer_form=auto", "extra={}", "max_tokens_field=max_tokens", "stream=false")
    others = (
        *("backend.answer_form=json_object", "+backend.extra.num_ctx=1", "backend.stream=true"),
        *("+backend.extra.num_ctx=2", "backend.max_tokens_field=max_completion_tokens"),
    )
    for setting in usual:
        assert plain.identity == condition("backend=api", f"backend.{setting}").identity
    changed = {condition("backend=api", setting).identity for setting in others}
    assert len(changed - {plain.identity}) == len(others)


@pytest.mark.parametrize(
    ("overrides", "why"),
    [
        (["+backend.extra.messages=[]"], "backend.extra: messages: plenum writes this field"),
        (["+backend.extra.temperature=1"], "by sampling.temperature"),
        (["+backend.extra.api_key=abc"], "api_key: a secret belongs in an environment variable"),
        (["+backend.extra={headers:{x-api-key:abc}}"], "x-api-key: a secret belongs in"),
    ],
)
def test_fields_that_plenum_writes_and_secrets_are_refused(
    overrides: list[str], why: str, refusal: Callable[..., str]
) -> None:
    assert why in refusal("backend=api", *overrides)


def test_a_field_that_litellm_would_keep_is_refused(job: Make) -> None:
    given = ("backend=api", "model.default=anthropic/x", "+backend.extra.mock_response=hi")
    with pytest.raises(UserError, match=r"^backend.extra: mock_response: LiteLLM takes this"):
        require_parameters([job(*given)])


@pytest.mark.parametrize("more", [("model.default=anthropic/x",), ("calls.transport=litellm",)])
def test_a_stream_through_litellm_is_refused(more: tuple[str, ...], job: Make) -> None:
    with pytest.raises(UserError, match=r"^backend.stream: .*calls.transport=lean"):
        require_parameters([job("backend=api", "backend.stream=true", *more)])


@pytest.mark.parametrize("fault", ["malformed", "length"])
@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_an_answer_that_was_spoilt_comes_through_as_it_is(
    name: str, fault: str, condition: Make
) -> None:
    with listening(faults=Faults(**{fault: 1.0})) as (root, _):
        deliberation = made(condition, name)
        play(backend_of(name, root), deliberation)
    assert deliberation.end is not None
    assert deliberation.end["reason"] in (Failure.PARSE, Failure.LENGTH)
