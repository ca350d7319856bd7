"""Time to majority: both readings, right-censored, with Kaplan-Meier medians."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from statsmodels.duration.survfunc import SurvfuncRight

from plenum.dynamics.majority import time_to_majority

Seat = tuple[float, ...]
A, B, C = (0.8, 0.1, 0.1), (0.1, 0.8, 0.1), (0.1, 0.1, 0.8)
TIED, GONE = (0.4, 0.4, 0.2), (np.nan,) * 3
FOR_A, FOR_B, SPLIT = [A, A, A, B, C], [B, B, B, A, C], [A, A, B, B, C]


def replicates(*rounds: list[list[Seat]]) -> NDArray[np.float64]:
    """Preferences, shape (replicates, rounds, seats, options)."""
    return np.array(rounds, dtype=float)


def runs(times: list[int], rounds: int) -> NDArray[np.float64]:
    """Replicates whose majority stands from a round on; 0 means never."""
    return replicates(
        *[[FOR_A if t and n >= t else SPLIT for n in range(1, rounds + 1)] for t in times]
    )


def slow_majority(seats: NDArray[np.float64]) -> int | None:
    """The option on top of more than half of the seats present, by a loop."""
    present, votes = 0, [0] * seats.shape[1]
    for seat in seats:
        if np.isnan(seat).any():
            continue
        present += 1
        tops = [k for k, value in enumerate(seat) if value == max(seat)]
        if len(tops) == 1:
            votes[tops[0]] += 1
    return next((k for k, count in enumerate(votes) if 2 * count > present), None)


def slow_times(preferences: NDArray[np.float64], reading: str) -> list[int | None]:
    """The round of each replicate's majority, by a loop."""
    found: list[int | None] = []
    for run in preferences:
        tops = [slow_majority(seats) for seats in run]
        time = None
        for t in range(len(tops) - 1, -1, -1):
            if reading == "first" and tops[t] is not None:
                time = t + 1
            if reading == "stable":
                if tops[t] is None or tops[t] != tops[-1]:
                    break
                time = t + 1
        found.append(time)
    return found


# --- when a majority stands --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rounds", "first", "stable"),
    [
        ([FOR_A, FOR_A], 1, 1),
        ([SPLIT, FOR_A], 2, 2),
        ([SPLIT, FOR_A, SPLIT], 2, None),
        ([FOR_A, SPLIT, FOR_A], 1, 3),
        ([FOR_A, FOR_B], 1, 2),
        ([FOR_A, FOR_B, FOR_A], 1, 3),
        ([SPLIT, SPLIT], None, None),
        ([[TIED] * 5], None, None),
        ([[A, A, TIED, TIED, TIED]], None, None),
        ([[A, A, A, TIED, TIED]], 1, 1),
        ([[A, A, B, B], [A, A, A, B]], 2, 2),
        ([[A]], 1, 1),
        ([[A, A, B, B, GONE], [A, A, B, GONE, GONE]], 2, 2),
        ([[A, GONE, GONE, GONE, GONE]], 1, 1),
        ([[GONE] * 5], None, None),
    ],
)
def test_a_majority_stands_when_more_than_half_of_the_seats_share_their_top_option(
    rounds: list[list[Seat]], first: int | None, stable: int | None
) -> None:
    for reading, time in (("first", first), ("stable", stable)):
        found = time_to_majority(replicates(rounds), reading)
        assert found.observed.tolist() == [time is not None]
        assert found.times.tolist() == [time or len(rounds)]


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(2, 6), st.booleans())
def test_times_agree_with_loops(seed: int, seats: int, options: int, absent: bool) -> None:
    rng = np.random.default_rng(seed)
    preferences = rng.integers(0, 4, (5, 4, seats, options)) / 3
    if absent:
        preferences[rng.random((5, 4, seats)) < 0.3] = np.nan
    for reading in ("first", "stable"):
        found = time_to_majority(preferences, reading)
        slow = slow_times(preferences, reading)
        assert found.observed.tolist() == [time is not None for time in slow]
        assert found.times.tolist() == [time or 4 for time in slow]
        assert (found.events, found.n) == (sum(time is not None for time in slow), 5)


# --- medians -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("times", "median"),
    [
        ([1, 2, 3], 2),
        ([1, 2, 9], 2),
        ([1, 2, 0], 2),
        ([1, 2], 1),
        ([1, 2, 3, 4], 2),
        ([1, 0], 1),
        ([1, 0, 0], np.inf),
        ([0, 0], np.inf),
        ([4], 4),
    ],
)
def test_the_median_is_the_first_round_after_which_at_most_half_have_no_majority(
    times: list[int], median: float
) -> None:
    for reading in ("first", "stable"):
        assert time_to_majority(runs(times, 9), reading).median == median


def test_the_curve_is_the_share_that_is_left_after_each_round() -> None:
    found = time_to_majority(runs([2, 2, 4, 0], 5))
    assert_allclose(found.curve, [1, 0.5, 0.5, 0.25, 0.25])
    assert (found.events, found.n, found.times.tolist()) == (3, 4, [2, 2, 4, 5])


@given(st.lists(st.integers(0, 12), min_size=6, max_size=30).filter(lambda t: len(set(t)) > 2))
def test_curve_and_interval_agree_with_statsmodels(times: list[int]) -> None:
    found = time_to_majority(runs(times, 12))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        reference = SurvfuncRight(found.times, found.observed.astype(int))
        low, high = reference.quantile_ci(0.5, method="cloglog")
    steps = np.searchsorted(reference.surv_times, np.arange(1, 13), side="right")
    assert_allclose(found.curve, np.r_[1, reference.surv_prob][steps], atol=1e-12)
    assert_allclose([found.ci_low, found.ci_high], [low, high])


def test_twenty_majorities_in_twenty_rounds_have_their_median_from_round_5_to_15() -> None:
    found = time_to_majority(runs(list(range(1, 21)), 20))
    assert (found.median, found.ci_low, found.ci_high) == (10, 5, 15)
