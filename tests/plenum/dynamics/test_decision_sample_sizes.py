"""Plans for differences of disagreement: the condition that is assumed, and the power."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import binom

from plenum.dynamics.decision_contrasts import compare_decisions
from plenum.dynamics.decision_sample_sizes import plan_decisions, shift_shares, simulate_power


@given(
    st.lists(st.integers(1, 20), min_size=2, max_size=4),
    st.floats(-0.3, 0.3).filter(lambda d: abs(d) > 0.01),
)
def test_the_other_condition_has_the_disagreement_asked_for(
    counts: list[int], difference: float
) -> None:
    shares = np.array(sorted(counts, reverse=True)) / sum(counts)
    try:
        other = shift_shares(shares, difference)
    except ValueError:
        return
    assert_allclose(other.sum(), 1)
    assert_allclose((shares**2).sum() - (other**2).sum(), difference, atol=1e-9)
    assert_allclose(other[1:] * shares[1:].sum(), shares[1:] * other[1:].sum(), atol=1e-9)


def test_two_options_by_hand() -> None:
    """2 p (1 - p) is 0.18 at .9 and 0.42 at .7."""
    assert_allclose(shift_shares(np.array([0.9, 0.1]), 0.24), [0.7, 0.3])
    assert_allclose(shift_shares(np.array([0.9, 0.1]), -0.18), [1, 0], atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 10])
def test_simulated_power_is_the_exact_one(n: int) -> None:
    """Summed over all outcomes that `compare_decisions` rejects."""
    exact = sum(
        binom.pmf(a, n, 0.95) * binom.pmf(b, n, 0.7)
        for a in range(n + 1)
        for b in range(n + 1)
        if compare_decisions(*(["A"] * k + ["B"] * (n - k) for k in (a, b))).p <= 0.05
    )
    found = simulate_power(np.array([0.95, 0.05]), np.array([0.7, 0.3]), n)
    assert abs(found - exact) < 4 * math.sqrt(exact * (1 - exact) / 1000) + 0.02


@pytest.mark.slow
def test_a_smaller_difference_and_a_larger_power_take_more_replicates() -> None:
    pilot = ["A"] * 19 + ["B"]
    plan = plan_decisions(pilot, 0.3)
    assert plan.power >= 0.8
    assert_allclose(plan.shares, shift_shares(np.array([0.95, 0.05]), 0.3))
    assert plan_decisions(pilot, 0.2).replicates > plan.replicates
    assert plan_decisions(pilot, 0.3, power=0.9).replicates > plan.replicates


def test_a_pilot_of_one_decision_can_only_become_less_steady() -> None:
    assert plan_decisions(["A"] * 20, 0.3).replicates > 20
    with pytest.raises(ValueError, match=r"disagreement of -0\.1"):
        plan_decisions(["A"] * 20, -0.1)


@pytest.mark.parametrize(
    ("pilot", "difference", "power", "message"),
    [
        (["A", "B"], 0.2, 0.8, "disagreement of 0.7"),
        (["A", "B"], 0.0, 0.8, "isn't zero"),
        (["A", "B"], math.nan, 0.8, "isn't zero"),
        ([], 0.2, 0.8, "no decision"),
        (["A", "B"], -0.2, 0.01, "alpha < power"),
    ],
)
def test_impossible_plans_are_refused(
    pilot: list[str], difference: float, power: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        plan_decisions(pilot, difference, power)
