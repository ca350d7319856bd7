"""Decisions: how often replicates differ, and whether two outcomes of the same units do."""

import itertools
import math
from statistics import mean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as reference_mcnemar

from plenum.dynamics.decisions import estimate_share, flip_rate, mcnemar, pairwise_disagreement

decided = st.lists(st.sampled_from(["A", "B", "C", "NONE"]), min_size=2, max_size=25)


def slow_disagreement(decisions: list[str]) -> float:
    """Share of the pairs that decide differently."""
    return mean(a != b for a, b in itertools.combinations(decisions, 2))


# --- shares ------------------------------------------------------------------------------------


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_of_a_share_is_clopper_and_pearsons(pair: tuple[int, int]) -> None:
    count, n = pair
    found = estimate_share(count, n)
    exact = stats.binomtest(count, n).proportion_ci(0.95, "exact")
    assert_allclose([found.ci_low, found.ci_high], [exact.low, exact.high], atol=1e-10)
    assert (found.value, found.count, found.n) == (count / n, count, n)


# --- flip rate ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decisions", "flips"),
    [
        ("AAAA", 0),
        ("AAAB", 1),
        ("AABB", 2),
        ("ABC", 2),
        ("A", 0),
        (["A", "A", "NONE"], 1),
        (["NONE", "NONE", "A"], 1),
        ("A" * 11 + "B" * 9, 9),
    ],
)
def test_the_flip_rate_is_the_share_off_the_modal_decision(decisions: str, flips: int) -> None:
    assert flip_rate(list(decisions)) == estimate_share(flips, len(decisions))


def test_the_flip_rate_of_an_even_split_averages_0412_at_20_replicates_and_0344_at_6() -> None:
    for n, expected in ((20, 0.412), (6, 0.344)):
        rates = [flip_rate(["A"] * k + ["B"] * (n - k)).value for k in range(n + 1)]
        assert_allclose(rates @ stats.binom(n, 0.5).pmf(range(n + 1)), expected, atol=5e-4)


# --- pairwise disagreement ---------------------------------------------------------------------


@given(decided)
def test_pairwise_disagreement_is_the_share_of_pairs_that_differ(decisions: list[str]) -> None:
    assert_allclose(
        pairwise_disagreement(decisions).value, slow_disagreement(decisions), atol=1e-12
    )


@pytest.mark.parametrize(("n", "p"), [(2, 0.5), (6, 0.5), (6, 0.2), (20, 0.9)])
def test_pairwise_disagreement_is_unbiased(n: int, p: float) -> None:
    values = [pairwise_disagreement(["A"] * k + ["B"] * (n - k)).value for k in range(n + 1)]
    assert_allclose(values @ stats.binom(n, p).pmf(range(n + 1)), 2 * p * (1 - p), atol=1e-12)


@pytest.mark.parametrize("decisions", ["AABBCC", "AAAABBBNC", "AAAAAAAAAAAAAABBBBBC"])
def test_its_interval_is_a_jackknife_with_the_second_order_from_three_decisions_on(
    decisions: str,
) -> None:
    every, n = list(decisions), len(decisions)
    left_out = np.array([slow_disagreement(every[:r] + every[r + 1 :]) for r in range(n)])
    se = math.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    value = slow_disagreement(every)
    second = 2 * value * (1 - value) / (n * (n - 1))
    half = stats.t(n - 1).ppf(0.975) * math.sqrt(se**2 + second)
    found = pairwise_disagreement(every)
    assert_allclose([found.ci_low, found.ci_high], np.clip([value - half, value + half], 0, 1))


@pytest.mark.parametrize("n", [6, 20])
@pytest.mark.parametrize("p", [0.05, 0.2, 0.3, 0.5])
def test_of_two_decisions_the_interval_covers_what_it_says(n: int, p: float) -> None:
    truth, chances = 2 * p * (1 - p), stats.binom(n, p).pmf(range(n + 1))
    found = [pairwise_disagreement(["A"] * k + ["B"] * (n - k)) for k in range(n + 1)]
    assert all(x.ci_low <= x.value <= x.ci_high for x in found)
    covered = [x.ci_low - 1e-12 <= truth <= x.ci_high + 1e-12 for x in found]
    assert float(chances @ np.array(covered, float)) >= 0.95


def test_where_all_agree_the_interval_still_has_a_width() -> None:
    found = pairwise_disagreement(["A"] * 20)
    limit = stats.binomtest(0, 20).proportion_ci(0.95, "exact").high
    assert (found.value, found.ci_low) == (0, 0)
    assert_allclose(found.ci_high, 1 - (1 - limit) ** 2)


# --- McNemar -----------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_mcnemar_is_exact(pairs: list[tuple[bool, bool]]) -> None:
    first, second = zip(*pairs, strict=True)
    table = [[sum(pair == (x, y) for pair in pairs) for y in (True, False)] for x in (True, False)]
    found = mcnemar(first, second)
    assert (found.only_first, found.only_second, found.n) == (table[0][1], table[1][0], len(pairs))
    assert_allclose(found.difference, mean(first) - mean(second), atol=1e-12)
    if table[0][1] + table[1][0]:
        assert_allclose(found.p, min(reference_mcnemar(table, exact=True).pvalue, 1), rtol=1e-9)
    else:
        assert found.p == 1


@pytest.mark.parametrize("p", [0.5, 0.6, 0.7, 0.9])
def test_the_interval_of_disagreement_holds_the_truth_and_says_something(p: float) -> None:
    """Over all splits of twenty decisions, each as often as it comes."""
    truth, held, n = 2 * p * (1 - p), [], 20
    for k in range(n + 1):
        e = pairwise_disagreement(["A"] * k + ["B"] * (n - k))
        held.append(e.ci_low - 1e-9 <= truth <= e.ci_high + 1e-9)
        assert 0 <= e.ci_low <= e.value <= e.ci_high <= 1
    assert np.array(held) @ stats.binom(n, p).pmf(range(n + 1)) > 0.87
