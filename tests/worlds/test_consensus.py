"""Consensus mechanisms: from proposals to actions, and how ties are broken."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from world_episodes import Play

from plenum.worlds import MECHANISMS, Decision, Draws, build
from plenum.worlds.consensus import (
    assigned_actions,
    explicit,
    implicit,
    manager,
    mean,
    plan,
    read_plan,
    unanimity,
)

DRAWS = Draws(("consensus", 0, 0))
A, B, C = (1, 1), (2, 2), (3, 3)


def drones(n: int) -> Any:
    return build("disaster", n)


def defenders(n: int) -> Any:
    return build("misinformation", n)


def payers(n: int) -> Any:
    return build("public_goods", n)


def test_implicit_leaves_everybody_its_own_action() -> None:
    assert implicit(drones(3), [A, None, B], DRAWS, 1) == Decision((A, None, B), False)


def test_explicit_sends_all_drones_to_the_most_frequent_cell() -> None:
    assert explicit(drones(5), [A, B, B, None, C], DRAWS, 1) == Decision((B,) * 5, False)


def test_a_tie_of_cells_is_drawn_evenly_and_seeded_and_said() -> None:
    world = drones(4)
    found = [explicit(world, [A, A, B, B], Draws(("c", seed)), 1) for seed in range(400)]
    assert all(decision.tied for decision in found)
    won = Counter(decision.actions[0] for decision in found)
    assert won.keys() == {A, B}
    assert 160 < won[A] < 240  # four standard errors
    again = [explicit(world, [B, A, B, A], Draws(("c", seed)), 1) for seed in range(400)]
    assert again == found  # the order of the proposals doesn't matter


def test_explicit_checks_the_nodes_with_most_votes() -> None:
    world = defenders(4)
    proposals = [(1, 2, 3), (2, 3, 4), (3, 4, 5), None]
    votes = Counter({3: 3, 2: 2, 4: 2, 1: 1, 5: 1})
    decision = explicit(world, proposals, DRAWS, 1)
    assert decision == Decision((tuple(n for n, _ in sorted(votes.most_common(3))),) * 4, False)


def test_a_tie_at_the_cut_is_drawn_among_the_tied_nodes_only() -> None:
    world = defenders(2)
    found = [explicit(world, [(1, 7), (1, 8, 9)], Draws(("c", s)), 1) for s in range(600)]
    assert all(decision.tied for decision in found)
    pairs = Counter(decision.actions[0] for decision in found)
    assert pairs.keys() == {(1, 7, 8), (1, 7, 9), (1, 8, 9)}
    assert min(pairs.values()) > 150  # 200 expected


def test_equal_votes_within_the_places_are_no_tie() -> None:
    assert explicit(defenders(2), [(5,), (4, 6)], DRAWS, 1) == Decision(((4, 5, 6),) * 2, False)
    assert explicit(defenders(2), [(), ()], DRAWS, 1) == Decision(((), ()), False)


def test_explicit_has_everybody_pay_the_median_proposal() -> None:
    assert explicit(payers(4), [0.0, 6.0, 8.0, None], DRAWS, 1) == Decision((6.0,) * 4)
    assert explicit(payers(4), [0.0, 6.0, 8.0, 12.0], DRAWS, 1) == Decision((7.0,) * 4)


def test_mean_has_everybody_pay_the_mean_proposal() -> None:
    assert mean(payers(3), [0.0, None, 9.0], DRAWS, 1) == Decision((4.5,) * 3)


def test_plan_gives_every_agent_its_part_of_the_most_frequent_plan() -> None:
    world = drones(3)
    spread, heap = (A, B, C), (A, A, A)
    assert plan(world, [spread, heap, spread], DRAWS, 1) == Decision(spread, False)
    assert plan(world, [spread, None, None], DRAWS, 1) == Decision(spread, False)
    torn = {plan(world, [spread, heap, None], Draws(("c", s)), 1) for s in range(50)}
    assert torn == {Decision(spread, True), Decision(heap, True)}


def test_a_plan_needs_one_legal_action_for_every_agent() -> None:
    world = drones(3)
    assert read_plan(world, [[1, 1], [2, 2], [3, 3]]) == (A, B, C)
    assert read_plan(payers(2), [3, 4.5]) == (3.0, 4.5)
    with pytest.raises(ValueError, match="plan is no list of 3 actions"):
        read_plan(world, [[1, 1], [2, 2]])
    with pytest.raises(ValueError, match="plan for agent 1: action needs two whole numbers"):
        read_plan(world, [[1, 1], [2, 10], [3, 3]])
    assert assigned_actions([(A, B, C), None, (A, A, B)]) == [A, None, B]


def test_the_manager_binds_all_and_its_silence_too() -> None:
    assert manager(drones(3), [B, A, A], DRAWS, 1) == Decision((B,) * 3)
    assert manager(drones(3), [None, A, A], DRAWS, 1) == Decision((None,) * 3)


def test_unanimity_acts_only_if_all_propose_the_same() -> None:
    assert unanimity(drones(3), [A, A, A], DRAWS, 1) == Decision((A,) * 3)
    for proposals in ([A, A, B], [A, A, None], [None] * 3):
        assert unanimity(drones(3), proposals, DRAWS, 1) == Decision((None,) * 3)


@pytest.mark.parametrize("name", sorted(MECHANISMS.keys() - {"mean"}))
def test_where_nobody_proposes_nobody_acts(name: str) -> None:
    assert MECHANISMS[name](drones(3), [None] * 3, DRAWS, 1) == Decision((None,) * 3)
    assert MECHANISMS["mean"](payers(3), [None] * 3, DRAWS, 1) == Decision((None,) * 3)


@given(st.lists(st.none() | st.floats(0, 12), min_size=1, max_size=9))
def test_merged_contributions_stay_legal(proposals: list[float | None]) -> None:
    world = payers(len(proposals))
    for name in ("explicit", "mean", "manager", "unanimity", "implicit"):
        for action in MECHANISMS[name](world, proposals, DRAWS, 1).actions:
            assert action is None or world.read(action) == action


@given(st.lists(st.lists(st.integers(0, 49), max_size=3, unique=True), min_size=1, max_size=9))
def test_merged_node_sets_stay_legal_and_within_what_was_proposed(sets: list[list[int]]) -> None:
    world = defenders(len(sets))
    proposals = [world.read(nodes) for nodes in sets]
    merged = explicit(world, proposals, DRAWS, 1).actions[0]
    assert merged is not None
    assert world.read(merged) == merged
    proposed = {node for nodes in sets for node in nodes}
    assert set(merged) <= proposed
    assert len(merged) == min(3, len(proposed))


def test_the_record_says_when_a_tie_was_broken(play: Play) -> None:
    forced = ("task=disaster", "consensus=explicit", "task.agents=2", "rounds=3")
    episode = play(*forced, actions=lambda round: [A, B])
    assert [record["tied"] for record in episode] == [True] * 3
    assert all(record["actions"][0] == record["actions"][1] for record in episode)
    assert [record["proposals"] for record in episode] == [[[1, 1], [2, 2]]] * 3
    calm = play(*forced, "task.policy=all_to_worst")
    assert not any(record["tied"] for record in calm)
