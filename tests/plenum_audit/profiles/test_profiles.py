"""Reliability profiles: analytic values of each part, and properties that users rely on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from plenum_audit.profiles import (
    ChangedRuns,
    StatedRuns,
    assess_calibration,
    assess_change,
    estimate_area,
    estimate_spread,
    trace_risk,
)
from plenum_audit.suites import SuiteRuns, tell_apart

LEVELS = (0.5, 0.6, 0.8, 0.9)


def independent(confidence: list[float], right: list[float]) -> StatedRuns:
    """Runs of a case each."""
    return StatedRuns.of(np.arange(len(right)), confidence, np.array(right, float))


def test_the_brier_score_of_two_groups_is_decomposed_exactly() -> None:
    # 0.9 is right in 60 of 80 cases, 0.6 in 12 of 40: without the bias of few cases
    # reliability is (80 (.9 - .75)² + 40 (.6 - .3)²) / 120, and resolution the variance of .75, .3.
    runs = independent([0.9] * 80 + [0.6] * 40, [1] * 60 + [0] * 20 + [1] * 12 + [0] * 28)
    found = assess_calibration(runs)
    own = [60 * 59 / (80 * 79), 12 * 11 / (40 * 39)]  # unbiased squares of .75 and .3
    all_right = 72 * 71 / (120 * 119)
    reliability = (80 * (0.81 - 1.8 * 0.75 + own[0]) + 40 * (0.36 - 1.2 * 0.3 + own[1])) / 120
    resolution = (80 * own[0] + 40 * own[1]) / 120 - all_right
    assert_allclose(found.brier.value, (60 * 0.01 + 20 * 0.81 + 12 * 0.16 + 28 * 0.36) / 120)
    assert_allclose(found.reliability.value, reliability)
    assert_allclose(found.resolution.value, resolution)
    assert_allclose(found.uncertainty.value, 72 / 120 - all_right)
    assert_allclose(found.within, 0, atol=1e-12)
    assert_allclose([each.right.value for each in found.bins], [0.3, 0.75])


@given(
    st.lists(
        st.tuples(st.integers(0, 11), st.sampled_from(LEVELS), st.booleans()),
        min_size=12,
        max_size=60,
    ).filter(lambda rows: len({case for case, _, _ in rows}) > 3)
)
def test_the_parts_add_up_and_order_changes_nothing(rows: list[tuple[int, float, bool]]) -> None:
    def assessed(rows: list[tuple[int, float, bool]]) -> list[float]:
        case, confidence, right = (list(each) for each in zip(*rows, strict=True))
        found = assess_calibration(StatedRuns.of(case, confidence, np.array(right, float)))
        parts = found.reliability.value - found.resolution.value + found.uncertainty.value
        assert_allclose(parts + found.within, found.brier.value, atol=1e-12)
        return [found.brier.value, found.reliability.value, found.resolution.value]

    assert_allclose(assessed(rows), assessed(rows[::-1]), atol=1e-12)


def test_runs_of_a_case_that_err_together_do_not_look_miscalibrated() -> None:
    # 80 % is stated, and each case is right in all its 8 runs or in none: four of five cases are.
    draw = np.random.default_rng(1)
    found = []
    for _ in range(200):
        right = np.repeat(draw.random(25) < 0.8, 8).astype(float)
        stated = StatedRuns.of(np.repeat(np.arange(25), 8), np.full(200, 0.8), right)
        found.append(assess_calibration(stated).reliability.value)
    plug_in = 0.16 / 25  # what few cases alone would add
    assert abs(np.mean(found)) < plug_in / 3


def test_the_right_run_is_more_confident_as_often_as_pairs_say() -> None:
    runs = independent([0.9, 0.9, 0.6, 0.6], [1, 0, 1, 0])
    area = estimate_area(runs)
    assert area is not None
    assert_allclose(area.value, (0.5 + 1 + 0 + 0.5) / 4)
    assert estimate_area(independent([0.9, 0.8], [1, 1])) is None
    # Pairs within a case don't count: the only wrong run is of the only right case.
    assert estimate_area(StatedRuns.of([0, 0], [0.9, 0.5], np.array([1.0, 0.0]))) is None


def test_risk_is_that_of_the_most_confident_runs() -> None:
    runs = independent([0.9] * 10 + [0.5] * 10, [1] * 9 + [0] + [1] * 5 + [0] * 5)
    sure, every = trace_risk(runs)
    assert_allclose([sure.coverage, sure.wrong.value, sure.least], [0.5, 0.1, 0.9])
    assert_allclose([every.coverage, every.wrong.value, every.least], [1, 0.3, 0.5])


def test_a_change_that_turns_decisions_around_shows_and_one_that_does_nothing_does_not() -> None:
    cases = [f"c{n}" for n in range(20)]
    scores = {case: [1.0, 1.0] for case in cases}
    usual = SuiteRuns.of({case: ["A", "A"] for case in cases}, scores)
    same = assess_change("same", usual, ChangedRuns(usual, ("reversed",) * 40))
    assert_allclose([same.differ_more.value, same.undecided], 0, atol=1e-12)
    turned = SuiteRuns.of(
        {case: ["B", "B"] if n < 5 else ["A", "A"] for n, case in enumerate(cases)},
        {case: [0.0, 0.0] if n < 5 else [1.0, 1.0] for n, case in enumerate(cases)},
    )
    found = assess_change("turned", usual, ChangedRuns(turned, ("reversed",) * 40))
    assert found.score is not None
    assert_allclose([found.differ_more.value, found.score.value], [0.25, -0.25])
    assert found.score.interval is not None
    assert found.score.interval[0] <= -0.25 <= found.score.interval[1]


def test_runs_that_fail_agree_with_none_without_the_change_or_with_it() -> None:
    failing = {f"c{n}": tell_apart(["failed", "failed"]) for n in range(12)}
    both = SuiteRuns.of(failing)
    found = assess_change("faults", both, ChangedRuns(both, ("faults",) * 24))
    assert_allclose([found.differ_more.value, found.undecided], [0, 1], atol=1e-12)


def test_too_few_cases_get_no_interval() -> None:
    usual = SuiteRuns.of({case: ["A", "A"] for case in "abc"})
    found = assess_change("same", usual, ChangedRuns(usual, ("reversed",) * 6))
    assert found.differ_more.interval is None
    assert assess_calibration(independent([0.9] * 5, [1, 1, 1, 1, 0])).reliability.interval is None


@pytest.mark.parametrize(("spent", "value"), [([3, 3, 3], 0.0), ([1, 3], 1.0), ([0, 0], 0.0)])
def test_spread_is_relative_to_the_mean(spent: list[float], value: float) -> None:
    case, costs = np.repeat([0, 1], len(spent)), np.tile(np.array(spent, float), 2)
    assert_allclose(estimate_spread(case, costs).value, value)
    assert_allclose(estimate_spread(case, 1000 * costs).value, value)
