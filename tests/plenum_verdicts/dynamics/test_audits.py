"""Verdicts on cases and on all of them; failures and missing decisions are outcomes."""

import json
import math

import numpy as np
import pytest
from sequential_evidence import evidence

from plenum_verdicts.dynamics.audits import (
    StabilityRule,
    halves,
    judge_case,
    judge_cases,
    judge_family,
    select_ended,
)

OPTIONS = ("A", "B", "C")
RULE = StabilityRule()


def test_runs_count_in_the_order_of_their_index_up_to_an_open_one() -> None:
    runs = [(2, "failed", ""), (0, "completed", "B"), (1, "completed", "none")]
    assert select_ended(runs) == ["B", "none", "failed"]
    assert select_ended([*runs, (3, "pending", ""), (4, "completed", "A")]) == [
        "B",
        "none",
        "failed",
    ]
    assert select_ended([(1, "completed", "A")]) == []


def test_a_case_that_decides_alike_is_stable_after_18_runs() -> None:
    case = judge_case(["B"] * 20, OPTIONS, RULE)
    assert (case.verdict, case.evidence.runs, case.runs, case.mode) == ("stable", 18, 20, "B")
    assert (case.share, case.high, case.disagreement, case.halves_p) == (1.0, 1.0, 0.0, 1.0)
    assert case.all_alike(5) == 1.0
    assert math.isnan(case.all_alike(21))


@pytest.mark.parametrize("outcome", ["failed", "none", "gibberish"])
def test_no_program_is_stable_in_failing(outcome: str) -> None:
    case = judge_case([outcome] * 30, OPTIONS, RULE)
    assert (case.verdict, case.mode, case.share, case.low) == ("unstable", "", 0.0, 0.0)
    assert case.high < 0.4


def test_failures_are_misses_of_every_option() -> None:
    """Three failures among thirty runs count as three other decisions would."""
    path = ["A"] * 30
    for at in (5, 12, 20):
        path[at] = "failed"
    case = judge_case(path, OPTIONS, RULE)
    other = evidence(
        [4 if outcome == "failed" else 0 for outcome in path], 5, acceptable=0.95, unacceptable=0.8
    )
    assert case.evidence.stable == pytest.approx(other.stable, rel=0.03)
    assert (case.share, case.counts["failed"]) == (0.9, 3)


def test_the_family_is_stable_where_each_case_is_and_unstable_where_one_is_shown_to_be() -> None:
    alike = judge_case(["B"] * 18, OPTIONS, RULE)
    split = judge_case(["A", "B"] * 10, OPTIONS, RULE)
    few = judge_case(["A"] * 6, OPTIONS, RULE)
    assert judge_family({"a": alike, "b": alike}, RULE).verdict == "stable"
    assert judge_family({"a": alike, "b": few}, RULE).verdict == "undecided"
    mixed = judge_family({"a": alike, "b": split, "c": few}, RULE)
    assert (mixed.verdict, mixed.unstable) == ("unstable", ("b",))
    assert mixed.stable == ()  # e-Holm wants 60 for the best of three
    assert mixed.stable_p["a"] == pytest.approx(3 / alike.evidence.stable)
    assert judge_family({"a": alike}, RULE).stable == ("a",)


def test_many_cases_are_judged_as_each_one_is_and_the_largest_evidence_can_be_huge() -> None:
    outcomes = {
        "split": ["A", "B"] * 500,
        "alike": ["B"] * 4000,
        "few": ["A", "failed", "A"],
        "few too": ["A", "failed", "A"],
        "none": [],
    }
    together = judge_cases(outcomes, dict.fromkeys(outcomes, OPTIONS), RULE)
    for name, made in outcomes.items():
        alone = judge_case(made, OPTIONS, RULE)
        assert alone.evidence == together[name].evidence
        assert (alone.low, alone.high) == pytest.approx((together[name].low, together[name].high))
    verdict = judge_family(together, RULE)
    assert (verdict.unstable, verdict.stable) == (("split",), ("alike",))
    assert json.loads(json.dumps(together["split"].evidence.unstable, allow_nan=False)) == 1e300


@pytest.mark.slow
def test_unstable_among_many_stable_cases_is_rarely_said_whenever_one_looks() -> None:
    rng = np.random.default_rng(8)
    said = 0
    for _ in range(150):  # families whose shares are acceptable, to the letter
        paths = rng.random((5, 60)) < RULE.acceptable
        outcomes = {str(n): np.where(path, "A", "B").tolist() for n, path in enumerate(paths)}
        cases = judge_cases(outcomes, dict.fromkeys(outcomes, OPTIONS), RULE)
        said += bool(judge_family(cases, RULE).unstable)  # the largest evidence at any run
    assert said / 150 < 0.05


def test_a_drift_between_the_halves_is_seen_and_chance_isn_t() -> None:
    assert halves([0] * 20 + [1] * 20) < 0.001
    assert judge_family(
        {"a": judge_case(["A"] * 20 + ["B"] * 20, OPTIONS, RULE)}, RULE
    ).not_exchangeable
    rng = np.random.default_rng(3)
    p = [halves(rng.choice(3, p=[0.7, 0.2, 0.1], size=30)) for _ in range(300)]
    assert np.mean(np.array(p) <= 0.05) < 0.07
    assert halves([0, 1]) == halves([1] * 9) == halves([]) == 1.0
