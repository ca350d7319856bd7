"""Plans: the spread of a pilot, the replicates it asks for, and when a condition may stop."""

import math
from dataclasses import replace
from typing import Any

import generators
import numpy as np
import pytest
from known_conditions import line, tracked

from plenum.base.errors import UserError
from plenum.dynamics import (
    look,
    lyapunov,
    pairwise_disagreement,
    plan_decisions,
    plan_replicates,
)
from plenum.reports.plans import describe_plan, table
from plenum.reports.settings import PlanSettings
from plenum.tracking import ConditionUsage
from plenum.tracking.conditions import TrackedCondition

ASKED = PlanSettings(
    study="s1",
    uri="sqlite:///unused.db",
    window=(3, 20),
    difference=0.2,
    delta=0.03,
    power=0.8,
    alpha=0.05,
    half_width=0.02,
    maximum=40,
    looks=(),
    spending="pocock",
)


def planned(condition: TrackedCondition, asked: PlanSettings = ASKED) -> dict[str, str]:
    """The line of one condition."""
    return line(table([condition], asked))


def replicates_for(plan: PlanSettings, condition: TrackedCondition) -> str:
    """What the condition's spread asks for."""
    sd = lyapunov(condition.ensemble, plan.window).se * math.sqrt(condition.completed)
    return str(plan_replicates(plan.delta, sd, plan.power, plan.alpha).replicates)


# --- how many ----------------------------------------------------------------------------------


@pytest.mark.parametrize("replicates", [8, 12, 30])
def test_the_spread_is_the_standard_error_times_the_root_of_n(replicates: int) -> None:
    condition = tracked(1, replicates=replicates)
    found = lyapunov(condition.ensemble)
    shown = planned(condition)
    assert (shown["n"], shown["λ̂"]) == (str(replicates), f"{found.value:.4f}")
    assert shown["sd"] == f"{found.se * math.sqrt(replicates):.3f}"


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
    found = table([calm, wild], plan)
    shown = [line(found, number)["replicates per arm"] for number in (0, 1)]
    assert shown == [replicates_for(plan, calm), replicates_for(plan, wild)]
    assert len(set(shown)) == 2
    assert (planned(calm, plan) == planned(calm)) is (not changes)


def test_a_difference_that_no_study_can_find_is_refused() -> None:
    with pytest.raises(UserError, match="delta"):
        planned(tracked(1), replace(ASKED, delta=1e-7))


# --- whether to stop ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"alpha": 0.01},
        {"maximum": 90},
        {"looks": (14, 20)},
        {"looks": (14, 20), "spending": "obrien_fleming"},
    ],
    ids=str,
)
def test_the_interval_pays_for_the_looks_before_this_one(changes: dict[str, Any]) -> None:
    condition, plan = tracked(1, replicates=24), replace(ASKED, **changes)
    e, looks = lyapunov(condition.ensemble), [*plan.looks, 24]
    how: dict[str, Any] = {"alpha": plan.alpha, "spending": plan.spending}
    seen = look(e.value, e.se, looks, plan.maximum, 0.02, **how)
    shown = planned(condition, plan)
    assert shown["interval now"] == f"[{seen.ci_low:.4f}, {seen.ci_high:.4f}]"
    assert shown["half width"] == f"{seen.half_width:.4f}"
    assert (shown["half width"] == planned(condition)["half width"]) is (not changes)


def test_a_condition_stops_where_its_interval_is_narrow_or_its_replicates_are_all_there() -> None:
    condition = tracked(1)
    half = float(planned(condition)["half width"])
    stops = {
        "no": {"half_width": half * 0.9},
        "yes: narrow": {"half_width": half * 1.1},
        "yes: exhausted": {"half_width": 1e-6, "maximum": 12},
    }
    for stop, changes in stops.items():
        assert planned(condition, replace(ASKED, **changes))["stop"] == stop


@pytest.mark.parametrize(
    ("changes", "stop"),
    [
        ({"maximum": 11}, "n is above maximum=11"),
        ({"looks": (10, 12)}, "no look since n = 12"),
        ({"looks": (10, 15)}, "no look since n = 15"),
    ],
)
def test_above_the_maximum_and_without_a_replicate_since_the_last_there_is_no_look(
    changes: dict[str, Any], stop: str
) -> None:
    shown = planned(tracked(1), replace(ASKED, **changes))
    assert [shown[n] for n in ("interval now", "half width", "stop")] == ["-", "-", stop]
    assert shown["replicates per arm"] == planned(tracked(1))["replicates per arm"]
    assert planned(tracked(1), replace(ASKED, looks=(10, 11)))["stop"] in ("no", "yes: narrow")


def test_an_interval_that_says_nothing_is_not_written_out() -> None:
    plan = replace(ASKED, maximum=400, spending="obrien_fleming")
    shown = planned(tracked(1, replicates=4), plan)
    assert (shown["interval now"], shown["half width"], shown["stop"]) == ("-", "> 1", "no")


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


def test_where_few_replicates_carry_the_slope_only_decisions_are_planned_for() -> None:
    jumping = generators.leaps(0.2).sample(20, 3)[:, :, None]
    for condition in (replace(tracked(1, replicates=20), preferences=jumping),):
        assert lyapunov(condition.ensemble, decisions=condition.decisions).refused
        found = table([condition], ASKED)
        shown = line(found)
        assert shown["λ̂"] != "-"
        assert "uneven" in shown["warnings"]
        assert {shown[n] for n in ("replicates per arm", "interval now", "half width", "stop")} == {
            "-"
        }
        assert "plan for decisions" in " ".join(found.notes)
    assert "plan for decisions" not in " ".join(table([tracked(1)], ASKED).notes)


def test_without_replicates_or_a_spread_there_is_no_plan() -> None:
    empty, two = planned(tracked(1, replicates=0)), planned(tracked(1, replicates=2))
    assert (empty["n"], empty["warnings"], empty["λ̂"]) == ("0", "no_replicates", "-")
    assert two["λ̂"] == f"{lyapunov(tracked(1, replicates=2).ensemble).value:.4f}"
    assert "few_replicates" in two["warnings"]
    for shown in (empty, two):
        assert {shown[n] for n in ("sd", "replicates per arm", "half width", "stop")} == {"-"}


def test_the_notes_tell_what_was_asked() -> None:
    notes = table([tracked(1)], replace(ASKED, looks=(5, 8))).notes
    assert "for -0.2, for +0.2" in notes[0]
    assert "Δλ = 0.03 with power 0.8 at 0.05" in notes[1]
    for words in ("at most 0.02 wide", "3 looks at up to 40", "(pocock)"):
        assert words in notes[2]
    assert "simulated" in notes[3]
    # nothing of what isn't asked
    alone = table([tracked(1)], replace(ASKED, delta=None, half_width=None))
    assert len(alone.notes) == 2
    shown = {column.head for column in alone.columns}
    assert shown.isdisjoint({"λ̂", "sd", "replicates per arm", "interval now", "stop"})


def test_the_answer_is_a_sentence_with_replicates_calls_and_dollars() -> None:
    conditions = [tracked(n, decisions=["A"] * 10 + ["B"] * 2) for n in (1, 2)]
    models = {"m": {"calls": 12 * 27, "cost": 12 * 0.5, "unpriced": 0}}
    usages = [ConditionUsage(c, {}, models, {}, {}) for c in conditions]
    plan = replace(ASKED, delta=None, half_width=None)
    lines = table(conditions, plan).frame
    (said,) = describe_plan(lines, plan, usages)
    sizes = [plan_decisions(conditions[0].decisions, by).replicates for by in (-0.2, 0.2)]
    most = max(sizes)
    assert f"needs {min(sizes)} to {most} replicates; it has 12" in said
    assert f"2 x {most} x 27 = {2 * most * 27:,} calls" in said
    assert f"${most * 2 * 0.5:,.2f}" in said
    both = describe_plan(table(conditions, ASKED).frame, ASKED, usages)
    assert len(both) == 3
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
