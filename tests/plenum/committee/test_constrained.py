"""Constrained answers: their schemas, their reader, and a whole deliberation in that form."""

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum.base.errors import UserError
from plenum.calls.chat import Reply
from plenum.calls.conversation import Ask
from plenum.calls.simulated.backend import SimulatedBackend
from plenum.committee import answer_forms
from plenum.committee.deliberation import Deliberation
from plenum.committee.state import Malformed
from plenum.design.condition import Condition
from plenum.design.settings import Simulated

Make = Callable[..., Condition]
Deliberate = Callable[[Deliberation, Callable[[Ask], str]], list[dict[str, Any]]]
LABELS = ("A", "B", "C")
WHOLE = st.integers(0, 100)
TAG = st.from_regex(answer_forms._TAG, fullmatch=True).filter(str.isascii)


def turn(**changes: Any) -> dict[str, Any]:
    state = {"weights": {"A": 1, "B": 1, "C": 2}, "confidence": 60, "tags": ["cost", "fair_play"]}
    return {"argument": "C.", "state": state | changes}


@given(st.text(), st.lists(WHOLE, min_size=3, max_size=3), WHOLE, TAG, TAG)
def test_what_the_schema_allows_is_read(
    argument: str, weights: list[int], confidence: int, first: str, second: str
) -> None:
    state = turn(
        weights=dict(zip(LABELS, weights, strict=True)),
        confidence=confidence,
        tags=[first, second],
    )
    answer = {**state, "argument": argument}
    jsonschema.validate(answer, dict(answer_forms.turn_schema(LABELS).schema))
    said, read, even = answer_forms.parse_turn(json.dumps(answer), LABELS)
    assert said == argument.strip()
    assert (read.conf, read.tags) == (confidence, (first, second))
    assert even == (not any(weights))
    expected = [33, 33, 34] if even else weights
    assert read.pref == pytest.approx([weight / sum(expected) for weight in expected])


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"weights": {"A": 1, "B": 2}}, "weights needs exactly A, B, C"),
        ({"weights": {"A": 101, "B": 0, "C": 0}}, "weight of A"),
        ({"weights": {"A": 0.5, "B": 0, "C": 0}}, "weight of A"),
        ({"weights": [1, 2, 3]}, "weights needs exactly"),
        ({"confidence": True}, "confidence"),
        ({"tags": ["one"]}, "two tags"),
        ({"tags": ["one", "Two"]}, "snake_case"),
        ({"more": 1}, "state needs exactly"),
    ],
)
def test_what_it_forbids_is_refused_by_both(changed: dict[str, Any], reason: str) -> None:
    answer = turn(**changed)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(answer, dict(answer_forms.turn_schema(LABELS).schema))
    with pytest.raises(Malformed, match=reason):
        answer_forms.parse_turn(json.dumps(answer), LABELS)


def test_an_answer_that_was_cut_or_no_object_is_refused() -> None:
    for text in (json.dumps(turn())[:-1], "C.", "[]", json.dumps({"argument": "C."})):
        with pytest.raises(Malformed):
            answer_forms.parse_turn(text, LABELS)


def test_every_object_of_a_schema_is_strict() -> None:
    def check(schema: dict[str, Any]) -> None:
        if schema["type"] == "object":
            assert schema["additionalProperties"] is False
            assert schema["required"] == list(schema["properties"])
            for member in schema["properties"].values():
                check(member)

    for made in (
        answer_forms.turn_schema(LABELS),
        answer_forms.ballot_schema(LABELS),
        answer_forms.make_count_schema(LABELS, 5),
    ):
        check(dict(made.schema))


def simulated(ask: Ask) -> str:
    """The answer of the simulated agent."""
    response = asyncio.run(SimulatedBackend(Simulated()).attempt(ask.chat, 1))
    return response.reply.text


def test_a_deliberation_holds_every_call_to_its_form_and_reads_all_of_them(
    condition: Make, deliberate: Deliberate
) -> None:
    asks: list[Ask] = []

    def answer(ask: Ask) -> str:
        asks.append(ask)
        return simulated(ask)

    made = condition("protocol.answers=constrained", "rounds=2")
    deliberation = Deliberation(made, 0)
    entries = deliberate(deliberation, answer)
    assert deliberation.end is not None
    assert deliberation.end["status"] == "completed"
    schemas = {"turn": "turn", "ballot": "ballot", "clerk": "count"}
    assert [ask.kind for ask in asks] == [*["turn"] * 10, *["ballot"] * 5, "clerk"]
    for ask, entry in zip(asks, entries, strict=True):
        held = ask.chat.answer
        assert held is not None
        assert held.name == schemas[ask.kind]
        jsonschema.validate(json.loads(entry["text"]), dict(held.schema))
        assert not any("STATE" in message.content for message in ask.chat.messages)
    for entry in entries[:10]:
        assert sum(entry["state"]["pref"]) == pytest.approx(1)
        assert "even" not in entry


def test_a_turn_without_weights_is_even_and_noted(condition: Make) -> None:
    deliberation = Deliberation(condition("protocol.answers=constrained", "rounds=1"), 0)
    text = json.dumps(turn(weights=dict.fromkeys(LABELS, 0)))
    entry = deliberation.answer(Reply(text, 10, 5))
    assert entry["even"] is True
    assert entry["state"]["pref"] == [0.33, 0.33, 0.34]


def test_a_turn_that_breaks_its_form_is_repaired_in_that_form(condition: Make) -> None:
    deliberation = Deliberation(condition("protocol.answers=constrained", "rounds=1"), 0)
    deliberation.answer(Reply("I am for C.", 10, 5))
    assert deliberation.ask is not None
    assert deliberation.ask.kind == "turn_repair"
    assert deliberation.ask.chat.answer == answer_forms.turn_schema(LABELS)
    entry = deliberation.answer(Reply(json.dumps(turn()), 10, 5))
    assert entry["argument"] == "C."


def test_the_example_shows_no_tag_or_number_that_could_be_copied() -> None:
    example = answer_forms.turn_example(LABELS)
    schema = answer_forms.turn_schema(LABELS).schema["properties"]["state"]["properties"]
    pattern = schema["tags"]["items"]["pattern"]
    shown = json.loads(example.replace("NN", "null"))
    assert shown["state"].keys() == schema.keys()
    assert not [tag for tag in shown["state"]["tags"] if re.search(pattern, tag)]
    assert {*shown["state"]["weights"].values(), shown["state"]["confidence"]} == {None}


def test_free_answers_keep_their_identity_and_have_no_schema(condition: Make) -> None:
    free, held = condition(), condition("protocol.answers=constrained")
    assert free.identity == condition("protocol.answers=free").identity
    assert free.identity != held.identity
    assert held.factors["settings"] == "answers=constrained"
    ask = Deliberation(free, 0).ask
    assert ask is not None
    assert ask.chat.answer is None


def test_prompts_with_a_form_of_their_own_are_refused(condition: Make) -> None:
    with pytest.raises(UserError, match="answers: constrained"):
        condition("protocol.answers=constrained", "prompts.answers=reasoned")
