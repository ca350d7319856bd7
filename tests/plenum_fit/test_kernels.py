"""Kernels of seats: what was put in is found again, and states stay on the simplex."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plenum_fit.committees import Committees, Turns, collect_turns, find_majority
from plenum_fit.kernels import Kernel, aim, fit_kernel, move
from plenum_fit.noise import SILENT, Noise, draw_noise, fit_noise

NOISE = Noise(0.2, ((4e-4, -1e-4), (-1e-4, 2e-4)), ((6e-3, -2e-3), (-2e-3, 4e-3)))


def drawn_turns(kernel: Kernel, turns: int, seed: int = 0, spread: float = 6.0) -> Turns:
    """Turns of a kernel from states all over the inner simplex."""
    rng = np.random.default_rng(seed)
    own, first = rng.dirichlet([spread] * 3, (2, turns))
    peers = rng.dirichlet([spread] * 3, (turns, 4))
    return Turns(own, peers, first, move(kernel, own, peers, first, rng))


@pytest.mark.parametrize(
    ("terms", "weights"),
    [
        (("peers",), (0.3,)),
        (("peers", "first"), (0.2, 0.15)),
        (("near", "first"), (0.25, 0.1)),
        (("peers", "own", "group"), (0.1, 0.06, 0.04)),
        (("peers", "anchor"), (0.2, 0.02, 0.1, 0.0)),
    ],
)
def test_pulls_staying_and_noise_are_recovered(
    terms: tuple[str, ...], weights: tuple[float, ...]
) -> None:
    true = Kernel(terms, weights, 0.4, NOISE)
    found = fit_kernel(drawn_turns(true, 20_000), terms)
    np.testing.assert_allclose(found.weights, weights, atol=0.015)
    assert found.stays == pytest.approx(0.4, abs=0.015)
    assert found.noise.share == pytest.approx(0.2, abs=0.04)
    np.testing.assert_allclose(found.noise.small, NOISE.small, atol=6e-5)
    np.testing.assert_allclose(found.noise.wide, NOISE.wide, atol=9e-4)


def test_hazards_of_jumps_are_recovered() -> None:
    true = Kernel((), (), 0.5, SILENT, (0.03, 0.2))
    turns = drawn_turns(true, 60_000, spread=0.4)  # far from the middle, where swaps are large
    clear = np.abs(np.diff(np.sort(turns.before, axis=1)[:, 1:], axis=1))[:, 0] > 0.4
    seen = Turns(*(part[clear] for part in (turns.before, turns.peers, turns.first, turns.after)))
    found = fit_kernel(seen, (), jumps=True)
    # A third option that is far below the second one takes small swaps: those are jumps as well.
    assert found.hazards[0] == pytest.approx(0.03, abs=0.01)
    assert found.hazards[1] == pytest.approx(0.2, abs=0.03)


def test_without_noise_a_turn_goes_its_share_of_the_way() -> None:
    own, peers = np.array([[0.6, 0.3, 0.1]]), np.array([[[0.2, 0.6, 0.2], [0.0, 0.8, 0.2]]])
    kernel = Kernel(("peers", "own", "group"), (0.5, 0.1, 0.2), 0.0, SILENT)
    after = move(kernel, own, peers, own, np.random.default_rng(0))
    by_hand = own + 0.5 * (np.array([0.1, 0.7, 0.2]) - own)
    by_hand += 0.1 * (np.array([1, 0, 0]) - own) + 0.2 * (np.array([0, 1, 0]) - own)
    np.testing.assert_allclose(after, by_hand, atol=1e-12)


def test_peers_out_of_reach_have_no_pull() -> None:
    own = np.array([[0.8, 0.1, 0.1]])
    near, far = [0.7, 0.2, 0.1], [0.1, 0.8, 0.1]
    (way,) = aim(("near",), own, np.array([[near, far]]), own)
    np.testing.assert_allclose(way, np.array([near]) - own, atol=1e-12)
    (alone,) = aim(("near",), own, np.array([[far, far]]), own)
    np.testing.assert_allclose(alone, 0, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 1), st.floats(0, 0.3), st.floats(0, 0.5))
def test_states_stay_on_the_simplex(seed: int, stays: float, lone: float, follow: float) -> None:
    kernel = Kernel(("peers", "own"), (0.4, 0.5), stays, NOISE, (lone, follow))
    after = drawn_turns(kernel, 50, seed, spread=1.0).after
    assert (after >= 0).all()
    np.testing.assert_allclose(after.sum(axis=1), 1)


def test_noise_sums_to_nothing_and_follows_the_order_of_a_state() -> None:
    rng = np.random.default_rng(1)
    leading = Noise(0.0, ((1e-2, -5e-3), (-5e-3, 1e-2)), ((1e-2, 0.0), (0.0, 1e-2)))
    flat = Noise(0.0, ((1e-2, -1e-2), (-1e-2, 1e-2 + 1e-9)), ((1e-2, 0.0), (0.0, 1e-2)))
    own = np.tile([0.1, 0.2, 0.7], (4000, 1))
    drawn = draw_noise(leading, own, rng)
    np.testing.assert_allclose(drawn.sum(axis=1), 0, atol=1e-12)
    # The last in order takes the rest: here nothing, and it is the first option.
    assert np.abs(draw_noise(flat, own, rng)[:, 0]).max() < 1e-3
    np.testing.assert_allclose(np.cov(drawn[:, 2], drawn[:, 1]), leading.small, atol=1e-3)


def test_noise_of_equal_residuals_has_a_law() -> None:
    own = np.tile([0.5, 0.3, 0.2], (10, 1))
    found = fit_noise(own, np.zeros_like(own))
    assert np.isfinite(np.array([found.small, found.wide])).all()


def test_turns_show_what_was_stated_last() -> None:
    rng = np.random.default_rng(2)
    states = rng.dirichlet([1, 1, 1], (2, 3, 3))
    committees = Committees("A", "on", "uniform", ("x", "y", "y"), states, np.zeros(2, int))
    turns = collect_turns([committees])
    assert {key: len(each.before) for key, each in turns.items()} == {"x": 4, "y": 8}
    # The second seat in the third round, after those of the other rounds and runs.
    np.testing.assert_array_equal(turns["y"].before[2:4], states[:, 1, 1])
    spoken = np.stack([states[:, 2, 0], states[:, 1, 2]], axis=1)
    np.testing.assert_array_equal(turns["y"].peers[2:4], spoken)
    np.testing.assert_array_equal(turns["y"].first[2:4], states[:, 0, 1])


def test_a_majority_takes_more_than_half() -> None:
    votes = np.array([[0, 0, 1], [0, 1, 2], [2, 2, 2], [-1, 0, 0], [-1, -1, 0]])
    assert find_majority(votes, 3).tolist() == [0, -1, 2, 0, -1]
