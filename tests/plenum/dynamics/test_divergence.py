"""D(t): the mean pairwise distance of replicates, round by round."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from plenum.dynamics.divergence import divergence, pairwise_distances

A, B, C, MIDDLE = (1, 0, 0), (0, 1, 0), (0, 0, 1), (1 / 3, 1 / 3, 1 / 3)

shapes = st.tuples(st.integers(2, 6), st.integers(1, 5), st.integers(2, 6))
ensembles = shapes.flatmap(
    lambda shape: arrays(float, shape, elements=st.integers(0, 1000).map(lambda n: n / 1000))
)


def one_round(*points: tuple[float, ...]) -> NDArray[np.float64]:
    """An ensemble of one round."""
    return np.array([[point] for point in points], dtype=float)


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ((A, A), 0.0),
        ((A, B), np.sqrt(2)),
        ((A, MIDDLE), np.sqrt(2 / 3)),
        ((A, A, B), 2 / 3 * np.sqrt(2)),
        ((A, B, C), np.sqrt(2)),
        ((A, A, B, B), 4 / 6 * np.sqrt(2)),
        (((0.5, 0.5, 0.0), (0.5, 0.3, 0.2)), 0.2 * np.sqrt(2)),
        (((1, 0), (0, 1)), np.sqrt(2)),
        (((1, 0, 0, 0, 0), (0, 0, 0, 0, 1)), np.sqrt(2)),
        (((0.2,) * 5, (1, 0, 0, 0, 0)), np.sqrt(0.8)),
    ],
)
def test_divergence_is_the_mean_distance_of_pairs(
    points: tuple[tuple[float, ...], ...], expected: float
) -> None:
    assert_allclose(divergence(one_round(*points)), [expected], rtol=1e-12)


def test_twenty_replicates_at_the_most_even_split_reach_the_cap_of_0990() -> None:
    even = one_round(*[A] * 7, *[B] * 7, *[C] * 6)
    pairs = 7 * 7 + 7 * 6 + 7 * 6
    assert_allclose(divergence(even), [np.sqrt(2) * pairs / 190], rtol=1e-12)
    assert_allclose(divergence(even), [0.990], atol=5e-4)


@given(ensembles)
def test_divergence_agrees_with_a_loop_over_pairs(ensemble: NDArray[np.float64]) -> None:
    pairs = list(itertools.combinations(ensemble, 2))
    slow = sum(np.linalg.norm(a - b, axis=1) for a, b in pairs) / len(pairs)
    assert_allclose(divergence(ensemble), slow, rtol=1e-9, atol=1e-12)


@given(ensembles)
def test_distances_are_symmetric_with_a_zero_diagonal(ensemble: NDArray[np.float64]) -> None:
    distances = pairwise_distances(ensemble)
    assert_allclose(distances, distances.transpose(1, 0, 2))
    assert_allclose(np.diagonal(distances), 0)


def test_a_distance_below_1e_9_is_an_exact_zero() -> None:
    near, apart = (one_round((0.5, 0.5), (0.5 + d, 0.5 - d)) for d in (5e-10, 2e-9))
    assert divergence(near)[0] == 0.0
    assert_allclose(divergence(apart), [2e-9 * np.sqrt(2)], rtol=1e-6)
