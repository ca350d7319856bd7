"""Tests of the runs of a suite in columns."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum_verdicts.suites.suite_runs import SuiteRuns

outcomes = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=3),
    st.lists(st.sampled_from(["A", "B", "C", "failed"]), min_size=1, max_size=6),
    min_size=1,
    max_size=8,
)


@given(outcomes, st.integers(1, 4))
def test_chances_are_shares_of_all_choices_of_runs(
    by_case: dict[str, list[str]], runs: int
) -> None:
    estimated = SuiteRuns.of(by_case).chance_alike(runs)
    for value, ended in zip(estimated, by_case.values(), strict=True):
        chosen = [len(set(each)) == 1 for each in combinations(ended, runs)]
        expected = np.mean(chosen) if chosen else np.nan
        assert value == pytest.approx(expected, nan_ok=True)


@given(outcomes)
def test_cells_count_every_run_once(by_case: dict[str, list[str]]) -> None:
    runs = SuiteRuns.of(by_case)
    case, outcome, count = runs.cells
    assert count.sum() == sum(map(len, by_case.values()))
    for number, name in enumerate(runs.cases):
        held = {
            runs.outcomes[o]: n for c, o, n in zip(case, outcome, count, strict=True) if c == number
        }
        assert held == {o: by_case[name].count(o) for o in set(by_case[name])}


def test_cases_with_too_few_runs_leave() -> None:
    runs = SuiteRuns.of(
        {"a": ["x"], "b": ["x", "y"], "c": ["y", "y", "y"]},
        {"a": [1.0], "b": [0.0, 1.0], "c": [1.0, 1.0, 0.0]},
    )
    kept = runs.where_repeated(2)
    assert kept.cases == ("b", "c")
    assert kept.disagreements() == pytest.approx([1.0, 0.0])
    assert kept.mean_scores() == pytest.approx([0.5, 2 / 3])
    assert kept.right.outcomes == ("wrong", "right")
    assert kept.right.chance_alike(2) == pytest.approx([0.0, 1 / 3])
