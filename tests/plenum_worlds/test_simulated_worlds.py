"""Simulated agents in the worlds: their answers are legal, repeatable, and follow the docs."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from numpy.testing import assert_allclose

from plenum.calls.chat import Chat, Reply
from plenum.calls.conversation import Ask
from plenum.calls.simulated import SimulatedBackend
from plenum.design.job import Job
from plenum.design.settings import Simulated
from plenum_worlds import answers, prompts, simulated_agents
from plenum_worlds.condition import WorldAgent, WorldCondition
from plenum_worlds.consensus import read_plan
from plenum_worlds.disaster.world import Disaster, DisasterState
from plenum_worlds.episode import Episode, make_world
from plenum_worlds.misinformation.world import MisinformationState
from plenum_worlds.prompts import AgentScene, WorldRemark
from plenum_worlds.public_goods.world import PublicGoodsState
from plenum_worlds.registry import find_world

pytestmark = pytest.mark.long

TASKS = ("disaster", "misinformation", "public_goods")
MECHANISMS = ("implicit", "explicit", "prompted", "plan", "manager", "unanimity", "central")
EVERY = [(t, m) for t in TASKS for m in MECHANISMS] + [("public_goods", "mean")]
BINDING = [(t, m) for t, m in EVERY if m in ("explicit", "manager", "unanimity", "mean")]
CALM = Simulated(noise=0)

Make = Callable[..., WorldCondition]


@pytest.fixture
def made(job: Callable[..., Job]) -> Make:
    def composed(*overrides: str) -> WorldCondition:
        condition = job(*overrides).condition
        assert isinstance(condition, WorldCondition)
        return condition

    return composed


def answered(chat: Chat, knobs: Simulated = CALM) -> str:
    return asyncio.run(SimulatedBackend(knobs).attempt(chat, 1)).reply.text


def read(condition: WorldCondition, ask: Ask, text: str) -> answers.ParsedAnswer[Any]:
    """An answer, as the episode reads it."""
    world = make_world(condition)
    if condition.assigns and ask.kind.startswith("action"):
        return answers.parse_agent_answer(text, "plan", lambda value: read_plan(world, value))
    return answers.parse_agent_answer(text, world.key, world.read)


async def play(
    condition: WorldCondition, knobs: Simulated, most: int = 10_000
) -> tuple[list[tuple[Ask, str]], Episode]:
    """The calls of a run and their answers, at most so many of them, and the run."""
    backend, episode, told = SimulatedBackend(knobs), Episode(condition, 0), []
    while (ask := episode.ask) is not None and len(told) < most:
        told.append((ask, (await backend.attempt(ask.chat, 1)).reply.text))
        episode.answer(Reply(told[-1][1], 1, 1))
    return told, episode


@pytest.mark.parametrize(
    ("task", "mechanism", "agents"),
    [(t, m, n) for t, m in EVERY for n in (1, 5)] + [(t, "plan", 100) for t in TASKS],
)
def test_every_answer_is_legal_in_every_world_and_mechanism(
    made: Make, task: str, mechanism: str, agents: int
) -> None:
    rounds = 6 if agents < 100 else 1
    given = (f"task={task}", f"consensus={mechanism}", f"task.agents={agents}", "diversity=high")
    condition = made(*given, f"rounds={rounds}", "sampling.max_tokens=4000")
    most = 102 if agents == 100 else 10_000  # two plans of a hundred units are enough
    told, episode = asyncio.run(play(condition, Simulated(), most))
    assert len(told) == min(most, condition.calls)
    for ask, text in told:
        found = read(condition, ask, text)
        assert not found.cut
        assert bool(found.message) == (ask.kind == "message")
    if agents < 100:
        assert episode.end is not None
        assert episode.end["metrics"]["abstentions"] == 0


def test_small_grids_and_odd_limits_bring_no_illegal_answer(made: Make) -> None:
    for given in (
        ("task=disaster", "task.world.grid=3", "consensus=unanimity"),
        ("task=public_goods", "task.world.most=7.999"),
        ("task=public_goods", "task.world.most=2000000", "diversity=high"),
        ("task=misinformation", "task.world.nodes=4", "task.world.initial_most=3"),
    ):
        told, episode = asyncio.run(play(made(*given, "rounds=8"), Simulated()))
        assert not [ask for ask, _ in told if ask.kind.endswith("repair")]
        assert episode.end is not None


@pytest.mark.parametrize("task", TASKS)
def test_without_noise_and_temperature_the_calls_seed_has_no_effect_on_actions(
    made: Make, task: str
) -> None:
    several = ("task.world.initial_least=3",) if task == "disaster" else ()
    condition = made(f"task={task}", *several, "task.turns=0", "rounds=1", "temperature=t0")
    ask = Episode(condition, 0).ask
    assert ask is not None

    def found(knobs: Simulated, temperature: float) -> set[str]:
        chats = [replace(ask.chat, seed=n, temperature=temperature) for n in range(40)]
        return {str(read(condition, ask, answered(chat, knobs)).action) for chat in chats}

    assert len(found(CALM, 0.0)) == 1
    assert len(found(CALM, 5.0)) > 1
    assert len(found(Simulated(noise=1), 0.0)) > 1


@pytest.mark.parametrize("task", TASKS)
def test_roles_part_the_agents(made: Make, task: str) -> None:
    """What agents of one role propose before anybody has spoken is the same; of many, it isn't."""
    kinds = {}
    for diversity in ("identical", "low", "high"):
        given = (f"task={task}", f"diversity={diversity}", "task.turns=0", "temperature=t0")
        # more than one thing to choose from in the first round
        more = ("task.world.initial_least=3",) if task == "disaster" else ()
        more += ("task.world.false_alarm=0.3",) if task == "misinformation" else ()
        condition = made(*given, *more, "task.agents=6", "rounds=1")
        told, _ = asyncio.run(play(condition, CALM))
        kinds[diversity] = len({str(read(condition, *one).action) for one in told})
    assert kinds["identical"] == kinds["low"] == 1
    assert kinds["high"] > 1


def test_the_brief_of_every_role_has_a_phrase_that_gives_its_weights(root: Path) -> None:
    texts = root.glob("src/plenum_worlds/conf/prompts/worlds/*/*.txt")
    files = [f for f in texts if not f.stem.startswith("preamble")]
    assert len(files) == 24
    for file in files:
        acting, brief = find_world(file.parent.name).acting, file.read_text(encoding="utf-8")
        (given,) = (weights for phrase, weights in acting.traits.items() if phrase in brief)
        assert acting.weights(brief.strip()) == given
    assert_allclose(find_world("disaster").acting.weights(""), (1, 0.780, 0.418), atol=5e-4)


def test_the_docs_give_the_constants(root: Path) -> None:
    text = (root / "docs/simulated-backend.md").read_text(encoding="utf-8")
    for name in ("CROWD", "FOLLOW", "REFERS"):
        assert f"| {name} | {getattr(simulated_agents, name)} |" in text


STATES: dict[str, Any] = {
    # a disaster that is a little worse than another one
    "disaster": DisasterState((Disaster(0, (2, 2), 7, 7), Disaster(1, (7, 7), 6, 6)), (None,) * 5),
    # node 0 has four neighbours, node 4 has three
    "misinformation": MisinformationState(
        ((0, 1), (0, 2), (0, 3), (0, 4), (4, 5), (4, 6)), "MUUUMUU", (), (1, 0, 0, 0, 1, 0, 0), 9
    ),
    "public_goods": PublicGoodsState(30.0, 100.0, 30.0, 100.0, 9),
}
BETTER: dict[str, Any] = {"disaster": [2, 2], "misinformation": [0], "public_goods": 6.0}
WORSE: dict[str, Any] = {"disaster": [7, 7], "misinformation": [4], "public_goods": 8.0}
ROLE = {"disaster": "severity", "misinformation": "hubs", "public_goods": "exact"}


def choice(
    made: Make,
    task: str,
    mechanism: str,
    remarks: list[WorldRemark],
    knobs: Simulated = CALM,
    role: str = "",
    speaks: bool = False,
    state: Any = None,
) -> Any:
    """What agent 1 of five answers, without noise, to remarks in round 2."""
    few = ("task.world.nodes=7", "task.world.initial_most=3", "task.world.checks=1")
    small = few if task == "misinformation" else ()
    condition = made(f"task={task}", f"consensus={mechanism}", *small, "temperature=t0")
    world, agent = make_world(condition), condition.agents[0]
    known = world.describe(state or STATES[task], 0)
    scene = AgentScene(2, (), known, remarks, [r.action for r in remarks if r.round == 2])
    brief = Path("src/plenum_worlds/conf/prompts/worlds") / task / f"{role or ROLE[task]}.txt"
    text = (Path(__file__).parents[2] / brief).read_text(encoding="utf-8").strip()
    agent = WorldAgent(agent.name, role or ROLE[task], text, agent.model)
    step = prompts.discuss if speaks else prompts.decide
    chat = Chat(agent.model, step(condition, world, agent, scene), 0.0, 256, 7)
    key = "plan" if condition.assigns and not speaks else world.key
    return json.loads(answered(chat, knobs))[key]


def heard(condition: str, *actions: Any, round: int = 2) -> list[WorldRemark]:
    """Remarks of the others, agents 2, 3, ..., in a round."""
    title = {"disaster": "Drone", "misinformation": "Defender"}.get(condition, "Contributor")
    return [WorldRemark(round, f"{title} {n}", a, "So I say.") for n, a in enumerate(actions, 2)]


@pytest.mark.parametrize("task", ["disaster", "misinformation"])
def test_an_agent_for_itself_goes_where_the_others_dont(made: Make, task: str) -> None:
    assert choice(made, task, "implicit", []) == BETTER[task]
    crowd = heard(task, BETTER[task], BETTER[task])
    assert choice(made, task, "implicit", crowd) == WORSE[task]
    assert choice(made, task, "implicit", heard(task, WORSE[task])) == BETTER[task]


@pytest.mark.parametrize(("task", "mechanism"), [b for b in BINDING if b[0] != "public_goods"])
def test_an_agent_that_votes_for_all_follows_the_others(
    made: Make, task: str, mechanism: str
) -> None:
    crowd = heard(task, WORSE[task], WORSE[task])
    assert choice(made, task, mechanism, crowd) == WORSE[task]
    # in the discussion nothing binds: there it looks for what they leave open
    assert choice(made, task, mechanism, crowd, speaks=True) == BETTER[task]


@pytest.mark.parametrize("task", TASKS)
def test_what_isnt_said_by_others_in_this_round_doesnt_count(made: Make, task: str) -> None:
    alone = choice(made, task, "implicit", [])
    title = heard(task, None)[0].name.split()[0]
    for remarks in (
        heard(task, BETTER[task], WORSE[task], round=1),
        heard(task, None, None),
        [WorldRemark(2, f"{title} 1", WORSE[task], "My own.")],
    ):
        assert choice(made, task, "implicit", remarks) == alone
    crowd = heard(task, BETTER[task] if task != "public_goods" else 8.0)
    assert choice(made, task, "implicit", crowd, replace(CALM, coupling=0)) == alone
    assert choice(made, task, "implicit", crowd) != alone


def test_the_last_proposal_of_an_agent_counts(made: Make) -> None:
    changed = [*heard("disaster", [2, 2]), *heard("disaster", [7, 7])]
    assert choice(made, "disaster", "implicit", changed) == [2, 2]
    assert choice(made, "disaster", "implicit", changed[::-1]) == [7, 7]


@pytest.mark.parametrize(
    ("mechanism", "role", "others", "expected"),
    [
        ("implicit", "exact", [], 6.0),  # 30 / 5
        ("implicit", "altruist", [], 7.5),
        ("implicit", "minimal", [], 1.8),
        ("implicit", "exact", [8.0, 8.0], 2.0),  # 6 + (30 - 32 - 6) / 2
        ("implicit", "exact", [4.0, 6.0], 8.0),  # 6 + (30 - 20 - 6) / 2
        ("implicit", "exact", [1.0], 12.0),  # 6 + (30 - 4 - 6) / 2 = 16, cut to the most
        ("implicit", "minimal", [5.0], 2.4),  # 1.8 + 0.3 * (30 - 20 - 6) / 2
        ("explicit", "exact", [8.0, 9.0], 7.25),  # half way to 8.5
        ("manager", "exact", [8.0, 9.0], 7.25),
        ("unanimity", "exact", [8.0, 9.0], 7.25),
        ("mean", "exact", [8.0, 9.0], 7.25),
        ("explicit", "minimal", [7.8], 4.8),
        ("plan", "exact", [], [6.0, 6.0, 6.0, 6.0, 6.0]),
        # with half of the coupling: 6 + 2 / 4, 6 - 8 / 4
        ("explicit, weak", "exact", [8.0, 8.0], 6.5),
        ("implicit, weak", "exact", [8.0, 8.0], 4.0),
    ],
)
def test_amounts_are_those_of_the_documented_equations(
    made: Make, mechanism: str, role: str, others: list[float], expected: Any
) -> None:
    name, _, weak = mechanism.partition(", ")
    knobs = replace(CALM, coupling=0.5) if weak else CALM
    remarks = heard("public_goods", *others)
    assert_allclose(choice(made, "public_goods", name, remarks, knobs, role), expected)


def test_an_amount_rises_after_a_round_that_was_not_funded(made: Make) -> None:
    def after(role: str, funded: bool) -> float:
        played = replace(STATES["public_goods"], contributions=(5.0,) * 5, funded=funded)
        return float(choice(made, "public_goods", "implicit", [], role=role, state=played))

    assert_allclose([after("adaptive", True), after("adaptive", False)], [6.0, 7.8])
    assert_allclose([after("exact", True), after("exact", False)], [6.0, 6.0])


def test_a_plan_spreads_the_units(made: Make) -> None:
    """The first goes to the worst, the second elsewhere; the discussion has no say."""
    plan = choice(made, "disaster", "central", [])
    assert plan[:2] == [[2, 2], [7, 7]]
    assert Counter(map(tuple, plan)) == {(2, 2): 3, (7, 7): 2}
    crowd = heard("disaster", [2, 2], [2, 2])
    assert choice(made, "disaster", "plan", crowd) == plan


def test_places_count_by_the_documented_weights(made: Make) -> None:
    """Logistics: 2 * 0.7 - 3 * 18/18 there, 2 * 0.1 - 0 here; the medical drone goes there."""
    state = DisasterState(
        (Disaster(0, (9, 9), 7, 7), Disaster(1, (0, 0), 1, 1)), ((0, 0), *(None,) * 4)
    )
    far, near = [9, 9], [0, 0]
    for role, expected in (("logistics", near), ("medical", far), ("reserve", near)):
        assert choice(made, "disaster", "implicit", [], role=role, state=state) == expected


def test_where_nothing_burns_a_drone_stays(made: Make) -> None:
    there = DisasterState((), ((3, 4), *(None,) * 4))
    assert choice(made, "disaster", "implicit", [], state=there) == [3, 4]
    nowhere = DisasterState((), (None,) * 5)
    assert choice(made, "disaster", "implicit", [], state=nowhere) == [5, 5]
    clean = replace(STATES["misinformation"], status="U" * 7, suspected=(0,) * 7)
    assert choice(made, "misinformation", "implicit", [], state=clean) == []


def test_a_message_may_speak_of_another_agent(made: Make) -> None:
    condition = made("task=disaster", "rounds=1", "temperature=t0")
    world, agent = make_world(condition), condition.agents[0]
    known = world.describe(STATES["disaster"], 0)
    remarks = heard("disaster", [2, 2], [7, 7])

    def named(scene: AgentScene) -> set[str]:
        messages = prompts.discuss(condition, world, agent, scene)
        chats = [Chat("m", messages, 0.0, 256, seed) for seed in range(40)]
        spoken = (json.loads(answered(chat))["message"] for chat in chats)
        return {name for text in spoken for name in re.findall("Drone [0-9]+|$", text)[:1]}

    assert named(AgentScene(2, (), known, remarks, ([2, 2], [7, 7]))) == {"Drone 2", "Drone 3", ""}
    assert named(AgentScene(2, (), known, (), ())) == {""}


def test_slips_choose_any_candidate(made: Make) -> None:
    condition = made("task=disaster", "rounds=1", "temperature=t0")
    world, agent = make_world(condition), condition.agents[0]
    scene = AgentScene(2, (), world.describe(STATES["disaster"], 0), (), ())
    messages = prompts.decide(condition, world, agent, scene)
    texts = [answered(Chat("m", messages, 0.0, 256, n), Simulated(noise=1)) for n in range(40)]
    assert {str(json.loads(text)["action"]) for text in texts} == {"[2, 2]", "[7, 7]"}


@pytest.mark.parametrize(("task", "mechanism"), [*EVERY[:3], ("public_goods", "mean")])
def test_a_repair_is_answered_as_the_first_request_was(
    made: Make, task: str, mechanism: str
) -> None:
    condition = made(f"task={task}", f"consensus={mechanism}", "rounds=1", "task.agents=2")
    episode, repairs = Episode(condition, 0), 0
    while (ask := episode.ask) is not None:
        repair = ask.kind.endswith("repair")
        entry = episode.answer(Reply(answered(ask.chat) if repair else "Let me think.", 1, 1))
        repairs += repair
        assert not repair or "problem" not in entry
    assert repairs == condition.calls
    assert episode.end is not None
    assert episode.end["metrics"]["abstentions"] == 0
