"""Metrics of the public-goods world, by hand."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from world_episodes import Play

from plenum.worlds.public_goods import metrics as metrics_public_goods
from plenum.worlds.public_goods.metrics import gini


@pytest.mark.parametrize(
    ("amounts", "expected"),
    [
        ([3.0, 3.0, 3.0], 0.0),
        ([0.0, 0.0, 0.0], 0.0),
        ([7.0], 0.0),
        ([0.0, 0.0, 0.0, 12.0], 3 / 4),
        ([0.0] * 99 + [1.0], 99 / 100),
        ([1.0, 3.0], 1 / 4),
        ([1.0, 2.0, 3.0, 4.0], 1 / 4),
        ([0.1] * 7, 0.0),
    ],
)
def test_gini_has_its_analytic_values(amounts: list[float], expected: float) -> None:
    assert_allclose(gini(amounts), expected, atol=1e-12)


def test_gini_of_nobody_is_nan_and_of_a_debt_is_refused() -> None:
    assert np.isnan(gini([]))
    for bad in ([1.0, -1.0], [1.0, float("nan")]):
        with pytest.raises(ValueError, match="amounts of 0 or more"):
            gini(bad)


@given(st.lists(st.floats(0, 12).map(lambda x: round(x, 3)), min_size=1, max_size=12))
def test_gini_is_half_the_relative_mean_difference(amounts: list[float]) -> None:
    array = np.array(amounts)
    total = array.sum()
    differences = np.abs(array[:, None] - array[None, :]).sum()
    expected = differences / (2 * len(amounts) * total) if total else 0.0
    assert_allclose(gini(amounts), expected, atol=1e-9)
    assert 0 <= gini(amounts) <= (len(amounts) - 1) / len(amounts) + 1e-12


def record(
    actions: list[Any], proposals: list[Any], score: float = 0.0, funded: bool = False
) -> Any:
    """A round by hand."""
    return {
        "actions": actions,
        "proposals": proposals,
        "score": score,
        "facts": {"funded": funded},
    }


def test_provision_and_welfare_are_counted_over_rounds() -> None:
    rounds = [record([6.0], [6.0], 70.0, True), record([5.0], [5.0], -25.0)]
    found = metrics_public_goods.summary(rounds)
    assert found["provision_rate"] == 0.5
    assert (found["total_welfare"], found["mean_welfare"]) == (45.0, 22.5)


def test_gini_of_rounds_leaves_out_who_abstained_and_the_cumulated_one_counts_nothing_paid() -> (
    None
):
    rounds = [
        record([4.0, None, 4.0], [4.0, None, 4.0]),
        record([0.0, 4.0, 0.0], [2.0, 2.0, 2.0]),
        record([None, None, None], [None, None, None]),
    ]
    assert_allclose(metrics_public_goods.gini_by_round(rounds), [0, 2 / 3, np.nan])
    assert_allclose(metrics_public_goods.gini_by_round(rounds, proposals=True), [0, 0, np.nan])
    assert metrics_public_goods.gini_cumulated(rounds) == 0.0  # 4 each
    assert_allclose(metrics_public_goods.gini_cumulated(rounds, proposals=True), gini([6, 2, 6]))
    assert_allclose(metrics_public_goods.summary(rounds)["gini"], 1 / 3)


def test_the_reference_policies_give_the_numbers_that_a_pencil_gives(play: Play) -> None:
    """Threshold 30, benefit 100, cost 1, five agents, no shock and no misreading, 10 rounds."""
    steady = ("task=public_goods", "rounds=10", "task.world.misread=0.0", "task.world.shock=0.0")
    steady += ("+task.world.large_share=0.0",)
    found = {
        name: metrics_public_goods.summary(play(*steady, f"task.policy={name}"))
        for name in ("fair_share", "free_riders", "one_free_rider", "covered_free_rider")
    }
    rates = {name: numbers["provision_rate"] for name, numbers in found.items()}
    welfare = {name: numbers["total_welfare"] for name, numbers in found.items()}
    assert rates == dict.fromkeys(found, 1.0) | {"free_riders": 0.0, "one_free_rider": 0.0}
    assert welfare == pytest.approx(
        {
            "fair_share": 700.0,
            "free_riders": 0.0,
            "one_free_rider": -240.0,
            "covered_free_rider": 700.0,
        }
    )
    assert found["fair_share"]["gini_cumulated"] == 0.0
    assert_allclose(found["covered_free_rider"]["gini_cumulated"], 1 / 5)
