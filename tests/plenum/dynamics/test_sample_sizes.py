"""Planning: replicates for a contrast, and looks that are paid for."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.power import TTestIndPower

from plenum.dynamics import look, plan_replicates
from plenum.dynamics.sample_sizes import boundaries, power_of, spent

FIVE = np.arange(1, 6) / 5


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


# --- spending ----------------------------------------------------------------------------------


@pytest.mark.parametrize("spending", ["obrien_fleming", "pocock"])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_spending_goes_from_nothing_to_alpha_and_never_back(spending: str, alpha: float) -> None:
    assert spent(0, alpha, spending) == 0
    assert_allclose(spent(1, alpha, spending), alpha, rtol=1e-12)
    every = [spent(f, alpha, spending) for f in np.linspace(0, 1, 101)]
    assert (np.diff(every) >= 0).all()


def test_two_looks_agree_with_the_bivariate_normal() -> None:
    for spending in ("obrien_fleming", "pocock"):
        first, second = boundaries(np.array([0.4, 1.0]), 0.05, spending)
        law = stats.multivariate_normal([0, 0], [[1, math.sqrt(0.4)], [math.sqrt(0.4), 1]])
        corners = [(first, second), (-first, second), (first, -second), (-first, -second)]
        a, b, c, d = (law.cdf(corner) for corner in corners)
        assert_allclose(a - b - c + d, 0.95, atol=1e-6)
        assert_allclose(2 * stats.norm.sf(first), spent(0.4, 0.05, spending), rtol=1e-9)


def test_five_looks_have_the_published_pocock_type_boundaries() -> None:
    found = boundaries(FIVE, 0.05, "pocock")
    assert_allclose(found, [2.4380, 2.4268, 2.4101, 2.3966, 2.3859], atol=2e-4)


def test_five_looks_have_the_published_obrien_fleming_type_boundaries() -> None:
    # Lan and DeMets, two-sided 0.05 as two one-sided 0.025, as all programs tabulate it.
    found = boundaries(FIVE, 0.05, "obrien_fleming")
    assert_allclose(found, [4.8769, 3.3569, 2.6803, 2.2898, 2.0310], atol=2e-4)


# --- looks -------------------------------------------------------------------------------------


def test_a_look_widens_the_interval_by_what_looking_costs() -> None:
    found = look(0.1, 0.02, [20, 40], 100, half_width=0.01, spending="pocock")
    z = boundaries(np.array([0.2, 0.4]), 0.05, "pocock")[1]
    critical = stats.t(39).isf(stats.norm.sf(z))
    assert_allclose(found.critical, critical, rtol=1e-9)
    assert_allclose([found.ci_low, found.ci_high], [0.1 - critical * 0.02, 0.1 + critical * 0.02])
    assert_allclose(found.half_width, critical * 0.02)
    assert (found.number, found.fraction) == (2, 0.4)
    assert_allclose(found.alpha_spent, spent(0.4, 0.05, "pocock"))
    assert (found.stop, found.reason) == (False, "continue")


def test_a_study_stops_when_its_interval_is_narrow_or_its_replicates_are_used_up() -> None:
    assert look(0.1, 0.001, [20, 40], 100, 0.05).reason == "narrow"
    assert look(0.1, 0.001, [20, 40], 100, 0.05).stop
    last = look(0.1, 1.0, [20, 40, 100], 100, 0.05)
    assert (last.stop, last.reason) == (True, "exhausted")
    assert look(0.1, float("nan"), [20], 100, 0.05).reason == "continue"


def test_the_only_look_at_the_end_is_the_plain_interval() -> None:
    found = look(0.1, 0.02, [20], 20, 0.001)
    half = stats.t(19).ppf(0.975) * 0.02
    assert_allclose([found.ci_low, found.ci_high], [0.1 - half, 0.1 + half])


@pytest.mark.parametrize("maximum", [20, 100, 1000, 2000, 100_000])
def test_a_very_early_look_decides_nothing(maximum: int) -> None:
    found = look(0.1, 0.01, [3], maximum, half_width=0.001)
    assert found.half_width > 0
    assert (found.stop, found.reason) == (False, "continue")
    assert found.ci_low < 0.1 < found.ci_high
