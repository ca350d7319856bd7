"""Planning: replicates for a contrast."""

from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.power import TTestIndPower

from plenum.dynamics.sample_sizes import plan_replicates, power_of

# --- replicates --------------------------------------------------------------------------------


@settings(max_examples=25)
@given(st.floats(0.1, 2), st.sampled_from([0.5, 0.8, 0.9, 0.99]), st.sampled_from([0.05, 0.01]))
def test_the_plan_agrees_with_statsmodels(effect: float, power: float, alpha: float) -> None:
    reference = TTestIndPower()
    found = plan_replicates(effect * 0.07, 0.07, power, alpha)
    n = found.replicates
    assert_allclose(found.power, reference.power(effect, n, alpha), atol=1e-6)
    assert found.power >= power
    assert n == 2 or reference.power(effect, n - 1, alpha) < power


def test_a_difference_of_003_with_the_papers_spread_needs_about_114_an_arm() -> None:
    # The spread with which 20 replicates find it with a power of 22 %.
    found = plan_replicates(0.03, 0.0805)
    assert_allclose(power_of(20, 0.03, 0.0805), 0.21, atol=0.02)
    assert 110 <= found.replicates <= 118


def test_small_differences_need_many_and_large_ones_two() -> None:
    assert power_of(1, 1.0, 0.1) == 0
    assert plan_replicates(1.0, 0.001).replicates == 2
    many = plan_replicates(0.001, 0.1, 0.9, 0.01).replicates
    z = stats.norm.ppf(0.995) + stats.norm.ppf(0.9)
    assert_allclose(many, 2 * (z / 0.01) ** 2, rtol=1e-3)
