"""What an agent in a world reads: its role, what is known, what was said, and no more."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from world_episodes import Made

from plenum.base.text import flatten
from plenum.calls.chat import Reply
from plenum.calls.conversation import Ask
from plenum_worlds import answers, prompts
from plenum_worlds.condition import WorldCondition
from plenum_worlds.consensus import read_plan
from plenum_worlds.draws import Draws
from plenum_worlds.episode import Episode, make_world
from plenum_worlds.prompts import AgentScene, WorldRemark
from plenum_worlds.registry import build_world
from plenum_worlds.world import Kind, Statement

pytestmark = pytest.mark.slow

TASKS = ("disaster", "misinformation", "public_goods")
MECHANISMS = ("implicit", "explicit", "prompted", "plan", "manager", "unanimity")
EVERY = [(t, m) for t in TASKS for m in MECHANISMS] + [("public_goods", "mean")]


def read_of(
    condition: WorldCondition, said: Callable[[Ask, Any], dict[str, Any]]
) -> tuple[list[Ask], Episode]:
    """Every call of a run, and the run; ``said`` gives what stands beside a legal action."""
    episode, asks = Episode(condition, 0), []
    world = make_world(condition)
    while (ask := episode.ask) is not None:
        asks.append(ask)
        given = {world.key: world.example, **said(ask, world)}
        if condition.assigns and ask.kind == "action":
            given = {"plan": [world.example] * world.agents, **said(ask, world)}
        episode.answer(Reply(json.dumps(given), 1, 1))
    return asks, episode


def texts(ask: Ask) -> tuple[str, str]:
    """The system text and the user's."""
    system, user = ask.chat.messages
    return system.content, user.content


def section(text: str, title: str) -> str:
    """What stands below a title of a prompt."""
    (found,) = [p for p in f"\n\n{text}".split("\n\n## ") if p.startswith(f"{title}\n")]
    return found.partition("\n")[2]


@pytest.mark.parametrize("task", TASKS)
def test_an_agent_reads_its_own_role_and_nobody_elses(made: Made, task: str) -> None:
    condition = made(f"task={task}", "diversity=high", "task.agents=6", "rounds=1")
    briefs = {agent.name: agent.brief for agent in condition.agents}
    assert len(set(briefs.values())) == 6
    asks, _ = read_of(condition, lambda ask, _: {"message": "x"})
    for ask in asks:
        whole = "".join(texts(ask))
        assert [name for name, brief in briefs.items() if brief in whole] == [ask.seat]
        assert f"You are {ask.seat}, " in texts(ask)[0]
        assert f"You are {ask.seat}. " in section(texts(ask)[1], "Your task")


@pytest.mark.parametrize("task", TASKS)
def test_identical_agents_read_the_same_but_for_their_name(made: Made, task: str) -> None:
    condition = made(f"task={task}", "diversity=identical", "task.turns=0", "rounds=1")
    asks, _ = read_of(condition, lambda *_: {})
    same = {"\n".join(texts(ask)).replace(ask.seat, "NAME") for ask in asks}
    assert len(asks) == 5
    assert len(same) == 1
    (text,) = same
    assert "$" not in text
    assert "of 5 " in text


@pytest.mark.parametrize(
    "first", ["analysis_first", pytest.param("action_first", marks=pytest.mark.long)]
)
@pytest.mark.parametrize(("task", "mechanism"), EVERY)
def test_the_form_that_a_prompt_shows_is_itself_a_legal_answer(
    made: Made, task: str, mechanism: str, first: str
) -> None:
    given = (f"task={task}", f"consensus={mechanism}", f"task.answer={first}")
    condition = made(*given, "task.agents=3", "rounds=1")
    world = make_world(condition)
    asks, _ = read_of(condition, lambda *_: {})
    for ask in asks:
        task_text = section(texts(ask)[1], "Your task")
        form = task_text.splitlines()[-1]
        plan = condition.assigns and ask.kind == "action"
        key, read = (
            ("plan", lambda value: read_plan(world, value)) if plan else (world.key, world.read)
        )
        found = answers.parse_agent_answer(form, key, read)
        assert not found.cut
        members = list(json.loads(form))
        assert members.index("analysis") == (0 if first == "analysis_first" else len(members) - 1)
        assert bool(found.message) == (ask.kind == "message")
        told = condition.texts.discuss if ask.kind == "message" else condition.texts.decide
        assert told in task_text


HIDDEN: dict[str, Callable[[Any], Any]] = {
    "disaster": lambda s: replace(
        s, disasters=tuple(replace(d, severity=11 - d.severity, id=d.id + 50) for d in s.disasters)
    ),
    "misinformation": lambda s: replace(
        s, status=s.status.translate(str.maketrans("UIM", "MUI")), next_injection=99
    ),
    "public_goods": lambda s: replace(
        s, threshold=s.threshold + 1.5, benefit=s.benefit - 7.25, next_shock=99
    ),
}
"""The same state with another truth behind what is seen."""


@pytest.mark.parametrize("task", TASKS)
def test_what_is_known_depends_on_nothing_that_is_hidden(task: str) -> None:
    world, draws = build_world(task, 3), Draws((task, 0))
    state = world.start(draws)
    for number in range(1, 7):
        state = world.update(state, draws, number)
        other = HIDDEN[task](state)
        assert other != state
        for agent in range(3):
            assert world.describe(other, agent) == world.describe(state, agent)
        state = world.act(state, [world.example] * 3).state


def test_reasons_and_choices_stay_with_their_agent(made: Made) -> None:
    """Analyses are private, and nobody reads another's choice before all have chosen."""
    condition = made("task=public_goods", "task.agents=4", "rounds=3")
    chosen = {f"Contributor {n}": n for n in range(1, 5)}

    def paid(number: int, round: int) -> str:
        return f"{number}.{round}7"

    def said(ask: Ask, _: Any) -> dict[str, Any]:
        if ask.kind == "message":
            return {"message": "open", "analysis": f"secret of {ask.seat}"}
        return {"contribution": float(paid(chosen[ask.seat], ask.round)), "analysis": "secret"}

    asks, _ = read_of(condition, said)
    for ask in asks:
        text = texts(ask)[1]
        assert "secret" not in text
        assert not any(paid(number, ask.round) in text for number in chosen.values())
        before = [paid(number, ask.round - 1) for number in chosen.values()]
        assert all(amount in text for amount in before) == (ask.round > 1)


@pytest.mark.parametrize("kind", ["contradictory", "incomplete"])
def test_a_statements_kind_changes_no_byte(made: Made, kind: Kind) -> None:
    condition = made("task=disaster")
    world, agent = make_world(condition), condition.agents[0]

    def read(kind: Kind) -> tuple[Any, Any]:
        scene = AgentScene(2, (Statement("Smoke at [1,2].", kind),), "Known.", (), ())
        return tuple(
            step(condition, world, agent, scene) for step in (prompts.discuss, prompts.decide)
        )

    assert read(kind) == read("plain")


@given(message=st.text(max_size=80), action=st.sampled_from([None, [1, 2], 3.5]))
def test_whatever_is_said_stays_one_quoted_line(message: str, action: Any) -> None:
    line = WorldRemark(3, "Drone 7", action, message).line
    assert len(line.splitlines()) == 1
    head = f"Round 3, Drone 7, {prompts.format_action(action)}: "
    assert line.startswith(head)
    assert json.loads(line.removeprefix(head)) == flatten(message)


def discussion(made: Made, quoted: int, proposals: list[Any]) -> list[str]:
    condition = made("task=disaster")
    remarks = [WorldRemark(1, f"Drone {n}", [n, n], "hi") for n in range(quoted)]
    scene = AgentScene(1, (), "Known.", remarks, proposals)
    found = prompts.decide(condition, make_world(condition), condition.agents[0], scene)
    return section(found[1].content, "Discussion").splitlines()


def test_proposals_beyond_the_view_are_counted_the_most_frequent_first(made: Made) -> None:
    proposals = [[4, 4]] * 3 + [[2, 2]] + [None] * 2 + [[0, 0]]
    first, *rest = discussion(made, 2, proposals)
    assert first == (
        "Proposals in this round, also those not quoted here: "
        "[4,4] x 3; no proposal x 2; [0,0] x 1; [2,2] x 1"
    )
    assert len(rest) == 2
    assert discussion(made, 2, [[n // 10, n % 10] for n in range(40)])[0].count(" x ") == 10
    # where all is quoted, nothing is counted
    assert len(discussion(made, 3, [[0, 0], [1, 1], [2, 2]])) == 3
    assert discussion(made, 0, []) == ["Nobody has said anything."]


def test_the_last_proposal_of_each_agent_is_counted_once(made: Made) -> None:
    two = ("task=disaster", "task.agents=3", "task.turns=2", "rounds=1")
    numbers = iter(range(10))
    asks, _ = read_of(made(*two, "task.view=1"), lambda ask, world: {world.key: [next(numbers), 0]})
    for ask in asks[6:]:
        counted = section(texts(ask)[1], "Discussion").splitlines()[0]
        assert counted.endswith(": [3,0] x 1; [4,0] x 1; [5,0] x 1")
    asks, _ = read_of(made(*two, "task.view=3"), lambda *_: {"message": "x"})
    assert all("Proposals in this round" not in texts(ask)[1] for ask in asks)


@pytest.mark.parametrize("task", TASKS)
def test_a_hundred_agents_read_no_more_than_the_documented_bound(made: Made, task: str) -> None:
    """View times the length of a message, a description of about 2,200, and what is fixed."""
    view, length = 20, 500
    condition = made(f"task={task}", "task.agents=100", f"task.view={view}", "rounds=2")
    numbers = iter(range(10**6))

    def said(ask: Ask, world: Any) -> dict[str, Any]:
        n = next(numbers)
        action = {"disaster": [n % 10, n // 10 % 10], "misinformation": [n % 50, (n + 7) % 50]}
        return {world.key: action.get(task, n % 1200 / 100), "message": "m" * length}

    asks, _ = read_of(condition, said)
    known = [len(section(texts(ask)[1], "What is known")) for ask in asks]
    assert max(known) < 2300
    sizes = [sum(map(len, texts(ask))) for ask in asks]
    assert max(sizes) < view * (length + 60) + 2300 + 3000
    # full views are of one size: the second round costs no more than the first one's choices
    last = [size for ask, size in zip(asks, sizes, strict=True) if ask.kind == "action"]
    assert max(last[100:]) - max(last[:100]) < 1000


def test_a_long_message_is_cut_before_anybody_reads_it(made: Made) -> None:
    condition = made("task=disaster", "task.agents=2", "rounds=2")
    asks, episode = read_of(condition, lambda *_: {"message": "," * 9_000 + "[1,0]"})
    longest = max(len(line) for ask in asks for line in texts(ask)[1].splitlines())
    assert longest < prompts.MESSAGE_CHARACTERS + 60
    assert "," * (prompts.MESSAGE_CHARACTERS - 1) + '…"' in texts(asks[-1])[1]
    assert episode.end is not None


def test_a_prompt_tells_the_physics_that_is_set(made: Made) -> None:
    def told(*overrides: str) -> str:
        asks, _ = read_of(made(*overrides, "rounds=1"), lambda *_: {})
        return " ".join("\n".join(texts(asks[0])).split())

    usual = told("task=disaster")
    assert "each takes 3 off the severity on its cell. " in usual
    assert "all beyond 2 are wasted" in usual
    other = told("task=disaster", "task.world.reduction_most=4", "task.world.crowd=3")
    assert "takes 3 off the severity on its cell, together at most 4 per disaster. " in other
    assert "all beyond 3 are wasted" in other
    assert "more than 0.8 of the nodes" in told("task=misinformation")
    assert "more than 0.5 of the nodes" in told("task=misinformation", "task.world.stop=0.5")
