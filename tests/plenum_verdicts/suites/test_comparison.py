"""Tests of two programs on a suite."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plenum_verdicts.suites.comparison import compare_suites
from plenum_verdicts.suites.noise import limit_mean
from plenum_verdicts.suites.suite_runs import SuiteRuns

scored = st.lists(
    st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=5), min_size=2, max_size=12
)


def suite(scores: list[list[float]], known: bool = True) -> SuiteRuns:
    by_case = {str(case): own for case, own in enumerate(scores)}
    names = {case: [str(each) for each in own] for case, own in by_case.items()}
    return SuiteRuns.of(names, by_case if known else None)


@given(scored, scored)
@settings(max_examples=40)
def test_the_other_way_round_the_difference_has_the_other_sign(
    one: list[list[float]], two: list[list[float]]
) -> None:
    forth, back = compare_suites(suite(one), suite(two)), compare_suites(suite(two), suite(one))
    assert forth.difference == pytest.approx(-back.difference)
    assert forth.these == pytest.approx((-back.these[1], -back.these[0]))
    assert forth.like == pytest.approx((-back.like[1], -back.like[0]))
    assert forth.cases == back.cases == min(len(one), len(two))
    assert forth.alone == back.alone == abs(len(one) - len(two))


@given(scored, st.randoms())
@settings(max_examples=20)
def test_the_order_of_cases_changes_nothing(scores: list[list[float]], random: object) -> None:
    by_case = {str(case): own for case, own in enumerate(scores)}
    names = list(by_case)
    random.shuffle(names)  # type: ignore[attr-defined]
    other = {name: by_case[name] for name in names}
    right = SuiteRuns.of({name: ["A"] * len(own) for name, own in other.items()}, other)
    found = compare_suites(suite(scores), right)
    assert found.difference == 0
    assert found.these[0] == pytest.approx(-found.these[1])


def test_a_difference_of_known_runs() -> None:
    before = suite([[1, 1, 1, 1], [1, 0, 1, 0]] * 20)
    after = suite([[1, 1, 0, 0], [0, 0, 0, 0]] * 20)
    found = compare_suites(before, after, 0.05)
    assert found.measure == "score"
    assert found.difference == pytest.approx(-0.5)
    error = np.sqrt(40 * (1 / 3) / 4) / 40
    assert found.these == pytest.approx(limit_mean(-0.5, error, 1 / 160, 1.6449), abs=1e-4)
    assert found.worse
    assert not found.within
    assert found.further is None
    assert found.verdict == "unstable"
    assert compare_suites(after, before).within


def test_without_right_answers_agreement_is_compared() -> None:
    steady = suite([[1, 1, 1, 1]] * 60, known=False)
    coins = suite([[1, 0, 1, 0]] * 60, known=False)
    found = compare_suites(steady, coins)
    assert found.measure == "agreement"
    assert found.difference == pytest.approx(-2 / 3)
    assert found.worse


def test_more_repeats_are_advised_until_it_can_be_told() -> None:
    runs = suite([[1, 1, 0, 1], [1, 1, 1, 1]] * 15)
    found = compare_suites(runs, runs, 0.03)
    assert not found.worse
    assert not found.within
    assert found.further
    more = suite([[1, 1, 0, 1] * (1 + found.further), [1, 1, 1, 1] * (1 + found.further)] * 15)
    assert compare_suites(more, more, 0.03).within


def test_programs_without_a_common_case_are_refused() -> None:
    one = SuiteRuns.of({"a": ["x", "x"]})
    with pytest.raises(ValueError, match="no case"):
        compare_suites(one, SuiteRuns.of({"b": ["x", "x"]}))
