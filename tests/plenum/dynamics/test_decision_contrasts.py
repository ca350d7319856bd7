"""Decisions compared: analytic cases, and the tests once more in plain lines."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import fisher_exact

from plenum.dynamics import labellings
from plenum.dynamics.decision_contrasts import (
    compare_decisions,
    decision_interaction,
    pool_decisions,
)
from plenum.dynamics.decisions import pairwise_disagreement, tally
from plenum.dynamics.multiplicity import is_shown

few = st.lists(st.sampled_from(["A", "B", "NONE"]), min_size=2, max_size=5)


def of(**counts: int) -> list[str]:
    return [name for name, n in counts.items() for _ in range(n)]


# --- the same tests in plain lines, which go through every permutation ---------------------------


def _apart(decisions: Sequence[str]) -> float:
    pairs = list(itertools.combinations(decisions, 2))
    return sum(a != b for a, b in pairs) / len(pairs)


def _variance(decisions: Sequence[str], kinds: int) -> float:
    """4 (n-2) ζ₁ + 2 ζ₂ over n (n-1), from shares with a replicate more of each and of another."""
    n, counts = len(decisions), Counter(decisions)
    shares = [(k + 1) / (n + kinds + 1) for k in counts.values()]
    shares += [1 / (n + kinds + 1)] * (kinds + 1 - len(counts))
    alike = sum(p * p for p in shares)
    first = sum(p**3 for p in shares) - alike**2
    return (4 * (n - 2) * first + 2 * alike * (1 - alike)) / (n * (n - 1))


def _t(x: Sequence[str], y: Sequence[str], kinds: int) -> float:
    gap = _apart(x) - _apart(y)
    return abs(gap) / math.sqrt(_variance(x, kinds) + _variance(y, kinds)) if gap else 0.0


def _chi_square(x: Sequence[str], y: Sequence[str], kinds: int) -> float:
    del kinds
    total, n, m = Counter([*x, *y]), len(x), len(y)
    return sum(
        (arm.count(d) - size * k / (n + m)) ** 2 / (size * k / (n + m))
        for arm, size in ((x, n), (y, m))
        for d, k in total.items()
    )


Test = Callable[[Sequence[str], Sequence[str], int], float]


def _permuted(x: Sequence[str], y: Sequence[str], statistic: Test) -> float:
    both, kinds = [*x, *y], len({*x, *y})
    observed, far, all_of_them = statistic(x, y, kinds), 0, 0
    for chosen in itertools.combinations(range(len(both)), len(x)):
        rest = [both[i] for i in range(len(both)) if i not in chosen]
        far += statistic([both[i] for i in chosen], rest, kinds) >= observed - 1e-9
        all_of_them += 1
    return far / all_of_them


def _by_place(decisions: Sequence[str], names: Sequence[str]) -> list[str]:
    order = sorted(names, key=lambda d: (-decisions.count(d), names.index(d)))
    return [str(order.index(d)) for d in decisions]


@settings(max_examples=60, deadline=None)
@given(few, few)
def test_both_tests_are_those_of_every_permutation(x: list[str], y: list[str]) -> None:
    found = compare_decisions(x, y)
    assert_allclose(found.p_law, _permuted(x, y, _chi_square), atol=1e-9)
    names = [share.decision for share in found.shares]
    as_they_are = _permuted(x, y, _t)
    by_place = _permuted_by_place(_by_place(x, names), _by_place(y, names), len(names))
    assert_allclose(found.p, max(as_they_are, by_place), atol=1e-9)
    assert_allclose(found.value, _apart(x) - _apart(y), atol=1e-12)


def _permuted_by_place(x: list[str], y: list[str], kinds: int) -> float:
    return _permuted(x, y, lambda a, b, _: _t(a, b, kinds))


# --- several pairs of arms in plain lines --------------------------------------------------------

Cells = list[list[str]]
Ways = Sequence[tuple[int, int, int]]
"""Pairs of arms, by their places, and the sign of their difference in the sum."""


def _sum_t(squares: Sequence[Cells], kinds: Sequence[int], ways: Ways) -> float:
    gap = variance = 0.0
    for square, some in zip(squares, kinds, strict=True):
        for i, j, sign in ways:
            gap += sign * (_apart(square[i]) - _apart(square[j]))
            variance += _variance(square[i], some) + _variance(square[j], some)
    return abs(gap) / math.sqrt(variance) if abs(gap) > 1e-9 else 0.0


def _labellings(square: Cells, ways: Ways) -> list[Cells]:
    """Every way to permute replicates between the arms of each pair."""
    found = [square]
    for i, j, _ in ways:
        both, longer = [*square[i], *square[j]], []
        for chosen in itertools.combinations(range(len(both)), len(square[i])):
            one = [both[at] for at in chosen]
            other = [both[at] for at in range(len(both)) if at not in chosen]
            longer += [[{i: one, j: other}.get(k, c) for k, c in enumerate(f)] for f in found]
        found = longer
    return found


def _permuted_sum(squares: Sequence[Cells], ways: Ways, pooled: bool) -> float:
    """The larger p of decisions as they are, and by their place in each cell."""
    names = [list(tally([d for cell in square for d in cell])) for square in squares]
    if pooled:
        names = [[*(d for d in known if d != "NONE"), "NONE"] for known in names]
    places = [[_by_place(c, known) for c in sq] for sq, known in zip(squares, names, strict=True)]
    kinds, found = [len(known) for known in names], []
    for given_squares in (squares, places):
        least = _sum_t(given_squares, kinds, ways) - 1e-9
        all_of_them = itertools.product(*(_labellings(square, ways) for square in given_squares))
        found.append(float(np.mean([_sum_t(some, kinds, ways) >= least for some in all_of_them])))
    return max(found)


arm = st.lists(st.sampled_from(["A", "B", "NONE"]), min_size=2, max_size=3)
FIRST, SECOND = ((0, 2, 1), (1, 3, -1)), ((0, 1, 1), (2, 3, -1))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(arm, min_size=4, max_size=4))
def test_an_interaction_is_tested_by_every_permutation_of_either_factor(cells: Cells) -> None:
    found = decision_interaction(*cells)
    by_hand = max(_permuted_sum([cells], ways, pooled=False) for ways in (FIRST, SECOND))
    assert found.p == pytest.approx(by_hand, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(arm, min_size=2, max_size=2), min_size=2, max_size=2))
def test_a_mean_is_tested_by_every_permutation_within_scenarios(cases: list[Cells]) -> None:
    found = pool_decisions(cases)
    assert found.p == pytest.approx(_permuted_sum(cases, ((0, 1, 1),), pooled=True), abs=1e-9)


# --- analytic cases ------------------------------------------------------------------------------


@pytest.mark.parametrize(("a", "b", "n"), [(11, 19, 20), (3, 9, 10), (5, 0, 5)])
def test_with_two_options_and_equal_arms_the_law_is_fishers_test(a: int, b: int, n: int) -> None:
    found = compare_decisions(of(A=a, B=n - a), of(A=b, B=n - b))
    assert found.p_law == pytest.approx(fisher_exact([[a, n - a], [b, n - b]]).pvalue)
    assert all(share.p == pytest.approx(found.p_law) for share in found.shares)


def test_twenty_a_against_ten_of_each_by_hand() -> None:
    """Of C(40, 20) labellings those are as far whose arms have 10 B and none: two ways."""
    found = compare_decisions(of(A=10, B=10), of(A=20))
    both_ways = 2 * math.comb(30, 20) / math.comb(40, 20)
    assert (found.p, found.p_law) == (pytest.approx(both_ways), pytest.approx(both_ways))
    assert found.value == pytest.approx(10 / 19)
    assert is_shown(found.p, found.ci_low, found.ci_high)
    assert [(s.decision, round(s.value, 6)) for s in found.shares] == [("A", -0.5), ("B", 0.5)]
    assert [cell.value for cell in found.cells] == [pytest.approx(10 / 19), 0]


def test_the_same_arms_or_unanimous_ones_differ_in_nothing() -> None:
    for arm in (of(A=20), of(A=7, B=2, NONE=3)):
        found = compare_decisions(arm, arm)
        assert (found.value, found.p, found.p_law) == (0, 1, 1)
        assert found.ci_low < 0 < found.ci_high
    elsewhere = compare_decisions(of(A=20), of(B=20))
    assert (elsewhere.value, elsewhere.p) == (0, 1)
    assert elsewhere.p_law == pytest.approx(2 / math.comb(40, 20))


def test_disagreement_about_other_options_is_no_difference_of_disagreement() -> None:
    """16 A and 4 B against 4 A and 16 B: one law by place, and two laws by name."""
    found = compare_decisions(of(A=16, B=4), of(A=4, B=17))
    assert found.p > 0.5
    assert found.p_law < 0.001


def test_no_majority_is_a_decision_with_a_share_of_its_own() -> None:
    found = compare_decisions(of(A=10, NONE=10), of(A=19, B=1))
    none = next(share for share in found.shares if share.decision == "NONE")
    assert (none.value, none.cells[0].count, none.cells[1].count) == (0.5, 10, 0)
    assert none.ci_low > 0
    assert none.p < 0.001


def test_the_difference_turns_its_sign_with_the_arms() -> None:
    x, y = of(A=12, B=5, C=3), of(A=7, B=1)
    there, back = compare_decisions(x, y), compare_decisions(y, x)
    assert back.value == pytest.approx(-there.value)
    assert (back.ci_low, back.ci_high) == (
        pytest.approx(-there.ci_high),
        pytest.approx(-there.ci_low),
    )
    assert (back.p, back.p_law) == (pytest.approx(there.p), pytest.approx(there.p_law))


@settings(max_examples=50, deadline=None)
@given(few, few, st.permutations(["A", "B", "NONE"]))
def test_names_of_decisions_do_not_matter(x: list[str], y: list[str], names: list[str]) -> None:
    other = dict(zip(("A", "B", "NONE"), names, strict=True))
    named = compare_decisions([other[d] for d in x], [other[d] for d in y])
    found = compare_decisions(x, y)
    assert named.p_law == pytest.approx(found.p_law)
    assert (named.value, named.se) == (pytest.approx(found.value), pytest.approx(found.se))
    assert 0 < found.p <= 1
    assert 0 < found.p_law <= 1
    assert found.ci_low <= found.value <= found.ci_high


def test_fewer_than_two_replicates_have_no_contrast() -> None:
    for found in (
        compare_decisions(["A"], of(A=20)),
        decision_interaction(of(A=9), of(A=9), of(A=9), []),
        pool_decisions([(["A"], of(A=20))]),
    ):
        assert math.isnan(found.value)
        assert math.isnan(found.p)
        assert found.shares == ()


def test_malformed_input_is_refused() -> None:
    with pytest.raises(ValueError, match="paired arms of 3 and 2"):
        compare_decisions(of(A=3), of(A=2), paired=True)
    with pytest.raises(ValueError, match="draws: 0"):
        compare_decisions(of(A=3), of(A=2), draws=0)
    with pytest.raises(ValueError, match="paired"):
        pool_decisions([(of(A=3), of(A=2))], paired=[False, True])


# --- pairs ---------------------------------------------------------------------------------------


def test_pairs_swap_their_arms() -> None:
    """Of 8 pairs that differ, all in one way, two of 2⁸ assignments are as far: McNemar's test."""
    x, y = of(A=8, B=4), of(B=8) + of(B=4)
    found = compare_decisions(x, y, paired=True)
    assert (found.p_law, found.shares[0].p) == (pytest.approx(2 / 2**8), pytest.approx(2 / 2**8))
    assert compare_decisions(x, x[::-1], paired=True).value == 0


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from("ABC")] * 2), min_size=2, max_size=7))
def test_pairs_are_tested_by_every_swap(pairs: list[tuple[str, str]]) -> None:
    x, y = ([pair[side] for pair in pairs] for side in (0, 1))
    observed = _chi_square(x, y, 0)
    far = [
        _chi_square(
            [pair[s] for pair, s in zip(pairs, swaps, strict=True)],
            [pair[1 - s] for pair, s in zip(pairs, swaps, strict=True)],
            0,
        )
        >= observed - 1e-9
        for swaps in itertools.product((0, 1), repeat=len(pairs))
    ]
    assert compare_decisions(x, y, paired=True).p_law == pytest.approx(np.mean(far))


def _paired_t(pairs: Sequence[tuple[str, str]], kinds: int) -> float:
    """As `_t`, less twice the covariance of what each pair adds to both estimates."""
    arms = [[pair[side] for pair in pairs] for side in (0, 1)]
    gap, n = _apart(arms[0]) - _apart(arms[1]), len(pairs)
    # shares with a replicate more of each decision and of another one, as in `_variance`
    added = [[-2 * (arm.count(d) + 1) / (n + kinds + 1) for d in arm] for arm in arms]
    covariance = float(np.cov(added[0], added[1], bias=True)[0, 1]) / n
    whole = sum(_variance(arm, kinds) for arm in arms)
    variance = max(whole - 2 * covariance, 0.1 * whole)
    return abs(gap) / math.sqrt(variance) if abs(gap) > 1e-9 else 0.0


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from(["A", "B", "NONE"])] * 2), min_size=2, max_size=6))
def test_disagreement_in_pairs_is_tested_by_every_swap(pairs: list[tuple[str, str]]) -> None:
    x, y = ([pair[side] for pair in pairs] for side in (0, 1))
    names, found = list(tally([*x, *y])), []
    for arms in ((x, y), (_by_place(x, names), _by_place(y, names))):
        both = list(zip(*arms, strict=True))
        least = _paired_t(both, len(names)) - 1e-9
        swaps = itertools.product(*[(pair, pair[::-1]) for pair in both])
        found.append(np.mean([_paired_t(swapped, len(names)) >= least for swapped in swaps]))
    assert compare_decisions(x, y, paired=True).p == pytest.approx(max(found), abs=1e-9)


def test_pairs_that_go_together_make_the_interval_narrower() -> None:
    x = of(A=12, B=8)
    y = [*x[:-1], "A"]
    apart, together = (compare_decisions(x, y, paired=flag) for flag in (False, True))
    assert together.value == apart.value
    assert together.se < 0.8 * apart.se


# --- more than two arms --------------------------------------------------------------------------


def test_an_interaction_is_the_difference_of_differences() -> None:
    cells = of(A=10, B=10), of(A=16, B=4), of(A=18, B=2), of(A=20)
    found = decision_interaction(*cells)
    d = [pairwise_disagreement(cell).value for cell in cells]
    assert found.value == pytest.approx(d[0] - d[1] - d[2] + d[3])
    share = next(s for s in found.shares if s.decision == "A")
    assert share.value == pytest.approx(0.5 - 0.8 - 0.9 + 1)
    assert math.isnan(found.p_law)
    turned = decision_interaction(cells[0], cells[2], cells[1], cells[3])
    assert (turned.value, turned.p) == (pytest.approx(found.value), pytest.approx(found.p))


def test_where_one_factor_does_nothing_there_is_no_interaction() -> None:
    apart, alike = of(A=11, B=9), of(A=19, B=1)
    found = decision_interaction(apart, apart, alike, alike)
    assert (found.value, found.p) == (pytest.approx(0, abs=1e-12), 1)


def test_pooling_is_stratified() -> None:
    """Three scenarios of 2 against 2, all apart: one of 6³ labellings each way is as far."""
    case = ["A", "B"], ["A", "A"]
    alone, three = compare_decisions(*case), pool_decisions([case] * 3)
    assert (three.value, three.n) == (alone.value, 3)
    # of 4 replicates with one B, it lies in the treated arm in half of all labellings
    assert (alone.p, three.p) == (1, 2 / 2**3)
    assert [share.decision for share in three.shares] == ["NONE"]
    assert three.se < alone.se


def test_pooling_one_scenario_is_its_contrast_and_options_need_no_common_name() -> None:
    x, y = of(A=10, NONE=10), of(A=18, NONE=2)
    alone, pooled = compare_decisions(x, y), pool_decisions([(x, y)])
    assert (pooled.value, pooled.p, pooled.p_law) == (alone.value, alone.p, alone.p_law)
    other = pool_decisions([(x, y), (of(C=10, NONE=10), of(C=18, NONE=2))])
    assert other.p < alone.p
    assert other.shares[0].value == pytest.approx(0.4)


def test_interactions_are_pooled_within_scenarios() -> None:
    square = of(A=10, B=10), of(A=16, B=4), of(A=18, B=2), of(A=20)
    other = of(C=8, B=2), of(C=10), of(C=9, NONE=1), of(B=10)
    alone, single, pooled = (
        decision_interaction(*square),
        pool_decisions([square]),
        pool_decisions([square, other, (["A"], *other[1:])]),
    )
    assert (single.value, single.p, single.n) == (alone.value, alone.p, 1)
    assert pooled.value == pytest.approx((alone.value + decision_interaction(*other).value) / 2)
    assert (pooled.n, len(pooled.cells)) == (2, 8)
    assert [share.decision for share in pooled.shares] == ["NONE"]
    assert math.isnan(pooled.p_law)
    assert pool_decisions([other] * 3).p < decision_interaction(*other).p
    for cases in ([square, square[:2]], [square[:3]]):
        with pytest.raises(ValueError, match="two arms each, or four cells"):
            pool_decisions(cases)


@pytest.mark.slow
def test_drawn_labellings_agree_with_listed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are too many to list, p has the error of its draws and is never 0."""
    pairs = [(of(A=6, B=9, C=3, NONE=2), of(A=14, B=3, C=2, NONE=1))] * 2
    listed = [compare_decisions(*pairs[0]), pool_decisions(pairs)]
    paired = compare_decisions(*pairs[0], paired=True)
    monkeypatch.setattr(labellings, "_LISTED", 2)
    monkeypatch.setattr(labellings, "_COMBINED", 2)
    drawn = [compare_decisions(*pairs[0]), pool_decisions(pairs)]
    again = compare_decisions(*pairs[0], paired=True)
    for one, other in zip([*listed, paired], [*drawn, again], strict=True):
        assert (one.drawn, other.drawn) == (False, True)
        assert "10,000 draws" in other.method
        for p, q in ((one.p, other.p), (one.p_law, other.p_law)):
            assert abs(p - q) < 6 * math.sqrt(p * (1 - p) / 10_000) + 1e-4
            assert q >= 1 / 10_001
    assert compare_decisions(*pairs[0]) == drawn[0]  # of one seed
