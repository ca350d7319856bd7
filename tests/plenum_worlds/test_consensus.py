"""Consensus mechanisms: from proposals to actions, and how ties are broken."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from world_episodes import Play

from plenum_worlds.consensus import MECHANISMS, WorldDecision, explicit, list_assigned, read_plan
from plenum_worlds.draws import Draws
from plenum_worlds.registry import build_world

DRAWS = Draws(("consensus", 0, 0))
A, B, C = (1, 1), (2, 2), (3, 3)
SPREAD, HEAP = (A, B, C), (A, A, A)


@pytest.mark.parametrize(
    ("mechanism", "task", "proposals", "actions"),
    [
        ("implicit", "disaster", [A, None, B], (A, None, B)),
        ("explicit", "disaster", [A, B, B, None, C], (B,) * 5),
        ("explicit", "misinformation", [(1, 2, 3), (2, 3, 4), (3, 4, 5), None], ((2, 3, 4),) * 4),
        ("explicit", "misinformation", [(5,), (4, 6)], ((4, 5, 6),) * 2),  # no tie within places
        ("explicit", "misinformation", [(), ()], ((), ())),
        ("explicit", "public_goods", [0.0, 6.0, 8.0, None], (6.0,) * 4),  # the median
        ("explicit", "public_goods", [0.0, 6.0, 8.0, 12.0], (7.0,) * 4),
        ("mean", "public_goods", [0.0, None, 9.0], (4.5,) * 3),
        ("plan", "disaster", [SPREAD, HEAP, SPREAD], SPREAD),
        ("plan", "disaster", [SPREAD, None, None], SPREAD),
        ("manager", "disaster", [B, A, A], (B,) * 3),
        ("manager", "disaster", [None, A, A], (None,) * 3),  # its silence binds, too
        ("unanimity", "disaster", [A, A, A], (A,) * 3),
        ("unanimity", "disaster", [A, A, B], (None,) * 3),
        ("unanimity", "disaster", [A, A, None], (None,) * 3),
        # where nobody proposes, nobody acts
        *((name, "public_goods", [None] * 3, (None,) * 3) for name in MECHANISMS),
    ],
)
def test_a_mechanism_turns_proposals_into_actions(
    mechanism: str, task: str, proposals: list[Any], actions: tuple[Any, ...]
) -> None:
    world = build_world(task, len(proposals))
    decided = MECHANISMS[mechanism](world, proposals, DRAWS, 1, world.start(DRAWS))
    assert decided == WorldDecision(actions, False)


@pytest.mark.parametrize(
    ("mechanism", "task", "proposals", "outcomes"),
    [
        ("explicit", "disaster", [A, A, B, B], {A, B}),
        # at the cut among the tied nodes only
        ("explicit", "misinformation", [(1, 7), (1, 8, 9)], {(1, 7, 8), (1, 7, 9), (1, 8, 9)}),
        ("plan", "disaster", [SPREAD, HEAP, None], {SPREAD, HEAP}),
    ],
)
def test_a_tie_is_drawn_evenly_and_seeded_and_on_the_record(
    mechanism: str, task: str, proposals: list[Any], outcomes: set[Any]
) -> None:
    world, decide = build_world(task, len(proposals)), MECHANISMS[mechanism]
    begun = world.start(DRAWS)
    found = [decide(world, proposals, Draws(("c", seed)), 1, begun) for seed in range(200)]
    assert all(decision.tied for decision in found)
    won = Counter(d.actions if mechanism == "plan" else d.actions[0] for d in found)
    assert won.keys() == outcomes
    assert min(won.values()) > 0.75 * 200 / len(outcomes)
    turned = [decide(world, proposals[::-1], Draws(("c", seed)), 1, begun) for seed in range(200)]
    assert turned == found  # the order of the proposals doesn't matter


def test_a_plan_needs_one_legal_action_for_every_agent() -> None:
    world = build_world("disaster", 3)
    assert read_plan(world, [[1, 1], [2, 2], [3, 3]]) == SPREAD
    with pytest.raises(ValueError, match="plan is no list of 3 actions"):
        read_plan(world, [[1, 1], [2, 2]])
    with pytest.raises(ValueError, match="plan for agent 1: action needs two whole numbers"):
        read_plan(world, [[1, 1], [2, 10], [3, 3]])
    assert list_assigned([SPREAD, None, (A, A, B)]) == [A, None, B]


@settings(max_examples=25)
@given(
    st.lists(st.none() | st.floats(0, 12), min_size=1, max_size=9),
    st.lists(st.lists(st.integers(0, 49), max_size=3, unique=True), min_size=1, max_size=9),
)
def test_merged_actions_stay_legal(paid: list[float | None], sets: list[list[int]]) -> None:
    world = build_world("public_goods", len(paid))
    for name in ("explicit", "mean", "manager", "unanimity", "implicit"):
        for action in MECHANISMS[name](world, paid, DRAWS, 1, world.start(DRAWS)).actions:
            assert action is None or world.read(action) == action
    world = build_world("misinformation", len(sets))
    read = [world.read(nodes) for nodes in sets]
    merged = explicit(world, read, DRAWS, 1, world.start(DRAWS)).actions[0]
    assert world.read(merged) == merged
    proposed = {node for nodes in sets for node in nodes}
    assert set(merged or ()) <= proposed
    assert len(merged or ()) == min(3, len(proposed))


def test_the_record_says_when_a_tie_was_broken(play: Play) -> None:
    forced = ("task=disaster", "consensus=explicit", "task.agents=2", "rounds=3")
    episode = play(*forced, actions=lambda round: [A, B])
    assert [record["tied"] for record in episode] == [True] * 3
    assert all(record["actions"][0] == record["actions"][1] for record in episode)
    assert [record["proposals"] for record in episode] == [[[1, 1], [2, 2]]] * 3
    calm = play(*forced, "task.policy=all_to_worst")
    assert not any(record["tied"] for record in calm)
