"""Plans: the spread of a pilot, the replicates it asks for, and when a condition may stop."""

import math
from dataclasses import replace

import numpy as np
import pytest
from known_conditions import line, tracked

from plenum.base.errors import UserError
from plenum.dynamics import look, lyapunov, plan_replicates
from plenum.reports.plans import table
from plenum.reports.settings import Plan
from plenum.tracking.conditions import TrackedCondition

ASKED = Plan(
    study="s1",
    uri="sqlite:///unused.db",
    window=(3, 20),
    delta=0.03,
    power=0.8,
    alpha=0.05,
    half_width=0.02,
    maximum=40,
    looks=(),
    spending="pocock",
)


def planned(condition: TrackedCondition, asked: Plan = ASKED) -> dict[str, str]:
    """The line of one condition."""
    return line(table([condition], asked))


# --- how many ----------------------------------------------------------------------------------


@pytest.mark.parametrize("replicates", [8, 12, 30])
def test_the_spread_is_the_standard_error_times_the_root_of_n(replicates: int) -> None:
    condition = tracked(1, replicates=replicates)
    found = lyapunov(condition.ensemble)
    shown = planned(condition)
    assert shown["n"] == str(replicates)
    assert shown["λ̂"] == f"{found.value:.4f}"
    assert shown["sd"] == f"{found.se * math.sqrt(replicates):.3f}"


@pytest.mark.parametrize(
    "asked",
    [
        ASKED,
        replace(ASKED, delta=0.01),
        replace(ASKED, power=0.95),
        replace(ASKED, alpha=0.01),
        replace(ASKED, window=(5, 12)),
    ],
    ids=["default", "delta", "power", "alpha", "window"],
)
def test_the_replicates_are_those_that_the_spread_of_the_condition_asks_for(asked: Plan) -> None:
    condition = tracked(1, sd=0.02)
    found = lyapunov(condition.ensemble, asked.window)
    sd = found.se * math.sqrt(12)
    needed = plan_replicates(asked.delta, sd, asked.power, asked.alpha).replicates
    assert planned(condition, asked)["replicates per arm"] == str(needed)
    if asked is not ASKED:
        assert planned(condition, asked) != planned(condition)


def test_a_difference_that_no_study_can_find_is_refused() -> None:
    with pytest.raises(UserError, match="delta"):
        planned(tracked(1), replace(ASKED, delta=1e-7))


def test_conditions_are_planned_each_by_its_own_spread() -> None:
    calm, wild = tracked(1), tracked(2, roles="on")
    noise = np.random.default_rng(0).lognormal(0, 1.5, (12, 1, 1, 1))
    wild = replace(wild, preferences=1 / 3 + noise * (wild.preferences - 1 / 3))
    found = table([calm, wild], ASKED)
    for number, condition in enumerate((calm, wild)):
        e = lyapunov(condition.ensemble)
        needed = plan_replicates(0.03, e.se * math.sqrt(12)).replicates
        assert line(found, number)["replicates per arm"] == str(needed)
    assert len({cells[-5] for cells in found.body}) == 2


# --- whether to stop ---------------------------------------------------------------------------


@pytest.mark.parametrize("spending", ["pocock", "obrien_fleming"])
def test_the_interval_pays_for_the_looks_before_this_one(spending: str) -> None:
    condition = tracked(1, replicates=24)
    asked = replace(ASKED, looks=(14, 20), spending=spending)
    e = lyapunov(condition.ensemble)
    seen = look(e.value, e.se, [14, 20, 24], 40, 0.02, spending=spending)
    shown = planned(condition, asked)
    assert shown["interval now"] == f"[{seen.ci_low:.4f}, {seen.ci_high:.4f}]"
    assert shown["half width"] == f"{seen.half_width:.4f}"
    assert shown["half width"] != planned(condition, replace(asked, looks=()))["half width"]


def test_the_interval_takes_the_error_and_the_maximum_that_are_asked_for() -> None:
    condition = tracked(1)
    e = lyapunov(condition.ensemble)
    for asked in (ASKED, replace(ASKED, alpha=0.01), replace(ASKED, maximum=90)):
        seen = look(e.value, e.se, [12], asked.maximum, 0.02, alpha=asked.alpha, spending="pocock")
        assert planned(condition, asked)["half width"] == f"{seen.half_width:.4f}"


def test_a_condition_stops_where_its_interval_is_narrow_or_its_replicates_are_all_there() -> None:
    condition = tracked(1)
    half = float(planned(condition)["half width"])
    wide, narrow = half * 0.9, half * 1.1
    assert planned(condition, replace(ASKED, half_width=wide))["stop"] == "no"
    assert planned(condition, replace(ASKED, half_width=narrow))["stop"] == "yes: narrow"
    done = replace(ASKED, half_width=1e-6, maximum=12)
    assert planned(condition, done)["stop"] == "yes: exhausted"


def test_above_the_maximum_there_is_no_look() -> None:
    shown = planned(tracked(1), replace(ASKED, maximum=11))
    assert [shown[n] for n in ("interval now", "half width", "stop")] == [
        *("-", "-", "n is above maximum=11")
    ]
    assert shown["replicates per arm"] == planned(tracked(1))["replicates per arm"]


@pytest.mark.parametrize("last", [12, 15])
def test_without_a_replicate_since_the_last_look_there_is_no_look(last: int) -> None:
    shown = planned(tracked(1), replace(ASKED, looks=(10, last)))
    assert [shown[n] for n in ("interval now", "half width", "stop")] == [
        *("-", "-", f"no look since n = {last}")
    ]


def test_one_replicate_since_the_last_look_is_a_look() -> None:
    assert planned(tracked(1), replace(ASKED, looks=(10, 11)))["stop"] in ("no", "yes: narrow")


def test_an_interval_that_says_nothing_is_not_written_out() -> None:
    asked = replace(ASKED, maximum=400, spending="obrien_fleming")
    shown = planned(tracked(1, replicates=4), asked)
    assert (shown["interval now"], shown["half width"], shown["stop"]) == ("-", "> 1", "no")


# --- warnings ----------------------------------------------------------------------------------


def test_a_plan_lists_the_warnings_of_the_pilot() -> None:
    few = tracked(1, replicates=8, decisions="AABBABAB")
    expected = lyapunov(few.ensemble, decisions=few.decisions).warnings
    assert {"few_replicates", "flip_dominated"} <= set(expected)
    assert planned(few)["warnings"] == "\n".join(expected)


def test_a_pilot_without_warnings_has_none() -> None:
    calm = next(c for c in map(tracked, range(50)) if not lyapunov(c.ensemble).warnings)
    assert planned(calm)["warnings"] == "-"


def test_a_condition_without_replicates_has_no_plan() -> None:
    shown = planned(tracked(1, replicates=0))
    assert shown["n"] == "0"
    assert shown["warnings"] == "no_replicates"
    assert {shown[n] for n in ("λ̂", "sd", "replicates per arm", "stop")} == {"-"}


def test_a_rate_without_a_spread_has_no_plan() -> None:
    condition = tracked(1, replicates=2)
    shown = planned(condition)
    assert shown["λ̂"] == f"{lyapunov(condition.ensemble).value:.4f}"
    assert {shown[n] for n in ("sd", "replicates per arm", "half width", "stop")} == {"-"}
    assert "few_replicates" in shown["warnings"]


def test_the_notes_tell_what_was_asked() -> None:
    notes = table([tracked(1)], replace(ASKED, looks=(5, 8))).notes
    assert "Δλ = 0.03 with power 0.8 at 0.05" in notes[0]
    assert "at most 0.02 wide" in notes[1]
    assert "2 before it, of a study of up to 40" in notes[1]
    assert "(pocock)" in notes[1]
    assert "simulated" in notes[2]
