"""Who sees and hears what: readings, reports, messages, and what the others did."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from world_episodes import Made

from plenum.base.errors import UserError
from plenum.calls.chat import Reply
from plenum.calls.conversation import Ask
from plenum_worlds import information
from plenum_worlds.communication import LOST, Hearing, find_heard
from plenum_worlds.draws import Draws
from plenum_worlds.episode import Episode, make_world
from plenum_worlds.prompts import WorldRemark
from plenum_worlds.registry import build_world
from plenum_worlds.settings import Information

pytestmark = pytest.mark.slow

TASKS = ("disaster", "misinformation", "public_goods")
SEVERAL: dict[str, dict[str, Any]] = {
    "disaster": {"most": 9, "initial_least": 9, "initial_most": 9},
    "misinformation": {"initial_least": 20, "initial_most": 20},
    "public_goods": {},
}
"""Worlds in which there is enough to see."""


def asked(condition: Any, text: Callable[[Ask, Any], dict[str, Any]]) -> tuple[list[Ask], Episode]:
    """Every call of a run, and the run; ``text`` gives what stands beside a legal action."""
    episode, asks, world = Episode(condition, 0), [], make_world(condition)
    while (ask := episode.ask) is not None:
        asks.append(ask)
        episode.answer(Reply(json.dumps({world.key: world.example, **text(ask, world)}), 1, 1))
    return asks, episode


@pytest.mark.parametrize(
    ("hears", "expected"),
    [
        ("all", ((1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2))),
        ("ring", ((1, 3), (0, 2), (1, 3), (0, 2))),
        ("star", ((1, 2, 3), (0,), (0,), (0,))),
        ("pairs", ((1,), (0,), (3,), (2,))),
        ([[2, 2], [], [1, 3], [4, 1]], ((1,), (), (0,), (0,))),
    ],
)
def test_a_topology_says_whom_each_agent_hears(hears: Any, expected: Any) -> None:
    assert find_heard(hears, 4) == expected


@pytest.mark.parametrize("hears", ["circle", [[1]], [[1], [2], [3], [5]], [1, 2, 3, 4], 3, None])
def test_another_topology_is_refused(hears: Any) -> None:
    with pytest.raises(UserError, match=r"task\.information\.hears"):
        find_heard(hears, 4)


def test_two_agents_alone_in_every_topology() -> None:
    for hears in ("all", "ring", "star", "pairs"):
        assert find_heard(hears, 2) == ((1,), (0,))
        assert find_heard(hears, 1) == ((),)


@pytest.mark.parametrize("view", [20, 2])
def test_a_message_reaches_its_listeners_alone(made: Made, view: int) -> None:
    hears = "task.information.hears=[[2],[3],[],[1,2]]"
    condition = made("task=disaster", "task.agents=4", "rounds=2", f"task.view={view}", hears)

    def named(ask: Ask, _: Any) -> dict[str, Any]:
        number = int(ask.seat.split()[1])
        return {"action": [number, 0], "message": f"word{number}"}

    asks, episode = asked(condition, named)
    expected = {1: {1, 2}, 2: {2, 3}, 3: {3}, 4: {4, 1, 2}}
    for ask in asks[4:]:
        text = ask.chat.messages[1].content
        heard = {n for n in range(1, 5) if f"word{n}" in text}
        mine = expected[int(ask.seat.split()[1])]
        assert heard <= mine
        if view == 20 and (ask.kind == "action" or ask.round > 1):
            assert heard == mine
        # nor is a proposal counted out whose agent isn't heard
        assert all(f"[{n},0] x" not in text for n in {1, 2, 3, 4} - mine)
    assert all("action" in spoken for spoken in episode.rounds[0]["spoken"])


def test_words_and_proposals_are_lost_in_their_share() -> None:
    """4000 words and 400 proposals: three standard errors are 0.022 and 0.07."""
    draws, words = Draws(("lost",)), " ".join(f"w{n}" for n in range(10))
    hearing = Hearing(find_heard("all", 2), 1000, 0.3, draws)
    for turn in range(400):
        hearing.say(0, turn, WorldRemark(1, "Drone 1", [1, 1], words))
    assert {remark.message for remark in hearing.remarks(0)} == {words}
    got = hearing.remarks(1)
    assert_allclose(np.mean([r.message.split().count(LOST) for r in got]) / 10, 0.3, atol=0.022)
    assert_allclose(np.mean([r.action is None for r in got]), 0.3, atol=0.07)
    kept = [dict(zip(words.split(), r.message.split(), strict=True)) for r in got]
    assert all(now in (word, LOST) for each in kept for word, now in each.items())


@pytest.mark.parametrize("task", TASKS)
def test_the_defaults_change_no_byte_of_what_is_seen(task: str) -> None:
    world, draws = build_world(task, 3, **SEVERAL[task]), Draws((task, 0))
    state = world.start(draws)
    shared = world.report(state, draws, 1)
    for agent in range(3):
        usual = Information()
        assert information.describe_known(world, state, draws, 1, usual, agent) == world.describe(
            state, agent
        )
        assert information.reports(world, state, draws, 1, usual, agent, shared) == shared


@pytest.mark.parametrize("task", TASKS)
def test_private_reports_err_for_each_agent_alone_about_one_truth(task: str) -> None:
    """Of each agent's statements a fifth isn't plain, and agents disagree on which."""
    world, private = build_world(task, 2, **SEVERAL[task]), Information(reports="private")
    kinds, both, tested = [], 0, 0
    for seed in range(120):
        draws = Draws((task, seed))
        state = world.start(draws)
        shared = world.report(state, draws, 1)
        got = [
            information.reports(world, state, draws, 1, private, agent, shared) for agent in (0, 1)
        ]
        kinds += [s.kind != "plain" for each in got for s in each]
        if task != "misinformation":  # there each agent hears of other nodes, too
            both += sum(a.kind != "plain" and b.kind != "plain" for a, b in zip(*got, strict=True))
            tested += len(got[0])
            plain = [a.text == b.text for a, b in zip(*got, strict=True) if a.kind == b.kind]
            assert all(
                a.text == b.text for a, b in zip(*got, strict=True) if a.kind == b.kind == "plain"
            ), plain
    assert_allclose(np.mean(kinds), 0.2, atol=0.06)
    assert both <= 0.1 * tested  # 0.04 where they err independently, 0.2 where together


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("share", [0.0, 0.4])
def test_sight_and_reach_are_shares_of_what_there_is(task: str, share: float) -> None:
    world, partial = (
        build_world(task, 2, **SEVERAL[task]),
        Information(sight=share, delivered=share),
    )
    seen, there, got, sent = 0, 0, 0, 0
    for seed in range(200):
        draws = Draws((task, seed))
        state = world.start(draws)
        shared = world.report(state, draws, 1)
        sent += len(shared)
        got += len(information.reports(world, state, draws, 1, partial, 0, shared))
        text = information.describe_known(world, state, draws, 1, partial, 0)
        assert text.endswith(information.PARTIAL)
        if task == "public_goods":
            seen, there = seen + 2 - text.count("unknown"), there + 2
        else:
            mark = "reported severity" if task == "disaster" else "(since round"
            seen, there = seen + text.count(mark), there + world.describe(state, 0).count(mark)
    assert_allclose([seen / there, got / sent], share, atol=0.09 if share else 0)


def test_what_reached_each_agent_is_journalled_where_it_differs(made: Made) -> None:
    given = ("task=disaster", "task.agents=3", "rounds=2")
    usual = asked(made(*given), lambda *_: {})[1]
    assert "received" not in usual.rounds[0]
    private = ("task.information.reports=private", "task.information.delivered=0.5")
    asks, episode = asked(made(*given, *private), lambda *_: {})
    for record in episode.rounds:
        for number, statements in enumerate(record["received"], 1):
            (text, *_) = {
                ask.chat.messages[1].content.partition("## What is known")[0]
                for ask in asks
                if ask.round == record["round"] and ask.seat == f"Drone {number}"
            }
            assert text.count("\n- ") == max(len(statements), 1)
            assert all(s["text"] in text for s in statements)
    # the truth behind it is the same world's
    assert [r["state"] for r in episode.rounds] == [r["state"] for r in usual.rounds]


@pytest.mark.parametrize(("task", "shown"), [("disaster", "] 3"), ("public_goods", "7.5, 7.5")])
def test_what_the_others_did_can_be_hidden(made: Made, task: str, shown: str) -> None:
    given = (f"task={task}", "task.agents=3", "rounds=2", "task.turns=0")
    action = {"disaster": [3, 3], "public_goods": 7.5}[task]
    texts = {}
    for acts in ("shown", "hidden"):
        condition = made(*given, f"task.information.acts={acts}")
        asks, _ = asked(condition, lambda ask, world: {world.key: action})
        texts[acts] = [a.chat.messages[1].content for a in asks if a.round == 2]
    assert all(shown in text for text in texts["shown"])
    assert not any(shown in text for text in texts["hidden"])
    mine = {"disaster": "Yours: [3,3]", "public_goods": "Yours: 7.5"}[task]
    assert all(mine in text and "isn't shown" in text for text in texts["hidden"])


def test_which_nodes_were_checked_can_be_hidden(made: Made) -> None:
    hidden = made("task=misinformation", "rounds=2", "task.information.acts=hidden")
    asks, _ = asked(hidden, lambda *_: {"target_nodes": [41, 42]})
    assert all("last round: not shown." in ask.chat.messages[1].content for ask in asks)


def test_it_is_part_of_the_identity_and_named(made: Made) -> None:
    usual = made("task=disaster", "task.agents=3")
    for override, named in (
        ("task.information.sight=0.5", "sight=0.5"),
        ("task.information.lost=0.1", "lost=0.1"),
        ("task.information.reports=private", "reports=private"),
        ("task.information.acts=hidden", "acts=hidden"),
        ("task.information.hears=star", "hears=star"),
        ("task.information.hears=[[2],[1,3],[2]]", "hears=2/1,3/2"),
        ("task.answer=action_first", "answer=action_first"),
        ("+task.pinned.2=saboteur", "pinned=2:saboteur"),
    ):
        other = made("task=disaster", "task.agents=3", override)
        assert other.factors["settings"] == named
        assert other.identity != usual.identity
    ring = made("task=disaster", "task.agents=3", "task.information.hears=ring")
    assert (ring.identity, ring.factors["settings"]) == (usual.identity, "default")
    scripted = ("task=disaster", "task.policy=random")
    assert made(*scripted, "task.information.sight=0.5").identity == made(*scripted).identity


def test_a_pinned_role_takes_one_seat_and_leaves_the_others(made: Made) -> None:
    for task in TASKS:
        given = (f"task={task}", "diversity=medium", "task.agents=5")
        usual, pinned = made(*given), made(*given, "+task.pinned.4=saboteur")
        roles = [agent.role for agent in usual.agents]
        assert [agent.role for agent in pinned.agents] == [*roles[:3], "saboteur", roles[4]]
        assert "secretly" in pinned.agents[3].brief
        alone = made(f"task={task}", "task.agents=1", "+task.pinned.1=saboteur")
        assert alone.agents[0].role == "saboteur"


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("+task.pinned.6=saboteur", "task.pinned: 6; the agents are 1 to 5"),
        ("+task.pinned.2=pirate", "task.pinned.2: unknown role 'pirate'"),
        ("task.information.sight=1.5", "task.information.sight: 1.5 is not allowed"),
        ("task.information.reports=own", "task.information.reports: 'own' is not one of"),
        ("task.answer=none", "task.answer: 'none' is not one of"),
        ("task.information.hears=web", "task.information.hears: 'web' is not one of"),
    ],
)
def test_what_cannot_work_is_refused(made: Made, override: str, told: str) -> None:
    with pytest.raises(UserError) as refused:
        made("task=disaster", override)
    assert told in str(refused.value)
