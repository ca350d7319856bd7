"""Votes as stated: shares of ballots that name the sole top of their seat's last state."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from plenum.dynamics.decisions import estimate_share
from plenum.dynamics.stated_votes import compare_votes
from plenum.dynamics.summary import summarise


def count_slowly(states: np.ndarray, votes: np.ndarray) -> tuple[float, float, int]:
    """Mean share of replicates, share of ties, and ballots compared, one ballot at a time."""
    shares, tied, compared, cast = [], 0, 0, 0
    for replicate in range(len(states)):
        alike = sole = 0
        for seat in range(states.shape[2]):
            last, vote = states[replicate, -1, seat], votes[replicate, seat]
            if vote < 0 or np.isnan(last).any():
                continue
            cast += 1
            tops = [k for k, value in enumerate(last) if abs(value - max(last)) < 1e-9]
            if len(tops) > 1:
                tied += 1
                continue
            sole += 1
            alike += tops == [vote]
        compared += sole
        shares += [alike / sole] if sole else []
    return (
        float(np.mean(shares)) if shares else np.nan,
        tied / cast if cast else np.nan,
        compared,
    )


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 5))
def test_it_is_what_one_counts_by_hand(seed: int, replicates: int, seats: int) -> None:
    generator = np.random.default_rng(seed)
    states = generator.integers(0, 4, (replicates, 2, seats, 3)) / 10.0  # with many ties
    states[generator.random(states.shape[:3]) < 0.1] = np.nan
    votes = generator.integers(-1, 3, (replicates, seats))
    found = compare_votes(states, votes)
    value, tied, compared = count_slowly(states, votes)
    assert_allclose([found.share.value, found.tied], [value, tied])
    assert found.ballots == compared


def test_its_interval_takes_replicates_as_units() -> None:
    states = np.tile([0.6, 0.3, 0.1], (10, 1, 5, 1))
    votes = np.zeros((10, 5), int)
    votes[0] = 1  # one replicate votes for another option, all of it
    found = compare_votes(states, votes)
    assert found.share == estimate_share(9.0, 10)
    assert (found.ballots, found.tied) == (50, 0.0)


@given(st.permutations(range(3)), st.permutations(range(5)))
def test_names_of_options_and_the_order_of_seats_change_nothing(
    options: list[int], seats: list[int]
) -> None:
    generator = np.random.default_rng(1)
    states = generator.dirichlet([1, 1, 1], (8, 2, 5))
    votes = generator.integers(0, 3, (8, 5))
    renamed = np.argsort(options)[votes][:, seats]
    assert compare_votes(states[..., options][:, :, seats], renamed) == compare_votes(states, votes)


def test_votes_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match=r"votes of shape \(2, 3\)"):
        compare_votes(np.ones((2, 1, 5, 3)), np.zeros((2, 3), int))


def test_a_summary_without_votes_has_none() -> None:
    states = np.random.default_rng(2).dirichlet([1, 1, 1], (4, 6, 5))
    assert np.isnan(summarise(states, list("ABAB"), draws=50).votes.share.value)
    votes = states[:, -1].argmax(axis=-1)
    record = summarise(states, list("ABAB"), votes=votes, draws=50).record()
    assert record["votes"]["votes_as_stated"] == 1.0
    assert record["votes"]["compared_votes"] == 20
