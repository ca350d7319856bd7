"""Prompts of agents in a world: pure functions of the round, the view and the discussion.

The same inputs give the same bytes. Another agent's words appear only as a JSON string on a line
that begins with the prompt's own text, so that they can't open a section or forge a speaker.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from string import Template
from typing import Any

from plenum.base.text import flatten
from plenum.calls.chat import Message
from plenum_worlds.answer_schemas import blank, choice_schema, speech_schema
from plenum_worlds.condition import WorldAgent, WorldCondition
from plenum_worlds.settings import ANSWER_FORMS
from plenum_worlds.world import Statement, World

REPAIR = (
    "Your previous answer could not be read ($problem). Answer with one JSON object and nothing "
    "else:\n$form"
)
_FREE = "Answer with one JSON object and nothing else:"
_HELD = (
    'Answer with one JSON object and nothing else, with your own words for "..." and numbers for '
    "NN; the analysis is your reasons, in brief"
)
_TOLD = ", and the message is what you tell the others"
SUMMED = 10
"""Number of distinct proposals of a round that are counted individually."""
MESSAGE_CHARACTERS = 2000
"""Maximal length of a message to others; a longer one is cut and ends in an ellipsis."""


@dataclass(frozen=True)
class WorldRemark:
    """An agent's contribution to a discussion: a proposal (None if unreadable) and a message."""

    round: int
    name: str
    action: Any
    message: str

    @property
    def line(self) -> str:
        """The remark as quoted in a prompt."""
        quoted = json.dumps(flatten(self.message), ensure_ascii=False)
        return f"Round {self.round}, {self.name}, {format_action(self.action)}: {quoted}"


@dataclass(frozen=True)
class AgentScene:
    """An agent's situation in a round.

    ``remarks`` are the latest ones of the discussion, at most as many as an agent may read;
    ``proposals`` are the last ones in this round of all agents that have spoken in it.
    """

    round: int
    reports: Sequence[Statement]
    known: str
    remarks: Sequence[WorldRemark]
    proposals: Sequence[Any]


def discuss(
    condition: WorldCondition, world: World[Any, Any], agent: WorldAgent, scene: AgentScene
) -> tuple[Message, ...]:
    """Return the prompt for an agent's turn to speak."""
    asked = f"{_HELD}{_TOLD}:" if condition.constrained else _FREE
    form = f"{asked}\n{speech_form(condition, world)}"
    return _messages(condition, world, agent, scene, condition.texts.discuss, form)


def decide(
    condition: WorldCondition, world: World[Any, Any], agent: WorldAgent, scene: AgentScene
) -> tuple[Message, ...]:
    """Return the prompt for an agent to act, vote or assign, by the mechanism."""
    asked = f"{_HELD}:" if condition.constrained else _FREE
    form = f"{asked}\n{choice_form(condition, world)}"
    return _messages(condition, world, agent, scene, condition.texts.decide, form)


def repair(problem: str, form: str) -> Message:
    """Return the single request that follows an unreadable answer."""
    return Message("user", Template(REPAIR).substitute(problem=problem, form=form))


def speech_form(condition: WorldCondition, world: World[Any, Any]) -> str:
    """Return the form of an answer in the discussion."""
    if condition.constrained:
        return blank(speech_schema(condition, world).schema)
    action = f'"{world.key}": {format_action(world.example)}'
    return _form(condition, action, '"message": "what you tell the others"')


def choice_form(condition: WorldCondition, world: World[Any, Any]) -> str:
    """Return the form of a choice: one action, or one for every unit."""
    if condition.constrained:
        return blank(choice_schema(condition, world).schema)
    if condition.assigns:
        example = format_action(
            [world.example] * world.agents if world.agents <= 3 else [world.example]
        )
        dots = "" if world.agents <= 3 else ", ..."
        return _form(condition, f'"plan": {example[:-1]}{dots}]')
    return _form(condition, f'"{world.key}": {format_action(world.example)}')


def _form(condition: WorldCondition, *members: str) -> str:
    """Return a form with the analysis first, as in the paper (F.2 to F.4), or last.

    If it is last, an answer that is cut off still has its action.
    """
    analysis = '"analysis": "your reasons, in brief"'
    first = condition.answer == ANSWER_FORMS[0]
    return f"{{{', '.join((analysis, *members) if first else (*members, analysis))}}}"


def format_action(action: Any) -> str:
    """Format an action for prompts."""
    return "no proposal" if action is None else json.dumps(action, separators=(",", ":"))


def shorten(message: str) -> str:
    """Return the part of a message that others get."""
    if len(message) <= MESSAGE_CHARACTERS:
        return message
    return f"{message[: MESSAGE_CHARACTERS - 1]}…"


def _messages(
    condition: WorldCondition,
    world: World[Any, Any],
    agent: WorldAgent,
    scene: AgentScene,
    task: str,
    form: str,
) -> tuple[Message, ...]:
    parts = [
        f"## Round {scene.round} of {condition.rounds}",
        f"## Reports\n{_reports(scene.reports)}",
        f"## What is known\n{scene.known}",
        f"## Discussion\n{_discussion(scene)}",
        f"## Your task\nYou are {agent.name}. {task}\n{form}",
    ]
    return (
        Message("system", _system(condition, world, agent)),
        Message("user", "\n\n".join(parts)),
    )


def _system(condition: WorldCondition, world: World[Any, Any], agent: WorldAgent) -> str:
    """Return the preamble with the world's settings filled in, such as ``$crowd``, and the role."""
    numbers = {field.name: getattr(world.settings, field.name) for field in fields(world.settings)}
    context = {"name": agent.name, "units": condition.units, "rounds": condition.rounds}
    text = Template(condition.texts.preamble).safe_substitute({**numbers, **context})
    return f"{text}\n\n{agent.brief}" if agent.brief else text


def _reports(statements: Sequence[Statement]) -> str:
    """Return one line per statement, without its kind."""
    return "\n".join(f"- {s.text}" for s in statements) or "- No reports this round."


def _discussion(scene: AgentScene) -> str:
    if not scene.remarks:
        return "Nobody has said anything."
    lines = [remark.line for remark in scene.remarks]
    now = len({remark.name for remark in scene.remarks if remark.round == scene.round})
    if len(scene.proposals) > now:
        counted = Counter(format_action(action) for action in scene.proposals).most_common()
        counted.sort(key=lambda item: (-item[1], item[0]))
        tally = "; ".join(f"{action} x {count}" for action, count in counted[:SUMMED])
        lines.insert(0, f"Proposals in this round, also those not quoted here: {tally}")
    return "\n".join(lines)
