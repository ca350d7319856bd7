"""The public-goods world: thresholds, shocks, payoffs, and common random numbers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from world_episodes import VOLATILITY, Play

from plenum.base.errors import UserError
from plenum.worlds import Draws, as_plain, definition
from plenum.worlds.public_goods.world import (
    PublicGoodsSettings,
    PublicGoodsState,
    PublicGoodsWorld,
)

levels = st.sampled_from(sorted(VOLATILITY["public_goods"]))
amounts = st.none() | st.floats(0, 12)


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


@given(st.integers(1, 100), st.floats(10, 1000))
def test_equal_shares_fund_any_threshold_for_any_number_of_agents(
    agents: int, threshold: float
) -> None:
    world = PublicGoodsWorld(agents, PublicGoodsSettings(most=1000.0))
    assert world.act(at(threshold), [threshold / agents] * agents).facts["funded"]


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


def test_all_policies_under_one_seed_meet_the_same_thresholds_and_rumours(play: Play) -> None:
    exogenous = ("threshold", "benefit", "threshold_reading", "benefit_reading", "next_shock")
    met = []
    for policy in definition("public_goods").policies:
        episode = play("task=public_goods", "volatility=high", f"task.policy={policy}")
        met.append([[r["state"][key] for key in exogenous] + [r["report"]] for r in episode])
    assert len(met) == 5
    assert all(one == met[0] for one in met)
    assert len({round[0] for round in met[0]}) > 2


def test_a_reading_is_off_by_one_step_in_one_of_five_rounds() -> None:
    world = PublicGoodsWorld(5)
    readings = [world.start(Draws(("pg", seed, 0))).threshold_reading for seed in range(400)]
    assert set(readings) == {25.0, 30.0, 35.0}
    assert 0.14 < sum(r != 30 for r in readings) / 400 < 0.26
    exact = PublicGoodsWorld(5, PublicGoodsSettings(misread=0.0))
    assert {exact.start(Draws(("pg", s, 0))).threshold_reading for s in range(50)} == {30.0}


def test_an_agent_sees_the_readings_and_never_the_truth() -> None:
    world = PublicGoodsWorld(3)
    state = PublicGoodsState(33.0, 77.0, 28.0, 66.0, 9, (4.0, None, 6.25), False)
    view, text = world.view(state, 0), world.describe(state, 0)
    assert (view["threshold"], view["benefit"]) == (28.0, 66.0)
    assert "28 in all" in text
    assert "4, none, 6.25; 10.25 in all, not funded" in text
    assert "33" not in text
    assert "77" not in text


def test_a_hundred_contributors_are_described_in_a_few_lines() -> None:
    world = PublicGoodsWorld(100)
    paid = (None, 0.0, *(5.0 + i / 100 for i in range(98)))
    state = PublicGoodsState(600.0, 2000.0, 600.0, 2000.0, 9, paid, False)
    text = world.describe(state, 0)
    assert len(text) < 400
    assert "0 to 5.97, 2 contributors paid nothing; 537.53 in all, not funded" in text
    nobody = PublicGoodsState(600.0, 2000.0, 600.0, 2000.0, 9, (None,) * 100, False)
    assert "Nobody contributed" in world.describe(nobody, 0)
    assert "No round has been played" in world.describe(at(600.0), 0)


@pytest.mark.parametrize(
    "value", [-0.1, 12.1, float("nan"), float("inf"), True, "5", None, [5], 10**400]
)
def test_a_value_that_is_no_contribution_is_refused_in_one_sentence(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^contribution [^.]*$"):
        PublicGoodsWorld(1).read(value)


@pytest.mark.parametrize(("value", "read"), [(5, 5.0), (0, 0.0), (12, 12.0), (10.5, 10.5)])
def test_a_number_up_to_the_most_is_read(value: float, read: float) -> None:
    found = PublicGoodsWorld(1).read(value)
    assert (found, type(found)) == (read, float)
    assert str(PublicGoodsWorld(1).read(-0.0)) == "0.0"


def test_the_example_of_the_contribution_is_one() -> None:
    world = PublicGoodsWorld(1)
    assert world.read(world.example) == 1.5


@given(levels, st.integers(0, 10**6), st.lists(amounts, min_size=3, max_size=3))
def test_an_accounts_state_survives_the_way_through_json(
    level: str, seed: int, paid: list[float | None]
) -> None:
    world = PublicGoodsWorld(3, PublicGoodsSettings(**VOLATILITY["public_goods"][level]))
    draws = Draws(("pg", seed, 0))
    begun = world.start(draws)
    acted = world.act(world.update(begun, draws, 2), paid).state
    for state in (begun, acted):
        assert world.from_plain(json.loads(json.dumps(as_plain(state)))) == state


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"threshold": 60.0}, "public_goods.threshold=60.0: allowed are values from 10.0 to 50.0"),
        ({"large_shock": 25.0}, "public_goods.large_shock=25.0: allowed are values from 0 to 20.0"),
        ({"benefit_least": 120.0}, "public_goods.benefit_least=120.0 is more than"),
    ],
)
def test_account_settings_outside_their_range_are_refused_in_one_line(
    numbers: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=f"^{message}"):
        PublicGoodsSettings(**numbers)
