"""Metrics of the misinformation world, by hand."""

from typing import Any

import numpy as np
from numpy.testing import assert_allclose
from world_episodes import Play

from plenum.worlds import Draws, build
from plenum.worlds.misinformation import metrics as metrics_misinformation
from plenum.worlds.misinformation.metrics import Containment


def record(number: int, faced: str, after: str, *actions: list[int] | None) -> Any:
    """A round by hand."""
    return {
        "round": number,
        "state": {"status": faced},
        "after": {"status": after},
        "actions": list(actions),
    }


def test_spread_is_the_share_misinformed_at_the_end_of_the_round() -> None:
    rounds = [record(1, "MMUU", "MIUU"), record(2, "MIMU", "MIMU")]
    assert_allclose(metrics_misinformation.spread(rounds), [0.25, 0.5])
    found = metrics_misinformation.summary(rounds)
    assert (found["final_spread"], found["mean_spread"]) == (0.5, 0.375)


def test_an_early_end_carries_its_spread_to_the_planned_rounds() -> None:
    rounds = [record(1, "MMUU", "MMUU"), record(2, "MMMM", "MMMM")]
    assert metrics_misinformation.summary(rounds)["mean_spread"] == 0.75
    assert metrics_misinformation.summary(rounds, planned=4)["mean_spread"] == 0.875
    assert metrics_misinformation.summary(rounds, planned=4)["rounds_played"] == 2


def test_a_cohort_is_contained_once_fewer_than_half_of_it_are_misinformed() -> None:
    rounds = [
        record(1, "MMMMUU", "IMMMUU"),  # 3 of 4
        record(2, "IMMMMU", "IIMMIU"),  # 2 of 4 is no less than half; node 4 is contained at once
        record(3, "IIMMIU", "IIIMIU"),  # 1 of 4
    ]
    assert metrics_misinformation.containments(rounds) == [
        Containment(2, 1, 0, False),
        Containment(1, 4, 2, False),
    ]
    assert metrics_misinformation.summary(rounds)["containment_time"] == 1.0


def test_a_node_that_is_misinformed_again_belongs_to_a_new_cohort() -> None:
    rounds = [
        record(1, "MMU", "IMU"),  # 1 of 2 is no less than half
        record(2, "MMU", "MIU"),  # the first cohort is gone: node 0 is a new one
        record(3, "MIU", "MIU"),
    ]
    assert metrics_misinformation.containments(rounds) == [
        Containment(1, 2, 1, False),
        Containment(2, 1, 2, True),
    ]
    found = metrics_misinformation.summary(rounds)
    assert (found["cohorts"], found["cohorts_censored"], found["uncontained_rounds"]) == (2, 1, 2)


def test_without_a_misinformed_node_there_is_no_containment_time() -> None:
    assert np.isnan(metrics_misinformation.summary([record(1, "UU", "UU")])["containment_time"])


def test_coverage_diversity_counts_different_nodes() -> None:
    rounds = [
        record(1, "U" * 9, "U" * 9, [1, 2, 3], [3, 4], None),
        record(2, "U" * 9, "U" * 9, [], None, None),
    ]
    assert_allclose(metrics_misinformation.coverage_diversity(rounds), [4, 0])


def test_a_scripted_episode_on_a_star_gives_the_numbers_that_a_pencil_gives(play: Play) -> None:
    """Three nodes, certain spread: agent 0 checks the hub in round 2 and all in round 3."""
    star = {"nodes": 3, "attachment": 2, "initial_least": 1, "initial_most": 1, "spread": 1.0}
    star |= {"stop": 1.0, "injection_probability": 0.0}
    world = build("misinformation", 1, **star)
    begun = [world.start(Draws(("world", "misinformation", 0, n))) for n in range(100)]
    hub = next(n for n, state in enumerate(begun) if state.status == "MUU")
    assert begun[hub].edges == ((0, 1), (0, 2))
    episode = play(
        *("task=misinformation", "task.agents=1", "rounds=3"),
        *(f"++task.world.{key}={value}" for key, value in star.items()),
        replicate=hub,
        actions=lambda round: [[[], [0], [0, 1, 2]][round - 1]],
    )
    assert [r["after"]["status"] for r in episode] == ["MUU", "IMM", "III"]
    assert metrics_misinformation.containments(episode) == [
        Containment(1, 1, 1, False),
        Containment(2, 2, 1, False),
    ]
    assert_allclose(metrics_misinformation.coverage_diversity(episode), [0, 1, 3])
