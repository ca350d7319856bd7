"""Constrained answers in worlds: the JSON schemas that backends enforce, and how prompts show them.

They have the members of free answers, in the same order.
"""

from collections.abc import Mapping
from typing import Any

from plenum.calls.chat import AnswerSchema, make_schema
from plenum_worlds.condition import WorldCondition
from plenum_worlds.settings import ANSWER_FORMS
from plenum_worlds.world import World, make_list_schema

PLAN = "plan"
"""The key of a choice that has an action for every unit."""

_TEXT: Mapping[str, Any] = {"type": "string"}
_LISTED = 3
"""Items of a list that are all shown; of a longer one the first is."""


def speech_schema(condition: WorldCondition, world: World[Any, Any]) -> AnswerSchema:
    """Make the schema of an answer in the discussion: analysis, proposal and message."""
    return AnswerSchema("message", _object(condition, {world.key: world.schema, "message": _TEXT}))


def choice_schema(condition: WorldCondition, world: World[Any, Any]) -> AnswerSchema:
    """Make the schema of a choice: an analysis, and one action or one for every unit."""
    if condition.assigns:
        plan = make_list_schema(world.schema, world.agents, world.agents)
        return AnswerSchema("plan", _object(condition, {PLAN: plan}))
    return AnswerSchema("action", _object(condition, {world.key: world.schema}))


def _object(condition: WorldCondition, members: Mapping[str, Any]) -> dict[str, Any]:
    analysis = {"analysis": _TEXT}
    first = condition.answer == ANSWER_FORMS[0]
    ordered = {**analysis, **members} if first else {**members, **analysis}
    return make_schema(**ordered)


def blank(schema: Mapping[str, Any]) -> str:
    """Write an answer of a schema with ``"..."`` for texts and ``NN`` for numbers.

    Small models copy a value that they are shown, so that there is none.

    Examples
    --------
    >>> cell = make_list_schema({"type": "integer", "minimum": 0, "maximum": 9}, 2, 2)
    >>> blank(make_schema(action=cell, message={"type": "string"}))
    '{"action": [NN, NN], "message": "..."}'
    """
    if schema["type"] == "object":
        members = (f'"{key}": {blank(value)}' for key, value in schema["properties"].items())
        return f"{{{', '.join(members)}}}"
    if schema["type"] == "array":
        item, count = blank(schema["items"]), schema["minItems"]
        fixed = count == schema["maxItems"] <= _LISTED
        return f"[{', '.join([item] * count if fixed else [item, '...'])}]"
    return '"..."' if schema == _TEXT else "NN"


def settle(world: World[Any, Any], key: str, value: Any) -> Any:
    """Return the value of an answer's key as :meth:`World.settle` has it; each one of a plan."""
    if key == PLAN and isinstance(value, list):
        return [world.settle(each) for each in value]
    return world.settle(value)
