"""From a composed config with a task to a condition: defaults, names, identity, refusals."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from plenum.base.errors import UserError
from plenum.design.job import Job
from plenum_worlds.compose import PLAN_MARGIN, plan_tokens
from plenum_worlds.condition import WorldCondition
from plenum_worlds.registry import build_world

pytestmark = pytest.mark.slow

TASKS = ("disaster", "misinformation", "public_goods")
Make = Callable[..., Job]


def made(job: Make, *overrides: str) -> WorldCondition:
    condition = job(*overrides).condition
    assert isinstance(condition, WorldCondition)
    return condition


@pytest.mark.parametrize("task", TASKS)
def test_a_task_brings_the_usual_study_sampling_and_no_settings(job: Make, task: str) -> None:
    found = job(f"task={task}")
    condition = made(job, f"task={task}")
    assert (found.study, found.replicates) == (task, 5)
    assert (condition.sampling.temperature, condition.sampling.max_tokens) == (0.7, 256)
    assert (condition.factors["settings"], condition.factors["world"]) == ("default", "usual")


def test_numbers_off_the_usual_ones_are_named(job: Make) -> None:
    condition = made(
        job, "task=disaster", "task.world.reduction_most=3", "+task.world.move_period=1"
    )
    assert condition.factors["world"] == "move_period=1 reduction_most=3"
    assert condition.factors["settings"] == "move_period=1 reduction_most=3"
    high = made(job, "task=disaster", "volatility=high", "+task.world.move_period=1")
    assert high.world == "usual"  # what the volatility sets anyway
    for task in TASKS:
        assert made(job, f"task={task}", "volatility=high").world == "usual"


def test_what_agents_read_and_how_they_answer_is_named(job: Make) -> None:
    condition = made(job, "task=disaster", "task.view=5", "sampling.max_tokens=400")
    assert condition.factors["settings"] == "max_tokens=400 view=5"
    assert condition.factors["world"] == "usual"
    scripted = made(job, "task=disaster", "task.view=5", "task.policy=random")
    assert scripted.factors["settings"] == "default"


def test_every_role_of_a_mixed_team_meets_every_model(job: Make) -> None:
    team = ("task=disaster", "task.agents=24", "diversity=high", "model=gpt-4o-mix")
    agents = made(job, *team).agents
    roles, models = {a.role for a in agents}, {a.model for a in agents}
    assert (len(roles), len(models)) == (6, 2)
    assert {(a.role, a.model) for a in agents} == {(r, m) for r in roles for m in models}
    assert [sum(a.model == model for a in agents) for model in sorted(models)] == [12, 12]


def test_who_acts_is_in_the_identity_and_the_label_of_the_world_is_not(job: Make) -> None:
    plain = made(job, "task=disaster")
    assert made(job, "task=disaster", "task.agents=6").identity != plain.identity
    assert made(job, "task=disaster", "diversity=high").identity != plain.identity
    assert made(job, "task=disaster", "study=another").identity == plain.identity


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("alone", [("consensus=central",), ("task.agents=1", "task.turns=0")])
def test_who_acts_alone_has_no_role(job: Make, task: str, alone: tuple[str, ...]) -> None:
    condition = made(job, f"task={task}", "diversity=high", *alone)
    (agent,) = condition.agents
    assert (agent.role, agent.brief) == ("", "")
    identical = made(job, f"task={task}", "diversity=identical", *alone)
    assert condition.identity == identical.identity
    assert condition.cell != identical.cell


@pytest.mark.parametrize("task", TASKS)
def test_one_agent_for_all_units_is_told_so(job: Make, task: str) -> None:
    preamble = made(job, f"task={task}", "consensus=central").texts.preamble
    assert preamble.startswith("You are $name, in command of every one of $units ")
    usual = made(job, f"task={task}").texts.preamble
    assert preamble.partition("$units")[2] == usual.partition("$units")[2]


@pytest.mark.parametrize("consensus", ["plan", "central"])
@pytest.mark.parametrize(("task", "agents"), [("disaster", 100), ("misinformation", 30)])
def test_an_answer_too_short_for_a_plan_is_refused(
    job: Make, task: str, agents: int, consensus: str
) -> None:
    given = (f"task={task}", f"task.agents={agents}", f"consensus={consensus}")
    with pytest.raises(UserError, match="needs longer answers") as refused:
        job(*given)
    told = re.search(r"sampling.max_tokens=(\d+) is enough", str(refused.value))
    assert told
    enough = int(told[1])
    made(job, *given, f"sampling.max_tokens={enough}")
    with pytest.raises(UserError):
        job(*given, f"sampling.max_tokens={enough - 1}")
    assert made(job, f"task={task}", f"task.agents={agents}").consensus == "implicit"


@pytest.mark.parametrize(
    ("task", "action", "tokens"),
    [("disaster", [9, 9], 6), ("misinformation", [41, 42, 43], 9), ("public_goods", 11.25, 5)],
)
def test_what_is_enough_for_a_plan_holds_for_every_tokenizer(
    task: str, action: object, tokens: int
) -> None:
    """``tokens`` an action is what GPT-4's tokenizer makes; others take every digit by itself."""
    enough = plan_tokens(build_world(task, 30), "action_first")
    digits = sum(map(str.isdigit, json.dumps([action] * 30)))
    assert 30 * tokens < enough - PLAN_MARGIN
    assert digits < enough - PLAN_MARGIN
    assert enough < 30 * tokens * 2


@pytest.mark.long
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("study", ["world_single", "world_controls"])
def test_studies_of_one_agent_and_of_controls_compose(
    job: Make, root: Path, study: str, task: str
) -> None:
    text = (root / f"src/plenum_worlds/conf/experiment/{study}.yaml").read_text()
    sweep = yaml.safe_load(text)["hydra"]["sweeper"]["params"]
    for consensus in str(sweep.get("consensus", "implicit")).split(","):
        given = (f"+experiment={study}", f"task={task}", f"consensus={consensus}")
        condition = made(job, *given)
        assert (condition.task, condition.consensus, condition.rounds) == (task, consensus, 20)
        assert (len(condition.agents) == 1) == (study == "world_single" or consensus == "central")


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (["consensus=explicit"], "consensus: explicit is for worlds; add task="),
        (["volatility=high"], "volatility: high is for worlds"),
        (["task=disaster", "roles=off"], "roles: off is for committees"),
        (["task=disaster", "protocol=one_shot"], "protocol: one_shot is for committees"),
        (["task=disaster", "protocol.order=random"], "protocol.order: random is for committees"),
        (["task=disaster", "roles.agents=10"], "roles.agents: 10 is for committees"),
        (["task=disaster", "consensus=mean"], "consensus: mean is for task=public_goods"),
        (["task=disaster", "task.agents=0"], "task.agents: 0 is not allowed; it must be 1 to 100"),
        (["task=disaster", "task.policy=fair_share"], "task.policy: 'fair_share' is not one of"),
        (["task=disaster", "task.world.spawn=2"], "spawn"),
        (["task=disaster", "+task.world.colour=3"], "disaster.colour: there are grid"),
        (["task=disaster", "task.runs=3"], "replicates: 5; they are episodes times task.runs=3"),
        (["task=disaster", "task.policy=random", "consensus=plan"], "needs agents that are asked"),
        (["task=disaster", "model.name=tiny"], "model.name: tiny, but"),
    ],
)
def test_what_cannot_work_is_refused(job: Make, overrides: list[str], told: str) -> None:
    with pytest.raises(UserError) as refused:
        job(*overrides)
    assert told in str(refused.value)
