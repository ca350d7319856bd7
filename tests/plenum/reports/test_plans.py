"""Plans: the spread of a pilot, and the replicates that it asks for."""

import math
from dataclasses import replace
from typing import Any

import generators
import numpy as np
import pytest
from known_conditions import line, tracked
from numpy.typing import NDArray

from plenum.base.errors import UserError
from plenum.dynamics.decision_sample_sizes import plan_decisions
from plenum.dynamics.decisions import pairwise_disagreement
from plenum.dynamics.estimate import margin
from plenum.dynamics.growth import estimate_typical_growth
from plenum.dynamics.growth_contrasts import contrast_growth
from plenum.dynamics.lyapunov import lyapunov
from plenum.dynamics.sample_sizes import plan_replicates
from plenum.reports.plans import describe_plan, tabulate_plan
from plenum.reports.settings import PlanSettings
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.usage import ConditionUsage

ASKED = PlanSettings(
    study="s1",
    uri="sqlite:///unused.db",
    window=(3, 20),
    difference=0.2,
    delta=0.03,
    power=0.8,
    alpha=0.05,
)


def walk(replicates: int, rate: float, seed: int) -> NDArray[np.float64]:
    """Random walks of which each step is longer by a rate than the one before."""
    steps = np.random.default_rng(seed).normal(0, 0.01, (replicates, 20, 3))
    return 1 / 3 + (steps * np.exp(rate * np.arange(20))[:, None]).cumsum(axis=1)


def planned(condition: TrackedCondition, asked: PlanSettings = ASKED) -> dict[str, str]:
    """The line of one condition."""
    return line(tabulate_plan([condition], asked))


def spread(condition: TrackedCondition, window: tuple[int, int] = (3, 20)) -> float:
    """The standard deviation that the interval of a typical pair's growth is as wide as."""
    found, n = estimate_typical_growth(condition.ensemble, window), condition.completed
    return (found.ci_high - found.ci_low) / 2 / margin(1.0, n - 1) * math.sqrt(n)


def replicates_for(plan: PlanSettings, condition: TrackedCondition) -> str:
    """What the condition's spread asks for."""
    sd = spread(condition, plan.window)
    return str(plan_replicates(plan.delta, sd, plan.power, plan.alpha).replicates)


# --- how many ----------------------------------------------------------------------------------


@pytest.mark.parametrize("replicates", [8, 12, 30])
def test_the_spread_is_that_of_a_mean_with_an_interval_as_wide(replicates: int) -> None:
    condition = tracked(1, replicates=replicates)
    shown = planned(condition)
    growth = estimate_typical_growth(condition.ensemble).value
    assert (shown["n"], shown["typical pair"]) == (str(replicates), f"{growth:.4f}")
    assert shown["sd"] == f"{spread(condition):.3f}"


def test_the_planned_replicates_find_the_difference_as_often_as_said() -> None:
    """A plan of typical growth against simulated tests, some hundred of them."""
    pilot = replace(tracked(1, 0.0, 40), preferences=walk(40, 0.0, 1)[:, :, None])
    # A rate of 6 % makes a typical pair of walks grow by .086 a round, where it is .050 without.
    plan = replace(ASKED, difference=None, delta=0.036)
    needed = int(planned(pilot, plan)["replicates per arm"])
    found = [
        contrast_growth(walk(needed, 0.06, 2 * i), walk(needed, 0.0, 2 * i + 1), draws=400).p
        for i in range(1, 121)
    ]
    assert abs(np.mean(np.array(found) < 0.05) - 0.8) < 0.15


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [{}, {"delta": 0.01}, {"power": 0.95}, {"alpha": 0.01}, {"window": (5, 12)}],
    ids=str,
)
def test_the_replicates_are_those_that_the_spread_of_each_condition_asks_for(
    changes: dict[str, Any],
) -> None:
    plan = replace(ASKED, **changes)
    calm, wild = tracked(1, sd=0.02), tracked(2, roles="on")
    noise = np.random.default_rng(0).lognormal(0, 0.4, (12, 1, 1, 1))
    wild = replace(wild, preferences=1 / 3 + noise * (wild.preferences - 1 / 3))
    found = tabulate_plan([calm, wild], plan)
    shown = [line(found, number)["replicates per arm"] for number in (0, 1)]
    assert shown == [replicates_for(plan, calm), replicates_for(plan, wild)]
    assert len(set(shown)) == 2
    assert (planned(calm, plan) == planned(calm)) is (not changes)


def test_a_difference_that_no_study_can_find_is_refused() -> None:
    with pytest.raises(UserError, match="delta"):
        planned(tracked(1), replace(ASKED, delta=1e-7))


# --- warnings ----------------------------------------------------------------------------------


def test_a_plan_lists_the_warnings_of_the_pilot() -> None:
    few = replace(
        tracked(1, replicates=8), preferences=generators.leaps(0.2).sample(8, 3)[:, :, None]
    )
    expected = lyapunov(few.ensemble, decisions=few.decisions).warnings
    assert {"few_replicates", "uneven"} <= set(expected)
    assert planned(few)["warnings"] == "\n".join(expected)
    calm = next(c for c in map(tracked, range(50)) if not lyapunov(c.ensemble).warnings)
    assert planned(calm)["warnings"] == "-"


def test_replicates_that_jump_can_be_planned_for() -> None:
    jumping = replace(
        tracked(1, replicates=20), preferences=generators.leaps(0.2).sample(20, 3)[:, :, None]
    )
    shown = planned(jumping)
    assert "uneven" in shown["warnings"]
    assert shown["replicates per arm"] == replicates_for(ASKED, jumping)


def test_without_replicates_or_a_spread_there_is_no_plan() -> None:
    empty, four = planned(tracked(1, replicates=0)), planned(tracked(1, replicates=4))
    assert (empty["n"], empty["warnings"]) == ("0", "no_replicates")
    assert "few_replicates" in four["warnings"]
    for shown in (empty, four):
        assert {shown[n] for n in ("typical pair", "sd", "replicates per arm")} == {"-"}


def test_the_notes_tell_what_was_asked() -> None:
    notes = tabulate_plan([tracked(1)], ASKED).notes
    assert "for -0.2, for +0.2" in notes[0]
    assert "growth of 0.03 with power 0.8 at 0.05" in notes[1]
    assert "simulated" in notes[2]
    # nothing of what isn't asked
    alone = tabulate_plan([tracked(1)], replace(ASKED, delta=None))
    assert len(alone.notes) == 2
    shown = {column.head for column in alone.columns}
    assert shown.isdisjoint({"typical pair", "sd", "replicates per arm"})


def test_the_answer_is_a_sentence_with_replicates_calls_and_dollars() -> None:
    conditions = [tracked(n, decisions=["A"] * 10 + ["B"] * 2) for n in (1, 2)]
    models = {"m": {"calls": 12 * 27, "cost": 12 * 0.5, "unpriced": 0}}
    usages = [ConditionUsage(c, {}, models, {}, {}) for c in conditions]
    plan = replace(ASKED, delta=None)
    lines = tabulate_plan(conditions, plan).frame
    (said,) = describe_plan(lines, plan, usages)
    sizes = [plan_decisions(conditions[0].decisions, by).replicates for by in (-0.2, 0.2)]
    most = max(sizes)
    assert f"needs {min(sizes)} to {most} replicates; it has 12" in said
    assert f"2 x {most} x 27 = {2 * most * 27:,} calls" in said
    assert f"${most * 2 * 0.5:,.2f}" in said
    both = describe_plan(tabulate_plan(conditions, ASKED).frame, ASKED, usages)
    assert len(both) == 2
    (unknown,) = describe_plan(lines, plan, [replace(usages[0], models=None)])
    assert "isn't known" in unknown


# --- decisions ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_decisions_of_a_condition_ask_for_replicates() -> None:
    decided = ["A"] * 10 + ["B"] * 2
    shown = planned(tracked(1, decisions=decided), replace(ASKED, difference=0.3))
    assert shown["disagreement"] == f"{pairwise_disagreement(decided).value:.3f}"
    assert shown["for +0.3"] == "-"  # 2 p (1 - p) is at most 0.5
    fewer = planned(tracked(1, decisions=decided), replace(ASKED, difference=0.2))
    assert fewer["for +0.2"] == str(plan_decisions(decided, 0.2).replicates)
    assert fewer["for -0.2"] == str(plan_decisions(decided, -0.2).replicates)
