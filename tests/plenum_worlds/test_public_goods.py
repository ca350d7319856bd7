"""The public-goods world: thresholds, shocks, payoffs, metrics, and reference policies."""

import dataclasses
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from world_episodes import VOLATILITY, Play

from plenum_worlds.draws import Draws
from plenum_worlds.public_goods import metrics
from plenum_worlds.public_goods.metrics import gini
from plenum_worlds.public_goods.world import (
    PublicGoodsSettings,
    PublicGoodsState,
    PublicGoodsWorld,
)
from plenum_worlds.registry import build_world, find_world

levels = st.sampled_from(sorted(VOLATILITY["public_goods"]))
amounts = st.none() | st.floats(0, 12)
WORLD = PublicGoodsWorld(5)
POLICIES = find_world("public_goods").policies
DRAWS = Draws(("policies", 0))


def at(threshold: float, benefit: float = 100.0) -> PublicGoodsState:
    """A state whose readings are exact."""
    return PublicGoodsState(threshold, benefit, threshold, benefit, 99)


@pytest.mark.parametrize(
    ("threshold", "paid", "funded"),
    [
        (30, [6.0] * 5, True),
        (10, [10 / 3] * 3, True),
        (1, [0.1] * 10, True),  # ten tenths are less than one in floats
        (0.3, [0.1, 0.2], True),
        (30, [6.0] * 4 + [5.99], False),
        (30, [30 - 1e-4], False),
        (30, [10.0, 10.0, None, 10.0], True),
        (0, [None, None], True),
    ],
)
def test_shares_that_sum_to_the_threshold_fund_it(
    threshold: float, paid: list[float | None], funded: bool
) -> None:
    world = PublicGoodsWorld(len(paid), PublicGoodsSettings(most=50.0))
    assert world.act(at(threshold), paid).facts["funded"] is funded


def test_the_cost_of_a_unit_changes_between_two_values_at_its_rate() -> None:
    world = PublicGoodsWorld(2, PublicGoodsSettings(cost_other=2.0, cost_switch=0.25))
    draws, now, costs = Draws(("costs", 0)), world.start(Draws(("costs", 0))), []
    for number in range(2, 2002):
        now = world.update(now, draws, number)
        costs.append(now.cost)
    assert set(costs) == {1.0, 2.0}
    assert np.mean([a != b for a, b in pairwise(costs)]) == pytest.approx(0.25, abs=0.04)
    dear = dataclasses.replace(at(30), cost=2.0)
    assert world.act(dear, [3.0, 4.0]).score == -14
    assert "a unit costs its payer 2." in world.describe(dear, 0)
    assert world.act(at(30), [3.0, 4.0]).score == -7


def test_the_spread_of_contributions_is_that_of_the_agents_who_decided() -> None:
    paid = [{"actions": [1.0, 5.0, None], "proposals": [2.0, 2.0, 2.0]}]
    assert_allclose(metrics.spread_by_round(paid), [2.0])  # type: ignore[arg-type]
    assert_allclose(metrics.spread_by_round(paid, proposals=True), [0.0])  # type: ignore[arg-type]
    nobody = [{"actions": [None, None], "proposals": [None, None]}]
    assert np.isnan(metrics.spread_by_round(nobody)).all()  # type: ignore[arg-type]


@given(st.lists(amounts, min_size=1, max_size=20), st.floats(0, 100), st.sampled_from([1.0, 2.0]))
def test_payoffs_sum_to_the_benefit_if_funded_less_the_cost(
    paid: list[float | None], threshold: float, cost: float
) -> None:
    world = PublicGoodsWorld(len(paid), PublicGoodsSettings(cost=cost))
    outcome = world.act(at(threshold), paid)
    total = sum(amount or 0 for amount in paid)
    funded = outcome.facts["funded"]
    assert_allclose(outcome.facts["total"], total)
    assert_allclose(outcome.score, 100 * funded - cost * total, atol=1e-9)
    assert_allclose(sum(outcome.facts["payoffs"]), outcome.score, atol=1e-9)
    assert funded == (total >= threshold - 1e-6)


def test_an_agent_is_paid_its_share_less_its_cost() -> None:
    world = PublicGoodsWorld(4, PublicGoodsSettings(cost=2.0))
    outcome = world.act(at(10), [10.0, 0.0, 1.5, None])
    assert outcome.facts["payoffs"] == [25 - 20, 25, 25 - 3, 25]
    assert outcome.state.contributions == (10.0, 0.0, 1.5, None)
    unfunded = world.act(at(30), [10.0, 0.0, 1.5, None])
    assert unfunded.facts["payoffs"] == [-20, 0, -3, 0]


@settings(max_examples=25)
@given(levels, st.integers(0, 10**6), st.integers(1, 30))
def test_thresholds_move_by_the_papers_steps_and_stay_within_bounds(
    level: str, seed: int, agents: int
) -> None:
    world = PublicGoodsWorld(agents, PublicGoodsSettings(**VOLATILITY["public_goods"][level]))
    draws = Draws(("pg", seed, 0))
    state = world.start(draws)
    assert state.threshold == pytest.approx(6 * agents)
    for number in range(2, 20):
        before, state = state, world.update(state, draws, number)
        step = abs(state.threshold - before.threshold) / agents
        sizes = [0, 1] if level == "low" else [0, 1, 2]
        assert min(abs(step - size) for size in sizes) < 1e-9
        assert (state.events == ("shock",)) == (step > 0) == (number == before.next_shock)
        assert 2 - 1e-9 <= state.threshold / agents <= 10 + 1e-9
        assert 16 - 1e-9 <= state.benefit / agents <= 24 + 1e-9
        if level != "high":
            assert state.benefit == pytest.approx(20 * agents)


@pytest.mark.parametrize(
    ("level", "gaps"), [("low", {5, 6, 7}), ("moderate", {3, 4}), ("high", {1, 2})]
)
def test_shocks_come_at_random_intervals_of_the_level(level: str, gaps: set[int]) -> None:
    world = PublicGoodsWorld(5, PublicGoodsSettings(**VOLATILITY["public_goods"][level]))
    seen = set()
    for seed in range(20):
        draws = Draws(("pg", seed, 0))
        state, last = world.start(draws), 1
        for number in range(2, 40):
            state = world.update(state, draws, number)
            if state.events:
                seen.add(number - last)
                last = number
    assert seen == gaps


def test_a_shock_beyond_a_bound_goes_the_other_way() -> None:
    world = PublicGoodsWorld(5, PublicGoodsSettings(large_share=0.0))
    for threshold, expected in ((50.0, 45.0), (10.0, 15.0)):
        due = PublicGoodsState(threshold, 100.0, threshold, 100.0, 2)
        found = {world.update(due, Draws(("pg", s, 0)), 2).threshold for s in range(20)}
        assert found == {expected}


@pytest.mark.slow
def test_all_policies_under_one_seed_meet_the_same_thresholds_and_rumours(play: Play) -> None:
    exogenous = ("threshold", "benefit", "threshold_reading", "benefit_reading", "next_shock")
    met = []
    for policy in find_world("public_goods").policies:
        episode = play("task=public_goods", "volatility=high", f"task.policy={policy}")
        met.append([[r["state"][key] for key in exogenous] + [r["report"]] for r in episode])
    assert len(met) == 5
    assert all(one == met[0] for one in met)
    assert len({round[0] for round in met[0]}) > 2


def test_a_reading_may_be_off_by_one_step() -> None:
    for misread, expected in ((1.0, {25.0, 35.0}), (0.0, {30.0})):
        world = PublicGoodsWorld(5, PublicGoodsSettings(misread=misread))
        readings = {world.start(Draws(("pg", n, 0))).threshold_reading for n in range(20)}
        assert readings == expected


def test_an_agent_sees_the_readings_and_never_the_truth() -> None:
    world = PublicGoodsWorld(3)
    state = PublicGoodsState(33.0, 77.0, 28.0, 66.0, 9, (4.0, None, 6.25), False)
    view, text = world.view(state, 0), world.describe(state, 0)
    assert (view["threshold"], view["benefit"]) == (28.0, 66.0)
    assert "28 in all" in text
    assert "4, none, 6.25; 10.25 in all, not funded" in text
    assert "33" not in text
    assert "77" not in text


def test_many_contributors_are_described_as_a_summary() -> None:
    world = PublicGoodsWorld(100)
    paid = (None, 0.0, *(5.0 + i / 100 for i in range(98)))
    state = PublicGoodsState(600.0, 2000.0, 600.0, 2000.0, 9, paid, False)
    told = "0 to 5.97, 2 contributors paid nothing; 537.53 in all, not funded"
    assert told in world.describe(state, 0)
    nobody = PublicGoodsState(600.0, 2000.0, 600.0, 2000.0, 9, (None,) * 100, False)
    assert "Nobody contributed" in world.describe(nobody, 0)
    assert "No round has been played" in world.describe(at(600.0), 0)


def test_a_plain_statement_tells_this_rounds_threshold_and_the_next_ones(play: Play) -> None:
    scripted = ("task=public_goods", "task.policy=fair_share", "volatility=high", "rounds=10")
    for record, following in pairwise(play(*scripted, "task.world.contradictory=0.0")):
        now, later, _ = (statement["text"] for statement in record["report"])
        assert now.endswith(f"this round: {record['state']['threshold']:g}.")
        assert later.endswith(f"next round: {following['state']['threshold']:g}.")


def test_a_contradictory_statement_on_a_threshold_is_off_by_a_shock() -> None:
    world = build_world("public_goods", 5, contradictory=1.0)
    begun = world.start(Draws(("p", 0)))
    first = [world.report(begun, Draws(("p", seed)), 1)[0] for seed in range(30)]
    assert {(s.kind, s.text.rsplit(": ", 1)[1]) for s in first} == {
        ("contradictory", "25."),
        ("contradictory", "35."),
        ("incomplete", "no figure is given."),
    }


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
    found = WORLD.summary(rounds, len(rounds))
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
    assert_allclose(metrics.gini_by_round(rounds), [0, 2 / 3, np.nan])
    assert_allclose(metrics.gini_by_round(rounds, proposals=True), [0, 0, np.nan])
    assert metrics.gini_cumulated(rounds) == 0.0  # 4 each
    assert_allclose(metrics.gini_cumulated(rounds, proposals=True), gini([6, 2, 6]))
    assert_allclose(WORLD.summary(rounds, len(rounds))["gini"], 1 / 3)


@pytest.mark.slow
def test_the_reference_policies_give_the_numbers_that_a_pencil_gives(play: Play) -> None:
    """Threshold 30, benefit 100, cost 1, five agents, no shock and no misreading, 10 rounds."""
    steady = ("task=public_goods", "rounds=10", "task.world.misread=0.0", "task.world.shock=0.0")
    steady += ("+task.world.large_share=0.0",)
    found = {
        name: WORLD.summary(play(*steady, f"task.policy={name}"), 10)
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


def test_a_fair_share_never_exceeds_what_an_agent_may_pay() -> None:
    views = [{"threshold": 30.0, "most": 12.0}] * 2
    fair, covered = POLICIES["fair_share"], POLICIES["covered_free_rider"]
    assert fair(views, DRAWS, 1) == [12.0, 12.0]
    assert fair(views * 2, DRAWS, 1) == [7.5] * 4
    assert covered(views * 2, DRAWS, 1) == [0.0, 10.0, 10.0, 10.0]
    assert covered(views[:1], DRAWS, 1) == [0.0]
