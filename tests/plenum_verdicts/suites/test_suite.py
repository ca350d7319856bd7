"""Tests of what is said of a suite: analytic values, bounds by brute force, and invariance."""

from itertools import combinations, permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from plenum_verdicts.suites.assessment import assess_suite
from plenum_verdicts.suites.disagreement import (
    bound_unsteady_cases,
    estimate_disagreement,
    limit_without_differences,
    variances_of_disagreements,
)
from plenum_verdicts.suites.intervals import SuiteEstimate
from plenum_verdicts.suites.scores import score_suite
from plenum_verdicts.suites.suite_runs import SuiteRuns
from plenum_verdicts.suites.suite_verdict import (
    SuiteRule,
    SuiteVerdict,
    count_cases_needed,
    judge_suite,
)
from plenum_verdicts.suites.unsteady_cases import find_unsteady

suites = st.lists(
    st.lists(st.sampled_from("ABC"), min_size=2, max_size=5), min_size=2, max_size=12
).map(lambda cases: {f"case {n}": ended for n, ended in enumerate(cases)})


@given(st.lists(st.lists(st.sampled_from("ABC"), min_size=4, max_size=6), min_size=2, max_size=4))
def test_the_variance_within_cases_is_the_mean_over_choices_of_four(cases: list[list[str]]) -> None:
    runs = SuiteRuns.of({str(n): ended for n, ended in enumerate(cases)})
    found = variances_of_disagreements(runs, runs.disagreements())
    for value, ended in zip(found, cases, strict=True):
        apart = np.mean([a != b for a, b in combinations(ended, 2)])
        both = np.mean([a != b and c != d for a, b, c, d in permutations(ended, 4)])
        assert value == pytest.approx(apart**2 - both)


def test_the_interval_of_a_few_coins_holds() -> None:
    generator, held = np.random.default_rng(3), 0
    for _ in range(400):
        drawn = generator.choice(["A", "B"], (12, 20)).tolist()
        limits = estimate_disagreement(SuiteRuns.of({str(n): of for n, of in enumerate(drawn)}))
        held += limits.these[0] <= 0.5 <= limits.these[1]
    assert held >= 0.93 * 400  # 0.88 with the variance that the runs themselves show


@given(suites)
@settings(max_examples=50)
def test_cases_like_these_are_never_surer_than_these(by_case: dict[str, list[str]]) -> None:
    found = assess_suite(SuiteRuns.of(by_case), SuiteRule()).disagreement
    if found.value > 0:
        assert found.like[0] <= found.these[0] + 1e-12
        assert found.these[1] <= found.like[1] + 1e-12


@given(st.integers(2, 9), st.integers(0, 9))
def test_passing_so_often_is_the_share_of_choices_of_runs_that_are_all_right(
    runs: int, right: int
) -> None:
    right = min(right, runs)
    by_case = {name: ["A"] * runs for name in "abc"}
    scores = [1.0] * right + [0.0] * (runs - right)
    found = score_suite(SuiteRuns.of(by_case, dict.fromkeys(by_case, scores))).passing
    for k, each in enumerate(found, 1):
        assert each.value == pytest.approx(comb(right, k) / comb(runs, k))
        assert each.these[0] <= each.value <= each.these[1]
    assert len(found) == runs


def test_runs_of_these_cases_tell_how_often_several_are_right_if_they_are_twice_as_many() -> None:
    """Cases differ much, and runs of one case don't: these cases are known, others aren't."""
    by_case = {str(n): ["A"] * 4 for n in range(60)}
    scores = {name: [float(n % 2)] * 4 for n, name in enumerate(by_case)}
    one, two, three, _ = score_suite(SuiteRuns.of(by_case, scores)).passing
    widths = [each.these[1] - each.these[0] for each in (one, two, three)]
    assert widths[0] == pytest.approx(widths[1])
    assert widths[1] < 0.8 * widths[2]
    assert three.these == three.like


@pytest.mark.slow
@given(suites, st.randoms())
@settings(max_examples=50)
def test_order_and_names_change_nothing(by_case: dict[str, list[str]], random: object) -> None:
    other = {f"x{name}": [{"A": "no", "B": "yes", "C": "?"}[o] for o in ended]
             for name, ended in reversed(by_case.items())}  # fmt: skip
    for ended in other.values():
        random.shuffle(ended)  # type: ignore[attr-defined]
    one, two = (assess_suite(SuiteRuns.of(each), SuiteRule()) for each in (by_case, other))
    assert one.verdict == two.verdict
    assert one.disagreement.value == pytest.approx(two.disagreement.value)
    assert one.disagreement.like == pytest.approx(two.disagreement.like)
    assert one.unsteady == two.unsteady
    assert len(one.contradicted) == len(two.contradicted)


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(2, 6), st.booleans()), min_size=1, max_size=9))
@settings(max_examples=60, deadline=None)
def test_bounds_on_unsteady_cases_equal_those_over_all_choices_of_cases(
    cases: list[tuple[int, bool]],
) -> None:
    share = 0.9
    by_case = {
        str(n): ["A"] * (runs - apart) + ["B"] * apart for n, (runs, apart) in enumerate(cases)
    }
    found = bound_unsteady_cases(SuiteRuns.of(by_case), share)
    contradicted = sum(apart for _, apart in cases)

    def tail(chances: list[float], least: int, most: int) -> float:
        weights = np.ones(1)
        for chance in chances:
            weights = np.convolve(weights, [1 - chance, chance])
        return float(weights[max(least, 0) : most + 1].sum())

    possible = set()
    for bad in range(len(cases) + 1):
        many = few = 0.0
        for chosen in combinations(range(len(cases)), bad):
            good = [1 - share**runs for n, (runs, _) in enumerate(cases) if n not in chosen]
            many = max(many, tail(good, contradicted - bad, len(good)))
            worst = [1 - share ** cases[n][0] - (1 - share) ** cases[n][0] for n in chosen]
            few = max(few, tail(worst, 0, contradicted))
        if many >= 0.025 and few >= 0.025:
            possible.add(bad)
    assert found.these == pytest.approx((min(possible) / len(cases), max(possible) / len(cases)))


def test_unanimous_cases_are_bounded_by_the_binomial() -> None:
    runs = SuiteRuns.of({str(n): ["A"] * 4 for n in range(50)})
    chance = 1 - 0.95**4 - 0.05**4
    most = max(bad for bad in range(51) if binom.cdf(0, bad, chance) >= 0.025)
    assert bound_unsteady_cases(runs).these == (0.0, most / 50)


def test_scores_of_known_runs() -> None:
    outcomes = {"a": ["r", "r", "w", "w"], "b": ["r", "r", "r", "r"], "c": ["w", "w", "w", "r"]}
    scores = {case: [float(o == "r") for o in ended] for case, ended in outcomes.items()}
    found = score_suite(SuiteRuns.of(outcomes, scores))
    assert found.score.value == pytest.approx((0.5 + 1 + 0.25) / 3)
    assert [each.value for each in found.passing] == pytest.approx(
        [1.75 / 3, (1 / 6 + 1) / 3, 1 / 3, 1 / 3]
    )
    assert found.consistency is not None
    assert found.consistency.value == pytest.approx(1 - 2 * (2 / 3 + 0 + 1 / 2) / 3)
    assert found.floor.value == pytest.approx(np.sqrt(1 / 3 + 0 + 1 / 4) / 3)
    assert found.smallest_difference == pytest.approx(
        1.96 * np.sqrt(2) * found.floor.value, rel=1e-3
    )


def test_runs_that_never_differ_still_leave_room_for_differences() -> None:
    same = SuiteRuns.of(
        {str(n): ["A"] * 4 for n in range(50)}, {str(n): [1.0] * 4 for n in range(50)}
    )
    found = score_suite(same)
    assert found.smallest_difference == 0
    low, high = found.smallest_difference_limits
    assert (low, high / 1.96 / np.sqrt(2)) == pytest.approx((0, found.floor.these[1]), rel=1e-3)
    assert high > 0.04


def test_cases_with_one_run_count_for_the_score() -> None:
    """Those that succeed are run again, those that fail aren't: the score is of all of them."""
    ended = {f"right {n}": ["A"] * 3 for n in range(80)} | {f"wrong {n}": ["B"] for n in range(40)}
    scores = {case: [float(each == "A") for each in own] for case, own in ended.items()}
    found = score_suite(SuiteRuns.of(ended, scores))
    assert found.score.value == pytest.approx(80 / 120)
    assert found.score.these[0] < 80 / 120 < found.score.these[1]
    assert [each.value for each in found.passing] == pytest.approx([80 / 120])
    assert found.consistency is not None
    assert found.consistency.cases == 80
    # Its noise is that of the cases with more runs, shared out over all.
    without = score_suite(SuiteRuns.of(ended, scores).where_repeated(2))
    assert found.floor.these[1] == pytest.approx(without.floor.these[1] * np.sqrt(80 / 120))


def test_equal_cases_leave_room_for_cases_that_differ() -> None:
    found = estimate_disagreement(SuiteRuns.of({str(n): ["A", "A", "B"] for n in range(12)}))
    assert found.value == pytest.approx(2 / 3)
    assert found.like[0] < 0.5 < 0.8 < found.like[1]


def test_a_perfectly_split_suite_is_unstable_and_a_unanimous_one_stable() -> None:
    split = SuiteRuns.of({str(n): ["A", "B", "A", "B"] for n in range(20)})
    assert estimate_disagreement(split).value == pytest.approx(2 / 3)
    assert assess_suite(split, SuiteRule()).verdict.verdict == "unstable"
    same = SuiteRuns.of({str(n): ["A", "A", "A"] for n in range(40)})
    assert assess_suite(same, SuiteRule()).verdict == SuiteVerdict("stable", "like", False, 40)
    assert assess_suite(same, SuiteRule(0.01, 0.02)).verdict.verdict == "undecided"


def test_few_cases_with_many_runs_have_a_verdict_of_their_own() -> None:
    few = SuiteRuns.of({str(n): ["A"] * 100 for n in range(20)})
    assert assess_suite(few, SuiteRule()).verdict == SuiteVerdict("stable", "these", False, 20)
    between = SuiteEstimate(0.1, (0.06, 0.14), (0.0, 0.3), 9)
    assert judge_suite(between, SuiteRule()) == SuiteVerdict("undecided", "these", True, 9)


def test_the_number_of_cases_that_is_said_is_the_least_that_shows_it() -> None:
    least = count_cases_needed(SuiteRule(), 0.0)
    for cases, shown in ((least - 1, ""), (least, "like")):
        alike = estimate_disagreement(SuiteRuns.of({str(n): ["A"] * 2 for n in range(cases)}))
        assert (judge_suite(alike, SuiteRule()).scope == "like") == bool(shown)


def test_a_rule_in_the_wrong_order_is_refused() -> None:
    with pytest.raises(ValueError, match="acceptable"):
        SuiteRule(0.2, 0.1)


@given(st.lists(st.integers(2, 6), min_size=1, max_size=4), st.randoms())
@settings(max_examples=40, deadline=None)
def test_no_cases_with_more_disagreement_than_the_limit_agree_more_often(
    repeats: list[int], random: object
) -> None:
    limit = limit_without_differences(np.array(repeats))
    for _ in range(20):
        apart = np.array([random.random() for _ in repeats])  # type: ignore[attr-defined]
        if apart.mean() > limit:
            assert np.prod((1 - apart) ** (np.array(repeats) / 2)) <= 0.025 + 1e-9


def test_where_nothing_differs_the_limit_is_that_of_equal_cases() -> None:
    same = SuiteRuns.of({str(case): ["A"] * 4 for case in range(50)})
    assert estimate_disagreement(same).these == pytest.approx((0, 1 - 0.025 ** (2 / 200)))


def test_a_case_of_two_runs_widens_the_interval_by_its_own_part_alone() -> None:
    cases = {str(case): ["A", "A", "B", "A"] if case % 5 == 0 else ["A"] * 4 for case in range(50)}
    low, high = estimate_disagreement(SuiteRuns.of(cases)).these
    less, more = estimate_disagreement(SuiteRuns.of({**cases, "51": ["A", "A"]})).these
    assert more - less == pytest.approx(high - low, rel=0.05)


def test_cases_that_stand_out_need_evidence_that_grows_with_their_number() -> None:
    calm = {str(case): ["A"] * 12 for case in range(48)}
    split = {"x": ["A", "B"] * 6, "y": ["A", "B", "C"] * 4}
    assert set(find_unsteady(SuiteRuns.of({**calm, **split}))) == {"x", "y"}
    assert find_unsteady(SuiteRuns.of(calm)) == ()
    once = {"z": ["A"] * 11 + ["B"]}
    assert find_unsteady(SuiteRuns.of({**calm, **once})) == ()
