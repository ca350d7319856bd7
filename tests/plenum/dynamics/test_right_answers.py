"""Accuracy, gain and facts said: analytic values, a count by hand, and how often limits hold."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import multinomial

from plenum.dynamics.decisions import estimate_share
from plenum.dynamics.right_answers import RightAnswers, _estimate_gain, estimate_right_answers
from plenum.dynamics.summary import summarise

NONE = np.empty((0, 2, 3, 3))


def count_slowly(states: np.ndarray, decisions: list[str], answer: str) -> tuple[float, float]:
    """Accuracy and gain, one replicate and seat at a time."""
    right = first = 0
    for replicate, decision in enumerate(decisions):
        votes = []
        for seat in states[replicate, 0]:
            tops = ["ABC"[k] for k in range(3) if abs(seat[k] - max(seat)) < 1e-9]
            votes.append(tops[0] if len(tops) == 1 else "")
        right += decision == answer
        first += votes.count(answer) > len(votes) / 2
    return right / len(decisions), (right - first) / len(decisions)


@given(st.integers(0, 10_000), st.integers(1, 8), st.integers(1, 5), st.sampled_from("ABC"))
def test_it_is_what_one_counts_by_hand(seed: int, runs: int, seats: int, answer: str) -> None:
    generator = np.random.default_rng(seed)
    states = generator.integers(0, 4, (runs, 2, seats, 3)) / 10.0  # with many ties
    decisions = list(generator.choice(["A", "B", "C", "NONE"], runs))
    found = estimate_right_answers(states, decisions, answer)
    assert found.accuracy is not None
    assert found.gain is not None
    accuracy, gain = count_slowly(states, decisions, answer)
    assert_allclose([found.accuracy.value, found.gain.value], [accuracy, gain], atol=1e-12)
    for share in (found.accuracy, found.gain):
        assert share.ci_low <= share.value + 1e-12
        assert share.ci_high >= share.value - 1e-12
        assert share.n == runs


def test_known_values() -> None:
    """Wilson's limits of 8 of 10, and the gain's where 5 of 10 gained and 1 lost the answer."""
    wrong, right = [[0.6, 0.4]], [[0.4, 0.6]]
    states = np.array([[wrong, wrong]] * 7 + [[right, right]] * 3)
    found = estimate_right_answers(states, list("BBBBBBAABB"), "B", [0.5] * 10)
    assert found.accuracy is not None
    assert found.gain is not None
    assert_allclose(
        [found.accuracy.value, found.accuracy.ci_low, found.accuracy.ci_high],
        [0.8, 0.490162, 0.943318],
        atol=1e-6,
    )
    gained, lost = estimate_share(6, 10), estimate_share(1, 10)
    assert found.gain.value == pytest.approx(0.5)
    limits = [gained.ci_low - lost.ci_high, gained.ci_high - lost.ci_low]
    assert_allclose([found.gain.ci_low, found.gain.ci_high], limits)
    assert found.facts_said == estimate_share(5.0, 10)


@pytest.mark.parametrize("runs", [2, 3, 5, 10, 20])
def test_the_limits_of_the_gain_hold_in_95_percent_whatever_the_shares(runs: int) -> None:
    """By enumeration of all counts, for shares all over the simplex, its edges among them."""
    counts = np.array([(g, k) for g in range(runs + 1) for k in range(runs + 1 - g)])
    limits = []
    for g, k in counts:
        first = np.array([False] * g + [True] * k + [False] * (runs - g - k))
        last = np.array([True] * g + [False] * k + [False] * (runs - g - k))
        gain = _estimate_gain(first, last)
        limits.append((gain.ci_low, gain.ci_high))
    low, high = np.array(limits).T
    cells = np.column_stack([counts, runs - counts.sum(axis=1)])
    shares = np.random.default_rng(0).dirichlet([0.5] * 3, 300)
    edge = np.linspace(0.005, 0.995, 100)
    shares = np.vstack([shares, np.column_stack([edge, 1 - edge, 0 * edge])])
    shares = np.vstack([shares, np.column_stack([edge, 0 * edge, 1 - edge])])
    held = []
    for share in shares:
        truth = share[0] - share[1]
        inside = (low <= truth + 1e-12) & (truth <= high + 1e-12)
        held.append(multinomial.pmf(cells, runs, share)[inside].sum())
    assert min(held) >= 0.95
    assert np.mean(held) < 0.9999


def test_what_isnt_known_has_no_number() -> None:
    assert estimate_right_answers(NONE, []).record() == {}
    assert list(estimate_right_answers(NONE, [], said=[1.0, 0.0]).record()) == [
        *("facts_said", "facts_said_ci_low", "facts_said_ci_high")
    ]
    assert all(math.isnan(v) for v in estimate_right_answers(NONE, [], "A").record().values())
    with pytest.raises(ValueError, match="2 decisions for 0 replicates"):
        estimate_right_answers(NONE, ["A", "B"], "A")


def test_a_summary_has_them_only_where_they_are_known() -> None:
    states = np.random.default_rng(0).dirichlet([1, 1, 1], size=(4, 5, 3))
    assert "answers" not in summarise(states, ["A"] * 4, draws=10).record()
    known = estimate_right_answers(states, ["A"] * 4, "A")
    assert summarise(states, ["A"] * 4, answers=known, draws=10).record()["answers"] == (
        known.record()
    )
    assert RightAnswers() == estimate_right_answers(states, ["A"] * 4)
