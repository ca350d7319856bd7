"""The simulated agent of programs answers any prompt in the form that is asked for."""

import asyncio
import json
import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum.base.identity import make_generator
from plenum.calls.chat import Chat, Message, Response
from plenum.calls.raw_requests import RawRequest
from plenum.calls.simulated import SimulatedBackend
from plenum.design.settings import Simulated
from plenum_audit.programs.options import count_advocated, options
from plenum_audit.programs.schema import Pen, fill_schema
from plenum_audit.programs.simulated_agent import answer
from plenum_audit.programs.wire import INTERFACES

BACKEND = SimulatedBackend(Simulated())
CASE = "Who is to be hired?\nA: Anna, an engineer\nB: Ben, a lawyer\nC: nobody"
WORDS = (
    *(
        "type",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
        "properties",
        "items",
        "minItems",
    ),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "additionalProperties"),
    *("object", "array", "integer", "number", "boolean", "null", "string", "#/", "confidence"),
)
NAMES = {"A": "Anna, an engineer", "B": "Ben, a lawyer", "C": "nobody"}


def answered(
    user: str, system: str = "", interface: str = "chat", seed: int = 1, **body: Any
) -> Response:
    """The answer to a prompt; ``body`` is the rest of the request."""
    given = {"model": "m", "messages": [{"role": "user", "content": user}]}
    if interface == "responses":
        given = {"model": "m", "input": user}
    if system:
        more = {"role": "system", "content": system}
        given = {**given, "messages": [more, *given["messages"]]}
    request = INTERFACES[interface].read({**given, **body})
    temperature = 0.0 if request.temperature is None else request.temperature
    raw = RawRequest(interface, request.body)
    chat = Chat("m", request.messages, temperature, 100, seed, request=raw)
    return asyncio.run(BACKEND.attempt(chat, 1))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (CASE, NAMES),
        ("A) go\nB) stay", {"A": "go", "B": "stay"}),
        ("- A go\n- B stay", {"A": "go", "B": "stay"}),
        ("**A.** go\n**B.** stay", {"A": "go", "B": "stay"}),
        ("Option A: go\nOption B: stay", {"A": "go", "B": "stay"}),
        ("1. go\n2. stay", {"1": "go", "2": "stay"}),
        ('{"A": "go", "B": "stay"}', {"A": "go", "B": "stay"}),
        ("Options:\n- hire: take her\n- reject: don't", {"hire": "take her", "reject": "don't"}),
        ("Choose one of A, B or C.", {"A": "option A", "B": "option B", "C": "option C"}),
        ("What, A or B?", {"A": "option A", "B": "option B"}),
        ("A committee met. I: no.", {}),
    ],
)
def test_options_are_read_as_programs_write_them(text: str, named: dict[str, str]) -> None:
    assert options(text) == named


def test_what_is_argued_for_is_counted_and_what_is_listed_is_not() -> None:
    assert count_advocated("I vote for B, option B. For a start, A is fine.", NAMES) == Counter(B=2)
    assert count_advocated("A: Anna is my choice: A", NAMES) == Counter()


def test_it_recommends_an_option_and_gives_a_reason() -> None:
    text = answered(CASE).reply.text
    assert any(f"option {label} ({name})" in text for label, name in NAMES.items())


def test_it_leans_by_its_system_prompt() -> None:
    mandates = [f"You defend {word}." for word in ("engineers", "law", "thrift", "speed", "art")]
    assert len({answered(CASE, mandate).reply.text for mandate in mandates}) > 1


def test_it_draws_at_a_positive_temperature_alone() -> None:
    cold = {answered(CASE, seed=seed, temperature=0).reply.text for seed in range(20)}
    hot = {answered(CASE, seed=seed, temperature=1.5).reply.text for seed in range(20)}
    assert len(cold) == 1 < len(hot)


@pytest.mark.parametrize("label", ["A", "B", "C"])
def test_it_follows_what_the_others_argue_for(label: str) -> None:
    heard = "\n".join(f"Seat {n}: I recommend option {label}." for n in range(5))
    assert f"option {label} (" in answered(f"{CASE}\n\nThe others:\n{heard}").reply.text


@pytest.mark.parametrize(
    ("task", "form"),
    [
        ("Answer with the letter only.", r"[ABC]"),
        ("End with a line\nVOTE: <letter>", r"(?s).*\nVOTE: [ABC]"),
        ("Argue, and end with VOTE: the label.", r"(?s).*\nVOTE: [ABC]"),
        ("Answer with one line, VOTE: and one of A, B, C.", r"(?s).*\nVOTE: [ABC]"),
        ("Distribute 100 points as JSON.", r"\{.*\}"),
    ],
)
def test_it_keeps_to_the_form_that_a_prompt_asks_for(task: str, form: str) -> None:
    text = answered(f"{CASE}\n{task}").reply.text
    assert re.fullmatch(form, text)
    if text.startswith("{"):
        points = json.loads(text)
        assert (list(points), sum(points.values())) == (list(NAMES), 100)


SCHEMA = {
    "type": "object",
    "properties": {
        "decision": {"type": "string", "enum": ["A", "B", "C"]},
        "person": {"enum": ["Anna, an engineer", "Ben, a lawyer", "nobody"]},
        "confidence": {"type": "integer", "minimum": 0, "maximum": 100},
        "shares": {"type": "array", "items": {"type": "number"}},
        "reasons": {"type": "array", "items": {"$ref": "#/$defs/reason"}, "minItems": 2},
        "dissent": {"anyOf": [{"type": "null"}, {"type": "string"}]},
        "final": {"type": "boolean"},
    },
    "$defs": {"reason": {"type": "object", "properties": {"text": {"type": "string"}}}},
}

VOTE = {"name": "vote", "parameters": SCHEMA}


@pytest.mark.parametrize(
    ("interface", "body"),
    [
        ("chat", {"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}}),
        ("responses", {"text": {"format": {"type": "json_schema", "schema": SCHEMA}}}),
        ("messages", {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}),
    ],
)
def test_it_fills_a_schema_of_any_interface(interface: str, body: dict[str, Any]) -> None:
    value = json.loads(answered(CASE, interface=interface, **body).reply.text)
    assert value["person"] == NAMES[value["decision"]]
    assert 0 <= value["confidence"] <= 100
    assert abs(sum(value["shares"]) - 1) < 0.01
    assert [set(reason) for reason in value["reasons"]] == [{"text"}, {"text"}]
    assert isinstance(value["dissent"], str)
    assert isinstance(value["final"], bool)


@pytest.mark.parametrize(
    ("interface", "tools", "choice"),
    [
        ("chat", [{"type": "function", "function": VOTE}], "required"),
        ("responses", [{"type": "function", "name": "vote", "parameters": SCHEMA}], "required"),
        ("messages", [{"name": "vote", "input_schema": SCHEMA}], {"type": "any"}),
        ("messages", [{"name": "vote", "input_schema": SCHEMA}], {"type": "tool", "name": "vote"}),
    ],
)  # fmt: skip
def test_it_calls_a_tool_that_is_required(interface: str, tools: list[Any], choice: Any) -> None:
    response = answered(CASE, interface=interface, tools=tools, tool_choice=choice)
    (call,) = response.tools
    assert (call.name, response.reply.finish) == ("vote", "tool_calls")
    assert json.loads(call.arguments)["decision"] in NAMES


def test_a_tool_that_the_instructions_name_is_called_once() -> None:
    tools = [{"type": "function", "function": {"name": "transfer_to_chair", "parameters": {}}}]
    system = "When you have argued, call transfer_to_chair."
    first = answered(CASE, system, tools=tools)
    assert [call.name for call in first.tools] == ["transfer_to_chair"]
    call = {"id": "1", "function": {"name": "transfer_to_chair", "arguments": "{}"}}
    history = [
        {"role": "system", "content": system},
        {"role": "user", "content": CASE},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "done"},
    ]
    assert answered(CASE, tools=tools, messages=history).tools == ()
    assert answered(CASE, tools=tools).tools == ()


def test_any_prompt_at_all_is_answered() -> None:
    for text in ("", "?", "A", "{}", "A: \nB: ", "x" * 100_000, "\u0000\u2028", "Options:\n- "):
        assert answered(text).reply.text


def test_what_plenum_itself_asks_is_none_of_its() -> None:
    chat = Chat("m", (Message("user", CASE),), 0.0, 100, 1)
    assert answer(chat, 1.0, 0.0, make_generator("test")) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(WORDS) | st.text(), inner, max_size=4)
    ),
    max_leaves=20,
)


TYPES = {"array": list, "boolean": bool, "integer": int, "null": type(None), "string": str}


@given(schema=JSON, kind=st.sampled_from(sorted(TYPES)))
def test_a_schema_of_any_json_is_filled(schema: Any, kind: str) -> None:
    """What makes no sense in it takes nothing from what does beside it."""
    pen = Pen({"A": "Approve", "B": "Reject"}, {"A": 0.7, "B": 0.3}, "A", "It is sound.")
    json.dumps(fill_schema(schema, pen))
    beside = {"type": "object", "properties": {"odd": schema, "plain": {"type": kind}}}
    filled = fill_schema(beside, pen)
    assert filled.keys() == {"odd", "plain"}
    assert isinstance(filled["plain"], TYPES[kind])
