"""Constrained answers in worlds: schemas of actions, what prompts show, and whole episodes."""

import asyncio
import json
import re
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from world_episodes import Made

from plenum.calls.chat import Reply
from plenum.calls.conversation import Ask, Entry
from plenum.calls.simulated.backend import SimulatedBackend
from plenum.design.settings import Simulated
from plenum_worlds.answer_schemas import PLAN, blank, choice_schema, settle, speech_schema
from plenum_worlds.consensus import read_plan
from plenum_worlds.episode import Episode, make_world
from plenum_worlds.registry import WORLDS, build_world

pytestmark = pytest.mark.slow

HELD = "protocol.answers=constrained"
TASKS = sorted(WORLDS)
SETTINGS = {
    "disaster": ({}, {"grid": 3, "most": 2, "initial_most": 2}, {"grid": 30}),
    "misinformation": ({}, {"nodes": 3, "attachment": 1, "initial_most": 2, "checks": 3}),
    "public_goods": ({}, {"most": 0.5}, {"most": 20.0}),
}
"""Settings of each world that its actions depend on."""
WORLD_CASES = [(task, numbers) for task in TASKS for numbers in SETTINGS[task]]
VALUES = st.lists(st.integers(-1, 10), max_size=3) | st.recursive(
    st.none() | st.booleans() | st.integers(-2, 60) | st.floats(-1, 21) | st.text(max_size=2),
    lambda items: st.lists(items, max_size=4),
    max_leaves=6,
)


def allowed(schema: Any, value: Any) -> bool:
    return not list(jsonschema.Draft202012Validator(schema).iter_errors(value))


def drawn(data: st.DataObject, schema: Any) -> Any:
    """A value of a schema of numbers."""
    if schema["type"] == "array":
        size = data.draw(st.integers(schema["minItems"], schema["maxItems"]))
        return [drawn(data, schema["items"]) for _ in range(size)]
    least, most = schema["minimum"], schema["maximum"]
    whole = schema["type"] == "integer"
    return data.draw(st.integers(least, most) if whole else st.floats(least, most))


@pytest.mark.parametrize(("task", "numbers"), WORLD_CASES)
@given(st.data())
def test_what_the_schema_of_a_world_allows_is_an_action(
    task: str, numbers: dict[str, Any], data: st.DataObject
) -> None:
    world = build_world(task, 3, **numbers)
    action = drawn(data, world.schema)
    assert allowed(world.schema, action)
    world.read(settle(world, world.key, action))
    plan = [action, drawn(data, world.schema), drawn(data, world.schema)]
    read_plan(world, settle(world, PLAN, plan))


@pytest.mark.parametrize(("task", "numbers"), WORLD_CASES)
@given(VALUES)
def test_what_is_an_action_is_allowed_by_the_schema(
    task: str, numbers: dict[str, Any], value: Any
) -> None:
    world = build_world(task, 3, **numbers)
    try:
        world.read(value)
    except ValueError:
        return
    assert allowed(world.schema, value)
    assert settle(world, world.key, value) == value


@pytest.mark.parametrize("task", TASKS)
def test_the_example_and_the_longest_action_fit_the_schema(task: str) -> None:
    world = build_world(task, 3)
    assert allowed(world.schema, world.example)
    assert allowed(world.schema, world.longest)


def simulated(ask: Ask) -> str:
    response = asyncio.run(SimulatedBackend(Simulated()).attempt(ask.chat, 1))
    return response.reply.text


def played(episode: Episode, answer: Any = simulated) -> tuple[list[Ask], list[Entry]]:
    asks, entries = [], []
    while episode.ask is not None:
        asks.append(episode.ask)
        entries.append(episode.answer(Reply(answer(episode.ask), 10, 5)))
    return asks, entries


@pytest.mark.parametrize("first", ["analysis_first", "action_first"])
@pytest.mark.parametrize("mechanism", ["implicit", "explicit", "plan", "central"])
@pytest.mark.parametrize(
    "task",
    [*TASKS, *(pytest.param(f"{task}_released", marks=pytest.mark.long) for task in TASKS)],
)
def test_an_episode_holds_every_call_to_its_form_and_reads_all_of_them(
    made: Made, task: str, mechanism: str, first: str
) -> None:
    given = (f"task={task}", f"consensus={mechanism}", f"task.answer={first}", "task.agents=4")
    condition = made(HELD, *given, "rounds=2")
    episode = Episode(condition, 0)
    asks, entries = played(episode)
    assert len(asks) == condition.calls
    assert episode.end is not None
    assert episode.end["metrics"]["abstentions"] == 0
    for ask, entry in zip(asks, entries, strict=True):
        held = ask.chat.answer
        assert held is not None
        assert held.name == ("plan" if ask.kind == "action" and condition.assigns else ask.kind)
        assert allowed(held.schema, json.loads(entry["text"]))
        members = list(held.schema["properties"])
        assert members.index("analysis") == (0 if first == "analysis_first" else len(members) - 1)
        assert held.schema["required"] == members
        assert held.schema["additionalProperties"] is False
        form = ask.chat.messages[1].content.splitlines()[-1]
        assert re.findall('"([a-z_]+)":', form) == members
        assert not re.search("[0-9]", form)  # a small model copies a value that it is shown


def test_the_form_of_a_prompt_shows_dots_for_words_and_no_number(made: Made) -> None:
    forms = {}
    for task in TASKS:
        condition = made(HELD, f"task={task}", "task.agents=4")
        forms[task] = blank(speech_schema(condition, make_world(condition)).schema)
    assert forms == {
        "disaster": '{"analysis": "...", "action": [NN, NN], "message": "..."}',
        "misinformation": '{"analysis": "...", "target_nodes": [NN, ...], "message": "..."}',
        "public_goods": '{"analysis": "...", "contribution": NN, "message": "..."}',
    }
    few, many = (made(HELD, "task=disaster", "consensus=plan", f"task.agents={n}") for n in (2, 4))
    plans = [blank(choice_schema(each, make_world(each)).schema) for each in (few, many)]
    assert plans[0] == '{"analysis": "...", "plan": [[NN, NN], [NN, NN]]}'
    assert plans[1] == '{"analysis": "...", "plan": [[NN, NN], ...]}'


def test_a_node_that_is_named_twice_counts_once_and_is_noted(made: Made) -> None:
    text = json.dumps({"analysis": "a", "target_nodes": [7, 3, 7], "message": "m"})
    given = ("task=misinformation", "task.agents=2", "rounds=1", "consensus=implicit")
    asks, entries = played(Episode(made(HELD, *given), 0), lambda _: text)
    assert [ask.kind for ask in asks] == ["message"] * 2 + ["action"] * 2
    assert all(entry["read"]["action"] == [3, 7] for entry in entries)
    assert all(entry["repeated"] is True for entry in entries)
    asks, _ = played(Episode(made(*given), 0), lambda _: text)
    assert "message_repair" in [ask.kind for ask in asks]  # freely written it is no action


def test_an_answer_that_breaks_its_form_is_repaired_in_that_form_and_then_abstains(
    made: Made,
) -> None:
    episode = Episode(made(HELD, "task=disaster", "task.agents=1", "rounds=1", "task.turns=0"), 0)
    asks, entries = played(episode, lambda _: "I fly to the west.")
    assert [ask.kind for ask in asks] == ["action", "action_repair"]
    assert asks[0].chat.answer == asks[1].chat.answer
    assert asks[1].chat.messages[-1].content.endswith('{"analysis": "...", "action": [NN, NN]}')
    assert entries[1]["abstains"] is True


def test_the_form_of_answers_is_in_the_identity_where_models_are_held_to_it(made: Made) -> None:
    free, held = made("task=disaster"), made("task=disaster", HELD)
    assert free.identity == made("task=disaster", "protocol.answers=free").identity
    assert free.identity != held.identity
    assert (free.constrained, held.constrained) == (False, True)
    assert held.factors["settings"] == "answers=constrained"
    assert held.as_mapping()["answers"] == "constrained"
    assert "answers" not in free.as_mapping()
    ask = Episode(free, 0).ask
    assert ask is not None
    assert ask.chat.answer is None
    script = ("task=disaster", "task.policy=random")
    assert made(*script).identity == made(*script, HELD).identity
    assert made(*script, HELD).factors["settings"] == "default"
