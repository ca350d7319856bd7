"""Conversion of a composed config to a condition in a world, with one-line refusals."""

import dataclasses
import json
import math
import re
from collections.abc import Mapping
from typing import Any

import yaml

from plenum.design.compose import choose_reading, complete_backend, prompt_text, role_text
from plenum.design.ranges import require, require_one_of
from plenum.design.schema import Config, ScenarioConfig
from plenum.design.settings import Protocol
from plenum_worlds.communication import find_heard
from plenum_worlds.condition import AGENTS, CENTRAL, Texts, WorldAgent, WorldCondition
from plenum_worlds.consensus import MECHANISMS, PROMPTED, SCRIPT
from plenum_worlds.registry import WORLDS, build_world, find_world
from plenum_worlds.settings import (
    ANSWER_FORMS,
    ConsensusConfig,
    DiversityConfig,
    Information,
    RulesConfig,
    VolatilityConfig,
    WorldTaskConfig,
)
from plenum_worlds.world import World

PLAN_MARGIN = 40
"""Tokens for an answer with a plan in addition to its actions."""
ANALYSIS = 80
"""Tokens for an analysis that precedes a plan."""

_PIECES = re.compile(r"\d|\],?| ?\[|[^\d]")
"""Pieces into which a tokenizer splits numbers and brackets, at most; some join several digits."""
_ONE_OF = re.compile(r"You are \$name, [^.]*?\bone of \$units\b")
_OF_WORLDS = {"answers", "reading", "argument_words", "window"}
"""Settings of the protocol that may stand in a world: ``argument_words`` comes with small models,
and the last one is refused under a name of its own."""
_FOLDER = "conf/prompts/worlds"


def compose_world(typed: Config) -> WorldCondition:
    """Return the condition of a config with a task.

    Raises
    ------
    UserError
        A value is unknown, out of range, or applies only to committees.
    """
    check_world(typed)
    consensus, volatility = (
        typed.find(ConsensusConfig).name,
        typed.find(VolatilityConfig).name,
    )
    task, name = typed.find(WorldTaskConfig), typed.task.name
    usual = _usual(typed)
    numbers = {**usual, **task.world}
    world = build_world(name, task.agents, **numbers)
    if task.policy == AGENTS and consensus in ("plan", CENTRAL):
        _refuse_cut_plans(typed, world)
    acting = agents(typed)
    called = [agent.model for agent in acting] if task.policy == AGENTS else []
    backend, weights = complete_backend(typed.backend, called, typed.model)
    return WorldCondition(
        task=name,
        numbers=tuple(sorted(numbers.items())),
        changed=_list_changed(name, usual, task.world),
        rules=task.rules.name,
        volatility=volatility,
        consensus=consensus,
        diversity=typed.find(DiversityConfig).name,
        policy=task.policy,
        units=task.agents,
        agents=acting,
        turns=0 if consensus == CENTRAL else task.turns,
        view=task.view,
        runs=task.runs,
        texts=_texts(name, consensus, task.rules.name),
        answer=task.answer,
        answers=typed.protocol.answers,
        pinned=tuple((n, acting[n - 1].role) for n in sorted(_pin(task.pinned, len(acting)))),
        hears=find_heard(task.information.hears, task.agents)[: len(acting)],
        information=_name(task.information, task.agents),
        model=typed.model.name,
        sampling=typed.sampling,
        backend=backend,
        rounds=typed.rounds,
        seed=typed.seed,
        weights=weights,
        rerun=typed.rerun,
        reading=choose_reading(typed.protocol, backend) if task.policy == AGENTS else "strict",
    )


def agents(typed: Config) -> tuple[WorldAgent, ...]:
    """Return the agents that are asked: one per unit, or one for all units.

    Roles are assigned in turn, and so are the models of a mixed model. The models are shifted by
    one whenever both sequences would repeat together, so that no role always has the same model. An
    agent that acts alone has no role, since a baseline would otherwise have the first one. A pinned
    role replaces the agent's own.
    """
    task, name = typed.find(WorldTaskConfig), typed.task.name
    alone = typed.find(ConsensusConfig).name == CENTRAL or task.agents == 1
    dealt = [] if alone else typed.find(DiversityConfig).roles.get(name, [])
    roles = [(role, _brief(f"diversity.roles.{name}", name, role)) for role in dealt] or [("", "")]
    models = [m for m in typed.model.seats.values() if m] or [typed.model.default or ""]
    require(bool(models[0]), "model.default: the agents have no model; set model.default")
    count = 1 if typed.find(ConsensusConfig).name == CENTRAL else task.agents
    pinned = {
        number: (role, _brief(f"task.pinned.{number}", name, role))
        for number, role in _pin(task.pinned, count).items()
    }
    together = math.lcm(len(roles), len(models))
    return tuple(
        WorldAgent(
            f"{find_world(name).agent_name} {number + 1}",
            *pinned.get(number + 1, roles[number % len(roles)]),
            model=models[(number + number // together) % len(models)],
        )
        for number in range(count)
    )


def _name(information: Information, agents: int) -> Information:
    """Convert lists of who hears whom to a text without spaces, such as ``2/1,3/2``.

    A list in which all hear all becomes the name of that topology.
    """
    hears = information.hears
    if find_heard(hears, agents) == find_heard("all", agents):
        hears = "all"
    elif not isinstance(hears, str):
        hears = "/".join(",".join(map(str, each)) for each in hears)
    return dataclasses.replace(information, hears=hears)


def _pin(roles: Mapping[Any, str | None], count: int) -> dict[int, str]:
    """Return the pinned roles by the number of their agent."""
    allowed = {str(number): number for number in range(1, count + 1)}
    for key in roles:
        require(str(key) in allowed, f"task.pinned: {key}; the agents are 1 to {count}")
    return {allowed[str(key)]: role for key, role in roles.items() if role}


def _brief(key: str, task: str, role: str) -> str:
    return role_text(key, f"{_FOLDER}/{task}", role)


def plan_tokens(world: World[Any, Any], answer: str) -> int:
    """Return the tokens of the longest possible plan, with a margin.

    If an analysis precedes the plan, tokens for it are included.
    """
    form = json.dumps({"plan": [world.longest] * world.agents})
    return len(_PIECES.findall(form)) + PLAN_MARGIN + (ANALYSIS if answer == ANSWER_FORMS[0] else 0)


def _refuse_cut_plans(typed: Config, world: World[Any, Any]) -> None:
    """Refuse a limit that cuts every plan: all agents would abstain, at twice the calls."""
    most, enough = (
        typed.sampling.max_tokens,
        plan_tokens(world, typed.find(WorldTaskConfig).answer),
    )
    mechanism = typed.find(ConsensusConfig).name
    require(
        enough <= most,
        f"consensus: {mechanism} needs longer answers for {world.agents} units than "
        f"sampling.max_tokens={most}; sampling.max_tokens={enough} is enough",
    )


def _usual(typed: Config) -> dict[str, Any]:
    """Return the numbers that volatility and rules set; the task's own override them."""
    rules, level = (
        typed.find(WorldTaskConfig).rules,
        typed.find(VolatilityConfig).name,
    )
    by_volatility = typed.find(VolatilityConfig).world.get(typed.task.name, {})
    return {**by_volatility, **rules.world, **rules.volatility.get(level, {})}


def _list_changed(
    name: str, usual: Mapping[str, Any], world: Mapping[str, Any]
) -> tuple[tuple[str, Any], ...]:
    """Return the world's numbers that differ from both the default and the usual ones."""
    known = {field.name: field.default for field in dataclasses.fields(find_world(name).settings)}
    known |= usual
    return tuple(sorted((key, value) for key, value in world.items() if value != known[key]))


def check_world(typed: Config) -> None:
    """Refuse values that no world accepts.

    Raises
    ------
    UserError
        A value is unknown, out of range, or applies only to committees.
    """
    task, mechanism = (
        typed.find(WorldTaskConfig),
        typed.find(ConsensusConfig).name,
    )
    require_one_of("task.name", task.name, ("none", *WORLDS))
    require_one_of("consensus", mechanism, (*MECHANISMS, CENTRAL))
    world = build_world(task.name, task.agents)
    averaging = (name for name in WORLDS if build_world(name, 1).averages)
    require(
        mechanism != "mean" or world.averages,
        f"consensus: mean is for task={', '.join(averaging)}, not for {task.name}",
    )
    require_one_of("task.policy", task.policy, (AGENTS, *find_world(task.name).policies))
    require(
        task.policy == AGENTS or mechanism not in ("plan", CENTRAL, PROMPTED, SCRIPT),
        f"consensus: {mechanism} needs agents that are asked, not task.policy={task.policy}",
    )
    require(
        typed.replicates % task.runs == 0,
        f"replicates: {typed.replicates}; they are episodes times task.runs={task.runs}",
    )
    _refuse_committees(typed)


def _refuse_committees(typed: Config) -> None:
    """Refuse settings that have no effect in a world."""
    require(
        typed.perturbation.name == "none",
        f"perturbation: {typed.perturbation.name} is for committees, not for a task",
    )
    for key, name, usual in (
        ("scenario", typed.scenario.id, ScenarioConfig.id),
        ("roles", typed.roles.name, "on"),
        ("roles.agents", typed.roles.agents, None),
        ("prompts", typed.prompts.name, "plenum"),
        ("memory", f"k{typed.protocol.window}", "k15"),
    ):
        require(name == usual, f"{key}: {name} is for committees, not for a task")
    require(typed.branch.after_round is None, "branch: it is for committees, not for a task")
    alone = typed.protocol.exchange == "none"
    require(not alone, "protocol: one_shot is for committees; use task.turns=0")
    # Whatever else the protocol has, or will have, is refused here rather than without effect.
    for key in vars(typed.protocol).keys() - _OF_WORLDS:
        value, usual = getattr(typed.protocol, key), getattr(Protocol, key)
        require(value == usual, f"protocol.{key}: {value} is for committees, not for a task")


def _texts(task: str, consensus: str, rules: str) -> Texts:
    """Return the texts of a task; rules other than the usual ones have their own preamble."""
    texts: dict[str, Any] = yaml.safe_load(_text("tasks.yml"))
    decide = texts[consensus]
    if isinstance(decide, dict):
        decide = decide.get(f"{task}_{rules}", decide.get(task))
        missing = f"consensus: {_FOLDER}/tasks.yml has no text of {consensus} for {task}"
        require(decide is not None, missing)
    usual = rules == RulesConfig.name
    preamble = _text(f"{task}/preamble.txt" if usual else f"{task}/preamble_{rules}.txt")
    if consensus == CENTRAL:
        preamble = _ONE_OF.sub("You are $name, in command of every one of $units", preamble)
    return Texts(
        preamble=preamble,
        discuss=texts.get(f"discuss_{consensus}", texts["discuss"]),
        decide=decide,
    )


def _text(file: str) -> str:
    return prompt_text("task", f"{_FOLDER}/{file}")
