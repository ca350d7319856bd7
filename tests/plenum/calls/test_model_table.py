"""LiteLLM's table, read without LiteLLM, says what LiteLLM itself says."""

import itertools
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import plenum
from plenum.base.errors import UserError
from plenum.calls.api import faults, model_table, routes
from plenum.calls.api.litellm_import import litellm
from plenum.calls.api.routes import Route
from plenum.design.settings import Sampling
from plenum.records.failures import Failure

ROOT = Path(plenum.__file__).parents[2]
LISTED = {
    name
    for group in (ROOT / "conf/model").glob("*.yaml")
    for name in re.findall(r"(?<=: )[\w./-]+", group.read_text())
    if name not in ("null", "none")
}
"""Names of models in the groups, and of the groups."""
OTHERS = (
    *("gpt-4", "gpt-3.5-turbo-16k", "gpt-4o-2024-08-06", "gpt-4.1-2099-01-01", "GPT-4o"),
    *("o1", "o3-mini", "openai/o4-mini", "openai/o99", "gpt-5", "openai/gpt-5-mini", "gpt-6"),
    *("gpt-4o-audio-preview", "gpt-5-chat-latest", "openai/gpt-4o", "openai/any", "openai/"),
    *("ft:gpt-4o-mini-2024-07-18", "ft:gpt-4o-mini-2024-07-18:own::id", "openai/ft:x:a:b:c"),
    *("hosted_vllm/Qwen/Qwen2.5-7B-Instruct", "vllm/x", "openai_like/x", "custom_openai/gpt-4o"),
    *("lm_studio/gemma-3", "llamafile/m", "ollama/llama2", "ollama/no-such", "openai/Qwen/Q"),
    *("openai/gpt-oss-120b", "openai/responses/gpt-4o", "davinci-002", "text-embedding-3-small"),
    *("1024-x-1024/gpt-image-1", "claude-sonnet-4-6", "command-r", "no-such-model"),
    *("mistral/mistral-small", "openrouter/openai/gpt-4o", "azure/gpt-4o", "ollama_chat/x"),
)
NAMES = sorted({*LISTED, *OTHERS})


@pytest.fixture(autouse=True)
def usual(monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of LiteLLM's, and nothing from other tests."""
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    for name in ("USE_LITELLM_PROXY", "OLLAMA_API_BASE", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def litellm_s_route(model: str) -> tuple[str, str] | None:
    try:
        return litellm.get_llm_provider(model)[:2]
    except litellm.exceptions.BadRequestError:
        return None


def every_listed_name() -> list[str]:
    models = model_table.read_models()
    assert models
    return sorted({*NAMES, *models, *(f"openai/{name}" for name in models)})


def test_the_table_is_there_and_names_nothing_that_is_called_through_litellm() -> None:
    models = model_table.read_models()
    assert models
    assert "gpt-4.1-mini" in models
    assert {entry["litellm_provider"] for entry in models.values()} <= {*model_table.COMPATIBLE}


def test_routes_are_litellm_s() -> None:
    found = {name: model_table.find_route(name) for name in every_listed_name()}
    told = {name: route[:2] for name, route in found.items() if route}
    assert told == {name: litellm_s_route(name) for name in told}
    # whoever is called directly is found without LiteLLM, but for these
    asked = {name for name in found if found[name] is None}
    direct = {n for n in asked if (litellm_s_route(n) or ("", ""))[1] in model_table.COMPATIBLE}
    assert {name for name in direct if "/" not in name and ":" not in name} == set()
    assert told.keys() >= {name for name in LISTED if name.startswith("gpt-")}


def test_endpoints_are_litellm_s(monkeypatch: pytest.MonkeyPatch) -> None:
    for base in ("", "http://elsewhere:1"):
        monkeypatch.setenv("OLLAMA_API_BASE", base) if base else None
        for model in ("openai/x", "ollama/x", "gpt-4o"):
            found = model_table.find_route(model)
            assert found
            assert found[2] == litellm.get_llm_provider(model)[3]


@pytest.mark.slow
def test_entries_are_litellm_s() -> None:
    def listed(model: str) -> dict[str, Any] | None:
        try:
            return litellm.model_cost[litellm.get_model_info(model)["key"]]
        except Exception:
            return None

    names = [name for name in every_listed_name() if model_table.find_route(name)]
    found = {name: dict(model_table.find_entry(name)) for name in names}
    assert found == {name: listed(name) or {} for name in names}


MORE: tuple[dict[str, Any], ...] = (
    {},
    {"seed": 1},
    {"logprobs": True},
    {"response_format": {"type": "json_object", "schema": {"type": "object"}}, "seed": 2},
    {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}},
    {"reasoning_effort": "low"},
)


def test_parameters_are_litellm_s(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask() -> dict[Any, Any]:
        mapped: dict[Any, Any] = {}
        for name, more, temperature in itertools.product(NAMES, range(len(MORE)), (0.0, 1.0)):
            route = model_table.find_route(name)
            if route is None:
                continue
            try:
                fields = Route(name, route[1], route[0], None).parameters(
                    Sampling(temperature, 100), **MORE[more]
                )
                mapped[name, more, temperature] = list(fields.items())
            except UserError as refused:
                mapped[name, more, temperature] = str(refused)
        return mapped

    ours = ask()
    assert len(ours) > 100
    monkeypatch.setattr(model_table, "map_parameters", lambda *_: None)
    assert ours == ask()


def test_missing_keys_are_litellm_s(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in (None, "sk-x"):
        monkeypatch.setenv("OPENAI_API_KEY", key) if key else None
        for name in NAMES:
            if route := model_table.find_route(name):
                theirs = litellm.validate_environment(name)["missing_keys"]
                # plenum asks for no base of Ollama's, whose usual one it knows
                theirs = [each for each in theirs if each != "OLLAMA_API_BASE"]
                with pytest.raises(UserError) if theirs else nullcontext():
                    routes._check_environment(name, route[1], {})


WORDS = (
    *("", "Rate limit reached", "Request timed out", "A timeout occurred", "rate_limit 429"),
    *("invalid_request_error content_policy_violation", "content_policy_violation"),
    *("content_policy_violation in an invalid_request_error", "invalid_request_error"),
    *("Invalid prompt: violating our usage policy", "violating our usage policy"),
    *("The read operation timed out", "Timed out generating response", "Overloaded"),
    *("Your request was rejected as a result of the safety system.", "model_not_found"),
    *("This model's maximum context length is 4 tokens", "Request too large", "insufficient_quota"),
    *("The server had an error processing your request.", "Incorrect API key provided"),
)


@pytest.mark.parametrize("status", [302, 400, 401, 403, 404, 408, 422, 429, 500, 502, 503, 504])
@pytest.mark.parametrize("words", WORDS)
def test_errors_are_told_apart_as_litellm_does(words: str, status: int) -> None:
    from litellm.llms.openai.common_utils import OpenAIError

    original = OpenAIError(status_code=status, message=words, headers={})
    with pytest.raises(Exception) as raised:  # noqa: PT011  # one of a dozen types
        litellm.exception_type(model="x", original_exception=original, custom_llm_provider="openai")
    theirs = faults._failure(raised.value, status)
    if status == 504 and theirs == Failure.SERVER:  # LiteLLM goes by the words first
        theirs = Failure.TIMEOUT
    route = Route("openai/x", "openai", "x", None)
    raw = words.encode()  # no JSON, so that no code says more
    if faults._by_code(None, words) is None:
        assert faults.classify_status(route, status, raw, {}).failure == theirs


@pytest.mark.parametrize(
    ("name", "value"),
    [("USE_LITELLM_PROXY", "true"), ("LITELLM_LOCAL_MODEL_COST_MAP", "False")],
)
def test_a_setting_of_litellm_s_is_left_to_litellm(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_table.read_models.cache_clear()
    try:
        monkeypatch.setenv(name, value)
        assert model_table.read_models() is None
        assert model_table.find_route("gpt-4o") is None
        assert model_table.find_entry("gpt-4o") == litellm.model_cost["gpt-4o"]
        assert model_table.map_parameters("gpt-4o", {}) is None
    finally:
        model_table.read_models.cache_clear()
