"""What all worlds share: series, action distributions, summaries, and speed."""

import json
from time import process_time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from plenum.dynamics import divergence
from plenum.worlds import (
    MECHANISMS,
    POLICIES,
    VOLATILITY,
    Draws,
    abstentions,
    action_distribution,
    build,
    deviations,
    distributions,
    performance,
    play,
    summary,
)

NAMES = sorted(VOLATILITY)
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
def test_replicates_make_an_ensemble_that_the_instability_estimates_take(name: str) -> None:
    world = build(name, 4)
    ensemble = np.array(
        [
            distributions(world, play(world, POLICIES[name]["random"], Draws((name, 0, r)), 6))
            for r in range(4)
        ]
    )
    spread = divergence(ensemble)
    assert spread.shape == (6,)
    assert (spread > 0).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", ["low", "moderate", "high"])
def test_every_policy_and_mechanism_gives_an_episode_whose_records_are_plain(
    name: str, level: str
) -> None:
    world = build(name, 3, **VOLATILITY[name][level])
    for policy in POLICIES[name].values():
        for mechanism in ("implicit", "explicit", "manager", "unanimity"):
            draws = Draws((name, 1, 0))
            episode = play(world, policy, draws, 5, MECHANISMS[mechanism])
            assert json.loads(json.dumps(episode)) == episode
            assert [record["round"] for record in episode] == [*range(1, len(episode) + 1)]
            assert play(world, policy, draws, 5, MECHANISMS[mechanism]) == episode
            assert summary(world, episode).keys() > {"deviation_actions", "ties", "idle"}


@pytest.mark.parametrize("name", NAMES)
def test_metrics_are_the_same_from_records_that_went_through_json(name: str) -> None:
    world = build(name, 4)
    episode = play(world, POLICIES[name]["random"], Draws((name, 2, 0)), 8)
    stored = json.loads(json.dumps(episode))
    assert_allclose([*summary(world, stored).values()], [*summary(world, episode).values()])


def test_performance_is_coverage_the_share_not_misinformed_and_funding() -> None:
    for name in NAMES:
        world = build(name, 4)
        episode = play(world, POLICIES[name]["random"], Draws((name, 5, 0)), 12)
        found, numbers = performance(world, episode), summary(world, episode)
        expected = {
            "disaster": lambda n: n["coverage"],
            "misinformation": lambda n: 1 - n["mean_spread"],
            "public_goods": lambda n: n["provision_rate"],
        }[name](numbers)
        assert found.shape == (len(episode),)
        assert_allclose(np.nanmean(found), expected)


def test_abstentions_count_proposals_and_idle_counts_actions() -> None:
    world = build("disaster", 3)

    def torn(views: Any, draws: Draws, round: int) -> list[Any]:
        return [(1, 1), (2, 2), None] if round == 1 else [(1, 1)] * 3

    episode = play(world, torn, Draws(("d", 0)), 2, MECHANISMS["unanimity"])
    numbers = summary(world, episode)
    assert (numbers["abstentions"], numbers["idle"]) == (1, 3)
    assert abstentions(episode).tolist() == [1, 0]
    assert abstentions(episode, "actions").tolist() == [3, 0]
    assert_allclose(deviations(world, episode), [np.nan, 0])
    assert_allclose(deviations(world, episode, "proposals"), [1, 0])


@pytest.mark.parametrize("name", NAMES)
def test_a_hundred_agents_for_twenty_rounds_take_well_under_a_second(name: str) -> None:
    world = build(name, 100, **VOLATILITY[name]["high"])
    play(world, POLICIES[name]["random"], Draws((name, 0)), 1)  # imports once
    begun = process_time()
    summary(world, play(world, POLICIES[name]["random"], Draws((name, 1)), 20))
    assert process_time() - begun < 1
