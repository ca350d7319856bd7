"""Metrics of the disaster world, by hand."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from world_episodes import Play

from plenum.worlds import Draws, build
from plenum.worlds.disaster import metrics as metrics_disaster
from plenum.worlds.disaster.metrics import Delay
from plenum.worlds.disaster.state import DisasterSettings

SETTINGS = DisasterSettings()
A, B, C, FAR = (1, 1), (2, 2), (3, 3), (9, 9)
Burning = dict[int, tuple[tuple[int, int], int]]


def record(number: int, active: Burning, actions: list[Any], after: Burning | None = None) -> Any:
    """A round by hand; without ``after`` nothing changes in it."""

    def plain(disasters: Burning) -> dict[str, Any]:
        found = [{"id": i, "cell": list(c), "severity": s} for i, (c, s) in disasters.items()]
        return {"disasters": found}

    return {
        "round": number,
        "state": plain(active),
        "after": plain(active if after is None else after),
        "actions": [None if cell is None else list(cell) for cell in actions],
        "score": 0.0,
    }


def test_coverage_is_the_share_of_disasters_with_a_drone_on_their_very_cell() -> None:
    rounds = [
        record(1, {0: (A, 5), 1: (B, 5)}, [A, A, (2, 3)]),
        record(2, {0: (A, 5), 1: (B, 5), 2: (C, 5)}, [A, B, None]),
        record(3, {}, [A, A, A]),
    ]
    assert_allclose(metrics_disaster.coverage(rounds), [0.5, 2 / 3, np.nan])
    assert_allclose(metrics_disaster.summary(rounds, SETTINGS)["coverage"], 7 / 12)


@pytest.mark.parametrize(
    ("active", "actions", "parts"),
    [
        ({0: (A, 9), 1: (B, 3)}, [A, A, A, A, FAR], (1, 2, 0)),
        ({0: (A, 9), 1: (B, 3)}, [B, B, B, B, None], (0, 2, 2)),  # each drone counts once
        ({0: (A, 9), 1: (B, 3)}, [B, B, B, A, A], (0, 0, 0)),  # all covered
        ({0: (A, 6), 1: (B, 3)}, [B, B, FAR, None, None], (1, 0, 0)),  # nothing is high
        ({0: (A, 7), 1: (B, 6)}, [B, FAR, FAR, None, None], (2, 0, 1)),
        ({0: (A, 9), 1: (B, 8)}, [B, B, B, None, None], (0, 1, 0)),  # high before high
        ({0: (A, 9), 1: (B, 3)}, [FAR] * 5, (5, 0, 0)),  # waste, and no overload besides
    ],
)
def test_a_misallocated_drone_counts_in_one_part(
    active: Burning, actions: list[Any], parts: tuple[int, int, int]
) -> None:
    found = metrics_disaster.misallocation([record(1, active, actions)], SETTINGS)
    assert (found.waste[0], found.overload[0], found.low_before_high[0]) == parts
    assert found.total[0] == sum(parts)


def test_misallocation_isnt_defined_in_a_round_without_a_disaster() -> None:
    rounds = [record(1, {}, [FAR] * 3), record(2, {0: (A, 5)}, [FAR, A, A])]
    found = metrics_disaster.misallocation(rounds, SETTINGS)
    assert_array_equal(found.total, [np.nan, 1.0])
    assert metrics_disaster.summary(rounds, SETTINGS)["misallocation"] == 1.0


def test_the_delay_counts_the_rounds_that_a_high_disaster_waits() -> None:
    rounds = [
        record(1, {0: (A, 7), 1: (B, 9)}, [A]),  # 0 at once
        record(2, {0: (A, 8), 1: (B, 9), 2: (C, 6)}, [FAR]),
        record(3, {1: (B, 9), 2: (C, 6)}, [B]),  # 1 after two rounds of waiting
    ]
    assert metrics_disaster.delays(rounds, SETTINGS) == [
        Delay(0, 1, 0, "attended"),
        Delay(1, 1, 2, "attended"),
    ]
    assert metrics_disaster.summary(rounds, SETTINGS)["response_delay"] == 1.0


def test_one_that_falls_and_rises_again_begins_a_second_episode() -> None:
    rounds = [
        record(1, {0: (A, 8)}, [A], after={0: (A, 5)}),
        record(2, {0: (A, 8)}, [FAR]),
        record(3, {0: (A, 8)}, [A], after={}),
    ]
    assert metrics_disaster.delays(rounds, SETTINGS) == [
        Delay(0, 1, 0, "attended"),
        Delay(0, 2, 1, "attended"),
    ]


def test_censored_and_dropped_delays_are_flagged_and_kept_out_of_the_mean() -> None:
    rounds = [
        record(1, {0: (A, 8), 1: (B, 7), 2: (C, 7)}, [C]),
        record(2, {0: (A, 8), 1: (B, 6)}, [FAR]),
        record(3, {0: (A, 9), 1: (B, 6)}, [B]),
    ]
    assert metrics_disaster.delays(rounds, SETTINGS) == [
        Delay(2, 1, 0, "attended"),
        Delay(1, 1, 1, "dropped"),
        Delay(0, 1, 3, "censored"),
    ]
    found = metrics_disaster.summary(rounds, SETTINGS)
    assert found["response_delay"] == 0.0
    assert (found["delays"], found["delays_censored"], found["delays_dropped"]) == (3, 1, 1)
    assert found["unattended_rounds"] == 2.0


def test_without_a_high_disaster_there_is_no_delay() -> None:
    found = metrics_disaster.summary([record(1, {0: (A, 6)}, [A])], SETTINGS)
    assert np.isnan(found["response_delay"])
    assert found["delays"] == 0


def test_a_scripted_episode_gives_the_metrics_that_a_pencil_gives(play: Play) -> None:
    """Still disasters on (0,0) of 4 and (0,1) of 8; both drones always go to (0,0), then (0,1)."""
    still = {"grid": 2, "spawn": 0.0, "severity_jump": 0, "move_probability": 0.0}
    world = build("disaster", 2, **still)
    replicate = next(
        n
        for n in range(10_000)
        if {x.cell: x.severity for x in world.start(Draws(("world", "disaster", 0, n))).disasters}
        == {(0, 0): 4, (0, 1): 8}
    )
    episode = play(
        *("task=disaster", "task.agents=2", "rounds=4"),
        *(f"++task.world.{key}={value}" for key, value in still.items()),
        replicate=replicate,
        actions=lambda round: [(0, 0) if round == 1 else (0, 1)] * 2,
    )
    # round 1: 4 falls to 0, +20, and 8 stays, -16; round 2: 8 to 2, -4; round 3: 2 to 0, +40
    assert [r["score"] for r in episode] == [20 - 16, -4, 40, 0]
    found = metrics_disaster.summary(episode, world.settings)
    assert_allclose(found["coverage"], (0.5 + 1 + 1) / 3)
    assert_allclose(found["low_before_high"], 2 / 3)  # both drones in round 1, of three rounds
    assert_allclose(found["misallocation"], 2 / 3)
    assert found["response_delay"] == 1.0
    assert found["net_reward"] == 40.0
