"""Attrition: whether failure goes with the condition."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import chi2_contingency, fisher_exact

from plenum.dynamics import Association, association

COUNTS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=6)


def of(pairs: list[tuple[int, int]], draws: int = 200) -> Association:
    """Of (completed, failed) pairs."""
    return association([c for c, _ in pairs], [f for _, f in pairs], draws=draws)


def exact(completed: list[int], failed: list[int]) -> float:
    """The conditional test by going through every table with the same margins."""
    sizes = [c + f for c, f in zip(completed, failed, strict=True)]
    bad, n = sum(failed), sum(sizes)

    def statistic(counts: tuple[int, ...]) -> float:
        return sum((k - s * bad / n) ** 2 / s for k, s in zip(counts, sizes, strict=True))

    far = 0
    for counts in itertools.product(*(range(size + 1) for size in sizes)):
        if sum(counts) == bad and statistic(counts) >= statistic(tuple(failed)) - 1e-12:
            far += math.prod(math.comb(s, k) for s, k in zip(sizes, counts, strict=True))
    return far / math.comb(n, bad)


# --- two conditions ----------------------------------------------------------------------------


def test_fishers_tea() -> None:
    """Agresti (2013), table 3.9: 3 of 4 guessed right; p = 0.486, and 2/70 had all been right."""
    found = association([3, 1], [1, 3])
    assert found.method == "fisher"
    assert_allclose(found.p, 34 / 70)
    assert_allclose(found.least_p, 2 / 70)
    assert_allclose([found.statistic, found.cramers_v], [2.0, 0.5])
    assert (found.lowest, found.highest) == (0.25, 0.75)


@given(*[st.integers(0, 40)] * 4)
def test_two_conditions_are_compared_by_fishers_exact_test(a: int, b: int, c: int, d: int) -> None:
    found = association([a, c], [b, d])
    if found.method == "none":
        assert not (a + b and c + d and a + c and b + d)
        return
    assert_allclose(found.p, fisher_exact([[a, b], [c, d]]).pvalue)
    pearson = chi2_contingency([[a, b], [c, d]], correction=False).statistic
    assert_allclose(found.statistic, pearson, atol=1e-9)
    assert found.least_p <= found.p * (1 + 1e-9)


# --- more conditions ---------------------------------------------------------------------------


def test_many_failures_are_compared_by_pearsons_chi_square() -> None:
    found = association([40, 30, 35], [10, 20, 15])
    expected = chi2_contingency([[40, 10], [30, 20], [35, 15]])
    assert found.method == "chi_square"
    assert_allclose([found.statistic, found.p], [expected.statistic, expected.pvalue])
    assert_allclose(found.cramers_v, math.sqrt(expected.statistic / 150))
    assert math.isnan(found.least_p)


def test_an_expected_count_below_five_asks_for_the_exact_test() -> None:
    assert association([15, 15, 15], [5, 5, 5]).method == "chi_square"  # 5 are expected in each
    assert association([16, 15, 15], [4, 5, 5]).method == "monte_carlo"
    assert association([5, 4, 5], [15, 16, 15]).method == "monte_carlo"  # few completed


@pytest.mark.parametrize(
    ("completed", "failed"),
    [
        ([10, 10, 10], [0, 0, 6]),
        ([8, 7, 6, 8], [0, 1, 2, 0]),
        ([3, 5, 1], [2, 0, 3]),
        ([6, 12, 3], [1, 1, 1]),
        ([4, 4, 4], [1, 1, 1]),
    ],
)
def test_the_monte_carlo_test_agrees_with_all_tables(
    completed: list[int], failed: list[int]
) -> None:
    draws = 40_000
    found = association(completed, failed, draws=draws)
    p = exact(completed, failed)
    assert found.method == "monte_carlo"
    assert abs(found.p - p) < 4 * math.sqrt(p * (1 - p) / draws) + 2 / draws


# --- what holds for every table ----------------------------------------------------------------


@given(COUNTS)
def test_what_every_association_keeps(pairs: list[tuple[int, int]]) -> None:
    found = of(pairs)
    there = [(c, f) for c, f in pairs if c + f]
    assert found.conditions == len(there)
    assert found.completed + found.failed == sum(c + f for c, f in there)
    assert (found.method == "none") == bool(found.untested)
    if there:
        assert found.lowest == min(f / (c + f) for c, f in there)
        assert found.highest == max(f / (c + f) for c, f in there)
    if found.method != "none":
        assert 0 < found.p <= 1 + 1e-9
        assert 0 <= found.cramers_v <= 1 + 1e-9
