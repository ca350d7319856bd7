"""Reference policies: what they do, from what an agent sees."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from world_episodes import LEVELS, VOLATILITY, Play

from plenum.base.errors import UserError
from plenum.worlds import WORLDS, Draws, build, definition
from plenum.worlds.disaster.metrics import summary
from plenum.worlds.disaster.policies import all_to_worst, greedy_assignment, to_nearest
from plenum.worlds.misinformation.policies import divided, highest_degree, most_recent
from plenum.worlds.public_goods.policies import covered_free_rider, fair_share

POLICIES = {name: definition(name).policies for name in WORLDS}
DRAWS = Draws(("policies", 0))


def grid(
    n: int,
    *burning: tuple[list[int], int],
    own: list[int] | None = None,
    reduction: int = 3,
    most: int | None = None,
) -> list[Any]:
    """Views of ``n`` drones."""
    disasters = [{"cell": cell, "severity": severity} for cell, severity in burning]
    limits = {"grid": 10, "reduction": reduction, "reduction_most": most}
    view = {"agents": n, **limits, "disasters": disasters, "own": own}
    return [{**view, "agent": i} for i in range(n)]


def network(n: int, since: dict[int, int], degrees: list[int]) -> list[Any]:
    """Views of ``n`` defenders."""
    suspected = [{"node": k, "since": v, "neighbours": None} for k, v in since.items()]
    view = {"checks": 2, "nodes": len(degrees), "degrees": degrees, "suspected": suspected}
    return [{**view, "agent": i} for i in range(n)]


def test_all_drones_go_to_the_worst_reported_disaster() -> None:
    views = grid(3, ([1, 1], 4), ([2, 2], 9), ([3, 3], 9))
    assert all_to_worst(views, DRAWS, 1) == [(2, 2)] * 3


def test_the_greedy_assignment_covers_first_and_then_goes_where_most_is_left() -> None:
    views = grid(5, ([1, 1], 10), ([2, 2], 2), ([3, 3], 5))
    found = greedy_assignment(views, DRAWS, 1)
    assert found == [(1, 1), (3, 3), (2, 2), (1, 1), (1, 1)]
    even = grid(4, ([1, 1], 6), ([2, 2], 5))
    assert greedy_assignment(even, DRAWS, 1) == [
        (1, 1),
        (2, 2),
        (1, 1),
        (2, 2),
    ]


def test_the_greedy_assignment_wastes_no_drone_where_a_disaster_can_lose_no_more() -> None:
    burning = (([1, 1], 10), ([2, 2], 5))
    one_each = greedy_assignment(grid(4, *burning, most=3), DRAWS, 1)
    assert one_each == [(1, 1), (2, 2), (1, 1), (1, 1)]  # 10 stays 7 after its first drone
    room = greedy_assignment(grid(5, *burning, reduction=2, most=3), DRAWS, 1)
    assert room == [(1, 1), (2, 2), (1, 1), (2, 2), (1, 1)]


def test_each_drone_goes_to_the_nearest_disaster() -> None:
    burning = (([0, 0], 3), ([9, 9], 10), ([0, 2], 8))
    assert to_nearest(grid(1, *burning, own=[7, 7]), DRAWS, 1) == [(9, 9)]
    assert to_nearest(grid(1, *burning, own=[0, 1]), DRAWS, 1) == [(0, 2)]  # the worse
    assert to_nearest(grid(1, *burning), DRAWS, 1) == [(9, 9)]  # from the middle: 8


@pytest.mark.parametrize("name", ["all_to_worst", "greedy_assignment", "to_nearest"])
def test_drones_wait_in_the_middle_while_nothing_burns(name: str) -> None:
    assert POLICIES["disaster"][name](grid(2), DRAWS, 1) == [(5, 5)] * 2


def test_defenders_check_the_best_connected_or_the_latest_suspects() -> None:
    views = network(3, {0: 1, 1: 5, 2: 2, 4: 5}, degrees=[9, 1, 7, 8, 2])
    assert highest_degree(views, DRAWS, 1) == [(0, 2)] * 3
    assert most_recent(views, DRAWS, 1) == [(1, 4)] * 3
    assert divided(views, DRAWS, 1) == [(0, 2), (1, 4), ()]


def test_random_policies_are_seeded_legal_and_different_between_agents() -> None:
    for name in POLICIES:
        world = build(name, 30)
        begun = world.start(DRAWS)
        views = [world.view(begun, agent) for agent in range(30)]
        found = POLICIES[name]["random"](views, DRAWS, 1)
        assert [world.read(action) for action in found] == found
        assert len(set(found)) > 15
        assert POLICIES[name]["random"](views, DRAWS, 1) == found
        assert POLICIES[name]["random"](views, DRAWS, 2) != found


def test_a_fair_share_never_exceeds_what_an_agent_may_pay() -> None:
    views = [{"threshold": 30.0, "most": 12.0}] * 2
    assert fair_share(views, DRAWS, 1) == [12.0, 12.0]
    assert fair_share(views * 2, DRAWS, 1) == [7.5] * 4
    assert covered_free_rider(views * 2, DRAWS, 1) == [
        0.0,
        10.0,
        10.0,
        10.0,
    ]


def test_a_covered_free_rider_alone_pays_nothing() -> None:
    views = [{"threshold": 30.0, "most": 12.0}]
    assert covered_free_rider(views, DRAWS, 1) == [0.0]


def test_part_of_the_papers_gap_is_mechanical(play: Play) -> None:
    """The same rational proposals, forced onto one cell, cover less and cost reward."""
    capped = ("task=disaster", "volatility=high", "task.world.reduction_most=3")
    settings = definition("disaster").settings(reduction_most=3)
    free, forced = (
        [
            summary(play(*capped, "task.policy=greedy_assignment", way, replicate=n), settings)
            for n in range(20)
        ]
        for way in ("consensus=implicit", "consensus=explicit")
    )
    assert_allclose([numbers["coverage"] for numbers in free], 1.0)
    assert np.mean([numbers["coverage"] for numbers in forced]) < 0.75
    assert all(f["net_reward"] >= g["net_reward"] for f, g in zip(free, forced, strict=True))


@pytest.mark.parametrize(
    ("name", "agents", "numbers", "message"),
    [
        ("disasters", 5, {}, "task=disasters: there are disaster, misinformation, public_goods"),
        ("disaster", 0, {}, "agents=0: allowed are values from 1 to 10000"),
        ("disaster", 5, {"spwan": 0.1}, "disaster.spwan: there are grid, most, initial_least"),
    ],
)
def test_an_unknown_world_or_setting_is_told_in_one_line(
    name: str, agents: int, numbers: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=f"^{message}"):
        build(name, agents, **numbers)


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ({"spawn": "abc"}, "disaster.spawn=abc: allowed are numbers"),
        ({"spawn": None}, "disaster.spawn=null: allowed are numbers"),
        ({"spawn": True}, "disaster.spawn=true: allowed are numbers"),
        ({"alpha": float("nan")}, "disaster.alpha=NaN: allowed are numbers"),
        ({"grid": 3.5}, "disaster.grid=3.5: allowed are whole numbers"),
        ({"crowd": 1.5}, "disaster.crowd=1.5: allowed are whole numbers"),
        ({"initial_most": 2.5}, "disaster.initial_most=2.5: allowed are whole numbers"),
        ({"reduction": True}, "disaster.reduction=true: allowed are whole numbers"),
        ({"reduction_most": "3"}, "disaster.reduction_most=3: allowed are null and whole numbers"),
        ({"spawn_when_calm": 1}, "disaster.spawn_when_calm=1: allowed are true and false"),
        ({"high": "a\nb"}, "disaster.high=a\\nb: allowed are whole numbers"),
        ({"most": [1, 2]}, "disaster.most=[1, 2]: allowed are whole numbers"),
    ],
)
def test_a_setting_of_another_kind_is_told_in_one_line(setting: dict[str, Any], told: str) -> None:
    with pytest.raises(UserError) as refused:
        build("disaster", 5, **setting)
    assert str(refused.value) == told


def test_settings_of_their_kind_are_taken() -> None:
    assert build("disaster", 5, spawn=1, reduction_most=None, spawn_when_calm=True)
    assert build("disaster", 5, reduction_most=3, alpha=2)
    for name in WORLDS:
        defaults = {f.name: f.default for f in fields(definition(name).settings)}
        assert build(name, 5, **defaults) == build(name, 5)


@pytest.mark.parametrize("name", WORLDS)
def test_every_level_of_volatility_sets_known_keys_and_moderate_is_the_default(name: str) -> None:
    for level in LEVELS:
        numbers = VOLATILITY[name][level]
        assert (build(name, 5, **numbers) == build(name, 5)) == (level == "moderate")
