"""Tests of advice on further runs."""

import numpy as np
import pytest

from plenum_audit.suites import SuiteRuns, advise_budget


def suite(scores: list[list[float]]) -> SuiteRuns:
    by_case = {str(case): own for case, own in enumerate(scores)}
    return SuiteRuns.of({case: list(map(str, own)) for case, own in by_case.items()}, by_case)


def test_repeats_help_these_cases_and_where_cases_differ_new_ones_help_more() -> None:
    runs = suite([[1, 0, 1, 0]] * 10 + [[1, 1, 1, 1]] * 30 + [[0, 0, 0, 0]] * 10)
    found = advise_budget(runs, 200)
    assert found.now.these is not None
    assert found.everywhere.these == pytest.approx(found.now.these / np.sqrt(2))
    assert found.new_cases.like < 0.8 * found.everywhere.like
    assert found.to_halve_these == 600
    assert found.to_halve_like is not None
    again = advise_budget(runs, found.to_halve_like).new_cases.like
    assert again == pytest.approx(found.now.like / 2, rel=0.02)


def test_graded_scores_are_advised_on_too() -> None:
    drawn = np.random.default_rng(1).random((20, 3))
    found = advise_budget(suite(drawn.tolist()), 60)
    spread = (drawn.var(axis=1, ddof=1) / 3).sum()
    assert found.now.these == pytest.approx(np.sqrt(spread) / 20)


def test_a_score_without_error_has_nothing_to_halve() -> None:
    found = advise_budget(suite([[1, 1, 1]] * 9), 30)
    assert found.to_halve_these is None
    assert found.to_halve_like is None
