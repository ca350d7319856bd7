"""Switches of top option, seat by seat."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from plenum.dynamics.switches import switch_counts

A, B, C = (0.8, 0.1, 0.1), (0.1, 0.8, 0.1), (0.1, 0.1, 0.8)
AB, BC, ABC, GONE = (0.4, 0.4, 0.2), (0.2, 0.4, 0.4), (1 / 3,) * 3, (np.nan,) * 3


def one_seat(*rounds: tuple[float, ...]) -> NDArray[np.float64]:
    """Preferences of one seat in one replicate."""
    return np.array(rounds, dtype=float)[None, :, None, :]


def slow_switches(path: NDArray[np.float64]) -> int:
    """Switches of one seat, by a loop: which options may it still be said to hold?"""
    held: set[int] | None = None
    count = 0
    for point in path:
        if np.isnan(point).any():
            continue
        top = {k for k, value in enumerate(point) if value == max(point)}
        if held is None:
            held = top
        elif held & top:
            held &= top
        else:
            held = top
            count += 1
    return count


@pytest.mark.parametrize(
    ("rounds", "count"),
    [
        ([A], 0),
        ([A, A, A], 0),
        ([A, B], 1),
        ([A, B, A], 2),
        ([A, AB, A], 0),
        ([A, AB, B], 1),
        ([A, BC, B], 1),
        ([A, BC, C], 1),
        ([A, BC, A], 2),
        ([AB, A], 0),
        ([AB, B], 0),
        ([AB, B, A], 1),
        ([AB, BC], 0),
        ([AB, BC, A], 1),
        ([ABC, AB, C], 1),
        ([A, GONE, A], 0),
        ([A, GONE, B], 1),
        ([GONE, A, A], 0),
        ([GONE, GONE], 0),
    ],
)
def test_a_tie_with_the_previous_top_option_is_no_switch(
    rounds: list[tuple[float, ...]], count: int
) -> None:
    assert switch_counts(one_seat(*rounds)).counts.tolist() == [[count]]


@given(st.integers(0, 10_000), st.integers(2, 6), st.booleans())
def test_counts_agree_with_a_loop(seed: int, options: int, absent: bool) -> None:
    rng = np.random.default_rng(seed)
    preferences = rng.integers(0, 3, (3, 8, 4, options)) / 2
    if absent:
        preferences[rng.random((3, 8, 4)) < 0.3] = np.nan
    found = switch_counts(preferences)
    slow = [[slow_switches(preferences[r, :, s]) for s in range(4)] for r in range(3)]
    assert found.counts.tolist() == slow
    assert_allclose(found.mean, np.mean(slow, axis=0))
    assert_allclose(found.sd, np.std(slow, axis=0, ddof=1))
    assert_allclose(found.sem, np.std(slow, axis=0, ddof=1) / np.sqrt(3))
    assert found.n == 3
