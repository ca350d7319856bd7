"""What all worlds share: series, action distributions, summaries, and speed."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from world_episodes import Play

from plenum.dynamics import divergence
from plenum.worlds import WORLDS, action_distribution, build, definition, mean_deviation, summary

NAMES = sorted(WORLDS)
ACTIONS: dict[str, Any] = {
    "disaster": st.tuples(st.integers(0, 9), st.integers(0, 9)),
    "misinformation": st.lists(st.integers(0, 49), max_size=3, unique=True),
    "public_goods": st.floats(0, 12),
}


@pytest.mark.parametrize(
    ("name", "size"), [("disaster", 101), ("misinformation", 51), ("public_goods", 11)]
)
@given(data=st.data())
def test_a_distribution_always_lies_on_the_same_simplex(
    name: str, size: int, data: st.DataObject
) -> None:
    actions = data.draw(st.lists(st.none() | ACTIONS[name], min_size=1, max_size=9))
    found = action_distribution(build(name, len(actions)), actions)
    assert found.shape == (size,)
    assert (found >= 0).all()
    assert_allclose(found.sum(), 1)


def test_a_distribution_puts_each_agents_weight_where_it_acts() -> None:
    cells = action_distribution(build("disaster", 4), [[0, 1], [0, 1], [9, 9], None])
    assert (cells[1], cells[99], cells[100]) == (0.5, 0.25, 0.25)
    nodes = action_distribution(build("misinformation", 4), [[3], [3, 4], [], None])
    assert (nodes[3], nodes[4], nodes[50]) == (0.375, 0.125, 0.5)
    paid = action_distribution(build("public_goods", 4), [0, 1.2, 12, None])
    assert (paid[0], paid[1], paid[9], paid[10]) == (0.25, 0.25, 0.25, 0.25)


@pytest.mark.parametrize("name", NAMES)
def test_a_round_in_which_nobody_acts_is_a_vertex_of_its_own(name: str) -> None:
    found = action_distribution(build(name, 3), [None] * 3)
    assert (found[-1], found[:-1].sum()) == (1.0, 0.0)


@pytest.mark.parametrize("name", NAMES)
def test_replicates_make_an_ensemble_that_the_instability_estimates_take(
    play: Play, name: str
) -> None:
    scripted = (f"task={name}", "task.policy=random", "task.agents=4", "rounds=6")
    world = build(name, 4)
    ensemble = np.array(
        [
            [action_distribution(world, r["actions"]) for r in play(*scripted, replicate=n)]
            for n in range(4)
        ]
    )
    spread = divergence(ensemble)
    assert spread.shape == (6,)
    assert (spread > 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_every_policy_and_mechanism_gives_an_episode_whose_records_are_plain(
    play: Play, name: str
) -> None:
    world = build(name, 3)
    for policy in definition(name).policies:
        for mechanism in ("implicit", "explicit", "manager", "unanimity"):
            scripted = (f"task={name}", f"task.policy={policy}", f"consensus={mechanism}")
            episode = play(*scripted, "task.agents=3", "rounds=5", "volatility=high")
            assert json.loads(json.dumps(episode)) == episode
            assert [record["round"] for record in episode] == [*range(1, len(episode) + 1)]
            assert play(*scripted, "task.agents=3", "rounds=5", "volatility=high") == episode
            assert summary(world, episode).keys() > {"deviation_actions", "ties", "idle"}


@pytest.mark.parametrize("name", NAMES)
def test_metrics_are_the_same_from_records_that_went_through_json(play: Play, name: str) -> None:
    world = build(name, 4)
    episode = play(f"task={name}", "task.policy=random", "task.agents=4", "rounds=8")
    stored = json.loads(json.dumps(episode))
    assert_allclose([*summary(world, stored).values()], [*summary(world, episode).values()])


@pytest.mark.parametrize("name", NAMES)
def test_performance_is_coverage_the_share_not_misinformed_and_funding(
    play: Play, name: str
) -> None:
    world = build(name, 4)
    episode = play(f"task={name}", "task.policy=random", "task.agents=4", "rounds=12")
    found, numbers = world.performance(episode), summary(world, episode)
    expected = {
        "disaster": lambda n: n["coverage"],
        "misinformation": lambda n: 1 - n["mean_spread"],
        "public_goods": lambda n: n["provision_rate"],
    }[name](numbers)
    assert found.shape == (len(episode),)
    assert_allclose(np.nanmean(found), expected)


def test_abstentions_count_proposals_and_idle_counts_actions(play: Play) -> None:
    world = build("disaster", 3)
    episode = play(
        *("task=disaster", "task.agents=3", "rounds=2", "consensus=unanimity"),
        actions=lambda round: [(1, 1), (2, 2), None] if round == 1 else [(1, 1)] * 3,
    )
    numbers = summary(world, episode)
    assert (numbers["abstentions"], numbers["idle"]) == (1, 3)
    apart = [[mean_deviation(world, r[of]) for r in episode] for of in ("actions", "proposals")]
    assert_allclose(apart, [[np.nan, 0], [1, 0]])
