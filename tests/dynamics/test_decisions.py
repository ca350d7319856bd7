"""Decisions: how often replicates differ, and how soon a majority stands."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from plenum.dynamics import flip_rate, majority_rounds, time_to_majority

A, B, C = (0.8, 0.1, 0.1), (0.1, 0.8, 0.1), (0.1, 0.1, 0.8)
TIED = (0.4, 0.4, 0.2)
MAJORITY, SPLIT = [A, A, A, B, C], [A, A, B, B, C]


def replicates(*rounds: list[list[tuple[float, ...]]]) -> NDArray[np.float64]:
    """Preferences, shape (replicates, rounds, seats, options)."""
    return np.array(rounds, dtype=float)


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        ("AAAA", 0.0),
        ("AAAB", 0.25),
        ("AABB", 0.5),
        ("ABC", 2 / 3),
        ("A", 0.0),
        (["A", "A", "NONE"], 1 / 3),
        (["NONE", "NONE", "A"], 1 / 3),
        ("A" * 11 + "B" * 9, 0.45),
    ],
)
def test_the_flip_rate_is_the_share_off_the_modal_decision(
    decisions: list[str], expected: float
) -> None:
    assert_allclose(flip_rate(list(decisions)), expected)


def test_without_replicates_there_is_no_flip_rate() -> None:
    assert np.isnan(flip_rate([]))


@given(st.lists(st.sampled_from(["A", "B", "C", "NONE"]), min_size=1), st.randoms())
def test_the_flip_rate_does_not_depend_on_the_order(decisions: list[str], random: object) -> None:
    shuffled = list(decisions)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert_allclose(flip_rate(shuffled), flip_rate(decisions))
    assert 0 <= flip_rate(decisions) <= 1 - 1 / len(set(decisions)) + 1e-12


@pytest.mark.parametrize(
    ("rounds", "first"),
    [
        ([MAJORITY, MAJORITY], 1),
        ([SPLIT, MAJORITY], 2),
        ([SPLIT, MAJORITY, SPLIT], 2),
        ([SPLIT, SPLIT], np.inf),
        ([[TIED, TIED, TIED, TIED, TIED]], np.inf),
        ([[A, A, TIED, TIED, TIED]], np.inf),
        ([[A, A, A, TIED, TIED]], 1),
        ([[A, A, B, B], [A, A, A, B]], 2),
        ([[A]], 1),
    ],
    ids=["at once", "later", "lost again", "never", "all tied", "tied seats count for none",
         "despite ties", "half is no majority", "one seat"],
)  # fmt: skip
def test_a_majority_stands_when_more_than_half_of_the_seats_share_their_top_option(
    rounds: list[list[tuple[float, ...]]], first: float
) -> None:
    assert_allclose(majority_rounds(replicates(rounds)), [first])


@pytest.mark.parametrize("options", [2, 5])
def test_a_majority_needs_no_particular_number_of_options(options: int) -> None:
    last = np.full((1, 3, 5, options), 0.1)
    last[:, 1:, :3, -1] = 0.9
    last[:, 1:, 3:, 0] = 0.9
    assert_allclose(majority_rounds(last), [2])


@pytest.mark.parametrize(
    ("firsts", "median"),
    [
        ([1, 2, 3], 2),
        ([1, 2], 1.5),
        ([1, 2, 9], 2),
        ([1, 2, 0], 2),
        ([1, 0, 0], np.inf),
        ([1, 0], np.inf),
        ([0, 0], np.inf),
    ],
    ids=["three", "even", "one late", "one never", "most never", "half never", "none ever"],
)
def test_the_time_to_majority_is_the_median_with_never_as_infinite(
    firsts: list[int], median: float
) -> None:
    runs = [[MAJORITY if number == first else SPLIT for number in range(1, 10)] for first in firsts]
    assert_allclose(time_to_majority(replicates(*runs)), median)


def test_without_replicates_there_is_no_time_to_majority() -> None:
    assert np.isnan(time_to_majority(np.empty((0, 20, 5, 3))))


@pytest.mark.parametrize("shape", [(20, 5, 3), (5, 3), (1, 2, 20, 5, 3)])
def test_preferences_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="replicates, rounds, seats, options"):
        majority_rounds(np.zeros(shape))
