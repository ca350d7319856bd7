"""Rules of aggregation: cases that can be counted by hand, and properties of them all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from plenum_rules.aggregation import (
    AGGREGATIONS,
    NONE,
    LastWords,
    count_votes,
    decide_by_borda,
    decide_by_mean,
    decide_by_median,
    decide_by_weighted_mean,
    decide_for_seat,
)

STATES = np.array(
    [[0.55, 0.45, 0.0], [0.55, 0.45, 0.0], [0.55, 0.45, 0.0], [0.0, 0.9, 0.1], [0.1, 0.0, 0.9]]
)
"""Three seats for A by a little, one for B, one for C: rules that differ."""

VOTES = np.array([0, 0, 0, 1, 2])


def last(votes: NDArray[np.int_], states: NDArray[np.float64]) -> LastWords:
    return LastWords(votes, states, np.full(votes.shape, 50.0))


@pytest.mark.parametrize(
    ("rule", "decision"),
    [
        ("majority", 0),
        ("supermajority", NONE),  # three of five are less than two thirds
        ("states", 0),
        ("mean", 1),  # means .35, .45, .20
        ("median", 0),  # medians .55, .45, .0
        ("confidence", 1),
        ("borda", 0),  # A 2+2+2+0+1, B 1+1+1+2+0, C 0+0+0+1+2
    ],
)
def test_rules_decide_as_counted_by_hand(rule: str, decision: int) -> None:
    assert AGGREGATIONS[rule](last(VOTES, STATES)) == decision


def test_confident_seats_weigh_more() -> None:
    assert decide_by_weighted_mean(STATES, [90, 90, 90, 10, 10]) == 0
    assert decide_by_weighted_mean(STATES, [0, 0, 0, 0, 0]) == decide_by_mean(STATES)
    assert decide_by_weighted_mean(STATES, [0, 0, 0, 0, 100]) == 2


def test_ties_decide_nothing() -> None:
    even = np.array([[0.5, 0.5], [0.5, 0.5]])
    opposed = np.array([[0.7, 0.3], [0.3, 0.7]])
    for states in (even, opposed):
        for rule in (decide_by_mean, decide_by_median, decide_by_borda):
            assert rule(states) == NONE
    assert AGGREGATIONS["majority"](last(np.array([0, 0, 1, 1]), np.zeros((4, 2)))) == NONE


def test_a_vote_for_nothing_counts_as_a_seat() -> None:
    assert count_votes([0, 0, NONE, NONE], 2).tolist() == [2, 0]
    assert AGGREGATIONS["majority"](last(np.array([0, 0, NONE, NONE]), np.zeros((4, 2)))) == NONE


def test_a_dictator_decides_alone() -> None:
    assert [int(decide_for_seat(VOTES, seat)) for seat in range(5)] == VOTES.tolist()


@st.composite
def committees(draw: st.DrawFn) -> LastWords:
    seats, options = draw(st.integers(1, 7)), draw(st.integers(2, 5))
    weights = draw(
        st.lists(
            st.lists(st.integers(0, 20), min_size=options, max_size=options),
            min_size=seats,
            max_size=seats,
        )
    )
    array = np.array(weights, dtype=float) + 1e-3
    votes = draw(st.lists(st.integers(0, options - 1), min_size=seats, max_size=seats))
    confidences = draw(st.lists(st.integers(0, 100), min_size=seats, max_size=seats))
    shares = array / array.sum(axis=1, keepdims=True)
    return LastWords(np.array(votes), shares, np.array(confidences, dtype=float))


@given(committees(), st.randoms(use_true_random=False))
def test_the_order_of_seats_and_the_names_of_options_change_no_decision(
    given_: LastWords, draws: object
) -> None:
    generator = np.random.default_rng(draws.getrandbits(32))  # type: ignore[attr-defined]
    seats = generator.permutation(len(given_.votes))
    names = generator.permutation(given_.options)
    moved = np.empty_like(given_.preferences)
    moved[:, names] = given_.preferences
    shuffled = LastWords(names[given_.votes][seats], moved[seats], given_.confidences[seats])
    for rule in AGGREGATIONS.values():
        before, after = int(rule(given_)), int(rule(shuffled))
        assert after == (NONE if before == NONE else names[before])


@given(committees())
def test_where_all_seats_agree_every_rule_decides_as_they_do(given_: LastWords) -> None:
    first = np.repeat(given_.preferences[:1], len(given_.votes), axis=0)
    top = np.flatnonzero(first[0] == first[0].max())
    if len(top) > 1:
        return
    votes = np.full(len(given_.votes), top[0])
    agreed = LastWords(votes, first, given_.confidences)
    assert {int(rule(agreed)) for rule in AGGREGATIONS.values()} == {int(top[0])}


@given(committees())
def test_several_runs_at_once_decide_as_each_alone(given_: LastWords) -> None:
    both = LastWords(
        np.stack([given_.votes, given_.votes[::-1]]),
        np.stack([given_.preferences, given_.preferences[::-1]]),
        np.stack([given_.confidences, given_.confidences[::-1]]),
    )
    for rule in AGGREGATIONS.values():
        assert rule(both)[0] == rule(given_)
