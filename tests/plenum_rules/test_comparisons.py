"""Disagreement under a rule against the protocol's: second implementations, coverage and size."""

import itertools
import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from plenum.dynamics.meta_analysis import limit_scenarios
from plenum_rules.aggregation import NONE
from plenum_rules.committees import votes_differ
from plenum_rules.comparisons import PairedDifference, average, disagree, pair_decisions

DECISIONS = st.lists(st.integers(NONE, 3), min_size=3, max_size=12)


def of_pairs(decisions: list[int]) -> float:
    pairs = list(itertools.combinations(decisions, 2))
    return sum(a != b for a, b in pairs) / len(pairs)


@given(DECISIONS)
def test_disagreement_is_the_share_of_pairs_that_differ(decisions: list[int]) -> None:
    value, left_out = disagree(decisions)
    assert value == pytest.approx(of_pairs(decisions))
    assert left_out == pytest.approx(
        [of_pairs(decisions[:i] + decisions[i + 1 :]) for i in range(len(decisions))]
        if len(decisions) > 3
        else left_out
    )


@given(DECISIONS, st.randoms(use_true_random=False))
def test_a_rule_that_only_renames_decisions_changes_nothing(
    decisions: list[int], draws: object
) -> None:
    names = np.random.default_rng(draws.getrandbits(32)).permutation(5)  # type: ignore[attr-defined]
    renamed = names[np.array(decisions) + 1]
    paired = pair_decisions(renamed, decisions)
    assert paired.difference == 0
    assert paired.variance == 0
    assert average([paired] * 3).p == 1


def test_few_conditions_give_no_interval_and_no_test() -> None:
    steadied = pair_decisions([0] * 10, [0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
    few, enough = average([steadied] * 9), average([steadied] * 10)
    assert few.value == pytest.approx(enough.value)
    assert math.isnan(few.p)
    assert math.isnan(few.ci_low)
    assert enough.p < 0.001
    assert -1 <= enough.ci_low < enough.value < enough.ci_high <= 1


def vote(taken: tuple[int, ...]) -> int:
    option, votes = Counter(taken).most_common(1)[0]
    return option if 2 * votes > len(taken) else NONE


def by_enumeration(decisions: list[int], members: int) -> tuple[float, float]:
    """Ask every two disjoint groups of runs, one after the other."""
    differ = changed = total = 0
    everyone = set(range(len(decisions)))
    for first in itertools.permutations(everyone, members):
        one = vote(tuple(decisions[i] for i in first))
        for other in itertools.combinations(everyone - set(first), members):
            differ += one != vote(tuple(decisions[i] for i in other))
            changed += one != decisions[first[0]]
            total += 1
    return differ / total, changed / total


@pytest.mark.parametrize(
    ("decisions", "members"),
    [
        ([0, 0, 0, 1, 1, 0], 3),
        ([0, 0, 1, 1, 2, NONE, 0], 3),
        ([NONE, NONE, NONE, 0, 0, 1], 3),
        ([0, 1, 2, 0], 1),
        ([0, 0, 0, 0, 1, 1, NONE], 2),
    ],
)
def test_votes_of_committees_differ_as_often_as_by_enumeration(
    decisions: list[int], members: int
) -> None:
    counts = Counter(decisions)
    of_options = tuple(n for option, n in sorted(counts.items()) if option != NONE)
    got = votes_differ(of_options, counts[NONE], members)
    assert got == pytest.approx(by_enumeration(decisions, members))


def test_a_vote_of_one_committee_is_that_committee() -> None:
    value, changed = votes_differ((7, 3), 0, 1)
    assert value == pytest.approx(disagree([0] * 7 + [1] * 3)[0])
    assert changed == 0


def test_too_few_runs_for_two_votes_are_refused() -> None:
    with pytest.raises(ValueError, match="10 runs"):
        votes_differ((9,), 0, 5)


def many(
    draw: Callable[[np.random.Generator], list[PairedDifference]], draws: int
) -> NDArray[np.float64]:
    """The p-values of draws, and whether the interval covers ``true`` is for the caller."""
    generator = np.random.default_rng(20261125)
    return np.array([average(draw(generator)).p for _ in range(draws)])


@pytest.mark.slow
@pytest.mark.parametrize("runs", [10, 20])
def test_equal_disagreement_is_rejected_in_a_twentieth(runs: int) -> None:
    def draw(generator: np.random.Generator) -> list[PairedDifference]:
        shares = ((0.5, 0.5), (0.8, 0.2), (0.9, 0.1), (1.0, 0.0), (0.6, 0.4))
        return [
            pair_decisions(generator.choice(2, runs, p=share), generator.choice(2, runs, p=share))
            for share in shares * 3
        ]

    rejected = (many(draw, 600) < 0.05).mean()
    assert rejected < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 600)


@pytest.mark.slow
def test_intervals_cover_the_true_change() -> None:
    """A rule that keeps a run's decision or replaces it by the first option, in halves."""
    generator = np.random.default_rng(7)
    shares, runs, kept = np.array((0.5, 0.6, 0.7, 0.9) * 3), 20, 0.5
    other = 1 - shares  # the share of the other option, of which the rule keeps a half
    true = float((2 * kept * other * (1 - kept * other) - 2 * shares * other).mean())
    covered = []
    for _ in range(400):
        pairs = []
        for share in shares:
            protocol = (generator.random(runs) > share).astype(int)
            rule = np.where(generator.random(runs) < kept, protocol, 0)
            pairs.append(pair_decisions(rule, protocol))
        mean = average(pairs)
        if math.isfinite(mean.ci_low):
            covered.append(mean.ci_low <= true <= mean.ci_high)
    assert len(covered) > 300
    assert np.mean(covered) > 0.95 - 3 * math.sqrt(0.05 * 0.95 / len(covered))


@pytest.mark.slow
def test_intervals_for_scenarios_like_these_cover_the_mean_of_all_scenarios() -> None:
    """Twelve scenarios drawn from many, of which a third never differ; two conditions of each."""
    generator = np.random.default_rng(20261129)

    def change(shares: NDArray[np.float64]) -> NDArray[np.float64]:  # of a rule that keeps a half
        return 2 * (shares / 2) * (1 - shares / 2) - 2 * shares * (1 - shares)

    def draw_shares(scenarios: int) -> NDArray[np.float64]:
        open_ones = generator.random(scenarios) < 2 / 3
        return np.where(open_ones, generator.beta(1, 3, scenarios), 0)

    true, covered = float(change(draw_shares(1_000_000)).mean()), []
    for _ in range(1_000):
        values = []
        for share in draw_shares(12):
            protocol = generator.random((2, 20)) < share
            rule = protocol & (generator.random((2, 20)) < 0.5)
            pairs = map(pair_decisions, rule.astype(int), protocol.astype(int))
            values.append(np.mean([pair.difference for pair in pairs]))
        low, high = limit_scenarios(values)
        covered.append(low <= true <= high)
    assert np.mean(covered) > 0.93
