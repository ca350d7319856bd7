"""Bands of D(t): 95 % intervals over replicates, round by round."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from plenum.dynamics.bands import divergence_band
from plenum.dynamics.divergence import divergence

BASIS = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])


def test_three_replicates_on_a_line_by_hand() -> None:
    """Distances 1, 2 and 3 times √2/10: D is 2, and without one of them 1, 2 or 3."""
    points = np.array([[[0.1, 0.9]], [[0.2, 0.8]], [[0.4, 0.6]]])
    unit = np.sqrt(2) / 10
    left_out = np.log([1, 2, 3])
    error = np.sqrt(2 / 3 * ((left_out - left_out.mean()) ** 2).sum())
    reach = np.exp(stats.t.ppf(0.975, 2) * error)
    low, high = divergence_band(points)
    assert_allclose(low, [2 * unit / reach])
    assert_allclose(high, [2 * unit * reach])


def test_rounds_that_rest_on_one_replicate_have_no_band() -> None:
    ensemble = np.full((5, 3, 2), 0.5)
    ensemble[0, 1] = (0.6, 0.4)  # alone apart: without it D is zero
    ensemble[:, 2] = [(0.1 * n, 1 - 0.1 * n) for n in range(5)]
    low, high = divergence_band(ensemble)
    assert np.isnan([low[:2], high[:2]]).all()
    assert low[2] < divergence(ensemble)[2] < high[2]


def test_bands_cover_the_mean_distance_of_gaussian_replicates() -> None:
    """On a plane two draws are sd·√π apart on average: 95 % of the bands hold it."""
    ensemble = np.random.default_rng(0).normal(0, 0.02, (20, 1800, 2)) @ BASIS + 1 / 3
    low, high = divergence_band(ensemble)
    truth = 0.02 * np.sqrt(np.pi)
    assert np.mean((low <= truth) & (truth <= high)) == pytest.approx(0.95, abs=0.02)
