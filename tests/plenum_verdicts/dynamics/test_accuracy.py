"""Accuracy over cases: what cluster-robust regression says, whatever the number of runs."""

import math

import numpy as np
from numpy.testing import assert_allclose
from statsmodels.regression.linear_model import OLS

from plenum_verdicts.dynamics.accuracy import estimate_accuracy


def test_it_is_the_mean_with_cluster_robust_errors() -> None:
    rng = np.random.default_rng(3)
    runs = 20
    easy = rng.random(12)
    decisions = {
        str(case): ["A" if draw < share else "B" for draw in rng.random(runs)]
        for case, share in enumerate(easy)
    }
    found = estimate_accuracy(decisions, dict.fromkeys(decisions, "A"))
    right = np.array([[d == "A" for d in made] for made in decisions.values()], float)
    robust = OLS(right.ravel(), np.ones(right.size)).fit(
        cov_type="cluster",
        cov_kwds={"groups": np.repeat(np.arange(12), runs), "use_correction": False},
    )
    assert_allclose(found.value, robust.params[0])
    assert_allclose(found.se, robust.bse[0] * np.sqrt(12 / 11))  # of a sample of cases
    assert (found.n, found.df) == (12, 11)


def test_every_case_counts_the_same_however_many_runs_it_took() -> None:
    found = estimate_accuracy(
        {"a": ["A"] * 18, "b": ["A", "B", "failed", "none"]}, {"a": "A", "b": "A"}
    )
    assert_allclose(found.value, (1 + 0.25) / 2)


def test_cases_without_an_answer_or_without_runs_are_left_out() -> None:
    found = estimate_accuracy({"a": ["A"], "b": ["B"], "c": []}, {"a": "A", "c": "A"})
    assert (found.value, found.n) == (1.0, 1)
    assert np.isnan(found.se)
    assert estimate_accuracy({}, {}).n == 0


def test_cases_that_are_all_alike_say_nothing_of_others() -> None:
    found = estimate_accuracy({"a": ["B"] * 9, "b": ["B"] * 5}, {"a": "A", "b": "A"})
    assert (found.value, found.n) == (0.0, 2)
    assert math.isnan(found.ci_low)
    assert math.isnan(found.ci_high)
