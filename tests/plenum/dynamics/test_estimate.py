"""Student's t for intervals and tests."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from plenum.dynamics.estimate import estimate_mean, make_estimate, two_sided_p, welch_df


@given(st.floats(-10, 10), st.floats(0.01, 10), st.integers(1, 60))
def test_intervals_and_p_are_students(value: float, se: float, df: int) -> None:
    found = make_estimate(value, se, df, df + 1, "t")
    law = stats.t(df, value, se)
    assert_allclose([found.ci_low, found.ci_high], law.ppf([0.025, 0.975]), rtol=1e-9, atol=1e-9)
    assert_allclose(found.p, 2 * stats.t(df).sf(abs(value) / se), rtol=1e-9)
    assert (found.p < 0.05) == (found.ci_low > 0 or found.ci_high < 0)


@pytest.mark.parametrize(("value", "p"), [(0.0, 1.0), (0.1, 0.0)])
def test_without_uncertainty_a_test_is_certain(value: float, p: float) -> None:
    assert two_sided_p(value, 0.0, 5) == p


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=20).filter(lambda v: np.std(v) > 1e-3))
def test_a_mean_has_the_one_sample_t_test(values: list[float]) -> None:
    found = estimate_mean(np.array([*values, np.nan]), "mean")
    reference = stats.ttest_1samp(values, 0)
    interval = reference.confidence_interval(0.95)
    assert_allclose([found.value, found.p], [np.mean(values), reference.pvalue], rtol=1e-6)
    assert_allclose([found.ci_low, found.ci_high], [interval.low, interval.high], rtol=1e-6)
    assert (found.n, found.df) == (len(values), len(values) - 1)


def test_welch_agrees_with_the_two_sample_test() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=7), 3 * rng.normal(size=12)
    variances = np.array([a.var(ddof=1) / 7, b.var(ddof=1) / 12])
    reference = stats.ttest_ind(a, b, equal_var=False)
    assert_allclose(welch_df(variances, np.array([6, 11])), reference.df)
    assert_allclose(welch_df(np.array([0.1, 0.1]), np.array([5, 5])), 10)
    assert welch_df(np.zeros(2), np.array([5.0, 5.0])) == 10
