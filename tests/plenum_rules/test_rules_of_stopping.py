"""Rules of stopping: the round is the one that can be read off, and never one after the last."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import betabinom

from plenum_rules import stopping_rules


def run(*rounds: str) -> NDArray[np.float64]:
    """One run, whose seats have the named option on top in each round; ``-`` is a tie."""
    states = {"A": [0.8, 0.2, 0.0], "B": [0.2, 0.8, 0.0], "C": [0.0, 0.2, 0.8], "-": [0.5, 0.5, 0]}
    return np.array([[states[seat] for seat in tops] for tops in rounds])


SPLIT = run("ABC", "AAB", "ABB", "ABB", "ABB", "BBB")
NEVER = run("ABC", "ABC", "A-B", "ABC", "ABC", "ABC")
BOTH = np.stack([SPLIT, NEVER])


def test_a_fixed_round_is_cut_to_the_last_one() -> None:
    assert stopping_rules.stop_at_round(BOTH, 3).tolist() == [3, 3]
    assert stopping_rules.stop_at_round(BOTH, 99).tolist() == [6, 6]


def test_a_majority_must_stay_the_same_to_be_stable() -> None:
    assert stopping_rules.stop_at_stable_majority(BOTH, 1).tolist() == [2, 6]
    assert stopping_rules.stop_at_stable_majority(BOTH, 2).tolist() == [4, 6]
    assert stopping_rules.stop_at_stable_majority(BOTH, 3).tolist() == [5, 6]
    assert stopping_rules.stop_at_stable_majority(BOTH, 7).tolist() == [6, 6]


def test_unanimity_is_all_seats_and_no_tie() -> None:
    assert stopping_rules.stop_at_unanimity(BOTH).tolist() == [6, 6]
    assert stopping_rules.stop_at_unanimity(run("--", "AA", "AA")[None]).tolist() == [2]


def test_a_plateau_ends_all_runs_together_once_votes_stand_still() -> None:
    moving = [run("AAB", "AAA", "AAA", "AAA", "AAA") for _ in range(20)]
    assert stopping_rules.stop_at_plateau(np.stack(moving)).tolist() == [4] * 20
    restless = [run(*(("AAA", "AAB", "ABC")[n % 3] for n in range(9))) for _ in range(20)]
    assert set(stopping_rules.stop_at_plateau(np.stack(restless)).tolist()) == {9}


def test_the_fit_finds_the_distribution_that_counts_were_drawn_from() -> None:
    counts = betabinom.rvs(5, 2.0, 1.0, size=20_000, random_state=np.random.default_rng(1))
    fitted = stopping_rules._fit_beta_binomial(counts, 5)
    assert np.abs(fitted - betabinom.pmf(np.arange(6), 5, 2.0, 1.0)).max() < 0.02


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 5), st.integers(1, 4))
def test_every_rule_stops_within_the_rounds(seed: int, runs: int, rounds: int, seats: int) -> None:
    states = np.random.default_rng(seed).dirichlet(np.ones(3), (runs, rounds, seats))
    for stopped in (
        stopping_rules.stop_at_round(states, 3),
        stopping_rules.stop_at_stable_majority(states, 2),
        stopping_rules.stop_at_unanimity(states),
        stopping_rules.stop_at_plateau(states),
    ):
        assert stopped.shape == (runs,)
        assert ((stopped >= 1) & (stopped <= rounds)).all()
