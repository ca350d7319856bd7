"""Tests of the split of differences between runs by source."""

from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum_verdicts.suites.sources import split_by_source
from plenum_verdicts.suites.suite_runs import SuiteRuns

Cases = list[list[tuple[float, str]]]
"""Score and the column's value of each run of each case."""


def suite(scores: list[list[float]]) -> SuiteRuns:
    by_case = {str(case): own for case, own in enumerate(scores)}
    return SuiteRuns.of({case: list(map(str, own)) for case, own in by_case.items()}, by_case)


def of_cases(cases: Cases) -> tuple[SuiteRuns, dict[str, list[str]]]:
    runs = suite([[score for score, _ in own] for own in cases])
    return runs, {"model": [value for own in cases for _, value in own]}


def test_a_small_table_has_the_split_that_one_finds_by_hand() -> None:
    # First case: values right, right | wrong, wrong. Second: right, wrong | right, wrong.
    runs = suite([[1, 1, 0, 0], [1, 0, 1, 0]])
    split = split_by_source(runs, {"wording": ["a", "a", "b", "b"] * 2})
    (wording,) = split.sources
    # Pairs that share the wording differ in 0 of 2 and 2 of 2; others in 4 of 4 and 2 of 4.
    assert wording.cases == 2
    assert wording.shared == pytest.approx((0 + 1) / 2)
    assert wording.more == pytest.approx(((1 - 0) + (1 / 2 - 1)) / 2)
    assert wording.variance == pytest.approx(wording.more / 2)
    assert wording.interval is None  # two cases don't show how much cases vary


def test_scores_that_a_column_decides_leave_nothing_to_the_run() -> None:
    split = split_by_source(suite([[1, 1, 0, 0]] * 12), {"model": ["m", "m", "n", "n"] * 12})
    (model,) = split.sources
    assert (model.shared, model.more) == pytest.approx((0, 1))
    assert model.interval == pytest.approx((1, 1))
    assert model.variance == pytest.approx(1 / 2)


def test_columns_that_change_together_are_one_source() -> None:
    columns = {"model": list("mmnn") * 3, "version": list("1122") * 3}
    (source,) = split_by_source(suite([[1, 0, 0, 0]] * 3), columns).sources
    assert source.columns == ("model", "version")


def test_columns_of_the_case_of_the_run_or_with_gaps_are_no_sources() -> None:
    columns = {
        "wording": [case for case in "abc" for _ in range(3)],
        "seed": ["1", "2", "3"] * 3,
        "fingerprint": ["f", "g", ""] * 3,
    }
    split = split_by_source(suite([[1, 0, 0]] * 3), columns)
    assert (split.sources, split.incomplete) == ((), ("fingerprint",))


def test_disagreement_is_split_without_right_answers() -> None:
    runs = SuiteRuns.of({str(case): ["x", "x", "y", "z"] for case in range(12)})
    split = split_by_source(runs, {"model": list("mmnn") * 12})
    (model,) = split.sources
    assert (model.shared, model.more) == pytest.approx((1 / 2, 1 / 2))
    assert model.variance is None


_RUN = st.tuples(st.sampled_from([0.0, 0.25, 1.0]), st.sampled_from("abc"))
_CASES = st.lists(st.lists(_RUN, min_size=1, max_size=6), min_size=1, max_size=6)


@given(_CASES)
def test_one_column_is_split_as_pairs_say_one_by_one(cases: Cases) -> None:
    split = split_by_source(*of_cases(cases))
    shared, more, variance = [], [], []
    for own in cases:
        pairs = [(a[0], b[0], a[1] == b[1]) for a, b in combinations(own, 2)]
        same, other = ([(x, y) for x, y, alike in pairs if alike == kind] for kind in (True, False))
        if same and other:
            run = np.mean([(x - y) ** 2 / 2 for x, y in same])
            shared.append(np.mean([x != y for x, y in same]))
            more.append(np.mean([x != y for x, y in other]) - shared[-1])
            variance.append(np.mean([(x - y) ** 2 / 2 for x, y in other]) - run)
    if len(more) < 2:
        assert split.sources == ()
        return
    (source,) = split.sources
    expected = (len(more), np.mean(shared), np.mean(more), np.mean(variance))
    assert (source.cases, source.shared, source.more, source.variance) == pytest.approx(expected)


@given(_CASES, st.randoms(use_true_random=False))
def test_neither_order_nor_names_change_the_split(cases: Cases, random: Random) -> None:
    before = split_by_source(*of_cases(cases))
    renamed = [[(score, {"a": "z", "b": "y", "c": "x"}[of]) for score, of in own] for own in cases]
    for own in renamed:
        random.shuffle(own)
    random.shuffle(renamed)
    after = split_by_source(*of_cases(renamed))
    assert len(after.sources) == len(before.sources)
    for a, b in zip(after.sources, before.sources, strict=True):
        assert (a.shared, a.more, a.variance) == pytest.approx((b.shared, b.more, b.variance))
