"""Models of growth: their fits, what is told of them, and a second, slow implementation."""

from collections.abc import Callable

import generators
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy import optimize, stats

from plenum.dynamics import LEAST, compare_growth
from plenum.dynamics.growth import MODELS, _fit_jumps, _fit_walk

Floats = NDArray[np.float64]


# --- a second implementation ---------------------------------------------------------------------


def slow_scores(ensemble: Floats) -> Floats:
    """Held-out log likelihoods of walk and growth, shape (2, replicates), by general optimisers."""
    rounds, points = np.arange(3, 21), ensemble[:, 2:20]
    scores = np.empty((2, len(points)))
    for part in range(min(10, len(points))):
        out = np.arange(len(points)) % 10 == part
        centre = np.median(points[~out], axis=0)
        z = ((points - centre) ** 2).sum(axis=2) + 1e-6
        means: tuple[Callable[[Floats], Floats], ...] = (
            lambda x: np.exp(x[0]) * (1 - x[1] + x[1] * rounds / 11.5),
            lambda x: np.exp(x[0] + 2 * x[1] * (rounds - 11.5)),
        )
        for model, mean in enumerate(means):

            def density(x: Floats, z: Floats, mean: Callable[[Floats], Floats]) -> Floats:
                k = np.exp(x[2])
                return np.asarray(stats.gamma.logpdf(z, k, scale=mean(x) / k).sum(axis=1))

            def cost(x: Floats, z: Floats, mean: Callable[[Floats], Floats]) -> float:
                return -float(density(x, z, mean).sum())

            start = [np.log(z[~out].mean()), 0.05, 0.0]
            bounds = [(-20, 5), (0, 1 if model == 0 else 0.5), (-3, 6)]
            given = (z[~out], mean)
            x = optimize.minimize(cost, start, given, bounds=bounds, method="Powell").x
            scores[model, out] = density(x, z[out], mean)
    return scores


@pytest.mark.slow
@pytest.mark.parametrize(
    "process",
    [generators.random_walk(), generators.autoregressive(0.5, rate=0.1)],
    ids=lambda process: process.name,
)
def test_walk_and_growth_predict_as_general_optimisers_do(process: generators.Process) -> None:
    ensemble = process.sample(20, 3)
    found, slow = compare_growth(ensemble), slow_scores(ensemble)
    gain = slow[0] - slow[1]
    walk, growth = found.held_out[MODELS.index("walk")], found.held_out[MODELS.index("growth")]
    assert_allclose(walk - growth, gain.mean(), atol=0.05 * gain.std())
    best = MODELS.index(found.best)
    other = MODELS.index("growth" if found.best == "walk" else "walk")
    sign = 1 if found.best == "walk" else -1
    p = stats.ttest_1samp(sign * gain, 0, alternative="greater").pvalue
    assert best != MODELS.index("jumps")
    assert_allclose(found.p[other], p, rtol=0.3)


def test_jumps_are_fitted_as_likely_as_by_a_general_optimiser() -> None:
    points = generators.decision_flips(0.03, sd=0.01).sample(20, 4)[:, 2:20]
    rounds = np.arange(3.0, 21)
    z = ((points - np.median(points, axis=0)) ** 2).sum(axis=2) + 1e-6

    def slow(x: Floats) -> float:
        """Written out: each squared distance is of one that stays, or of one that has jumped."""
        h, near, far, k, m = 1 / (1 + np.exp(-x[0])), *np.exp(x[1:])
        stays = (1 - h) ** rounds * stats.gamma.pdf(z, k, scale=near / k)
        gone = (1 - (1 - h) ** rounds) * stats.gamma.pdf(z, m, scale=far / m)
        return -float(np.log(stays + gone).sum())

    (density,), named = _fit_jumps(rounds, z[None], np.ones((1, 20), bool))
    start = np.array([-3.0, np.log(2e-4), np.log(0.25), 0.0, 3.0])
    least = optimize.minimize(slow, start, method="Nelder-Mead", options={"maxiter": 4000}).fun
    assert -density.sum() <= least + 0.005 * z.size
    assert_allclose(named["distance"], [0.5], rtol=0.05)


# --- known answers -------------------------------------------------------------------------------


@pytest.mark.slow
def test_parameters_are_those_of_the_process() -> None:
    walk = compare_growth(generators.random_walk(0.01).sample(400, 1))
    assert walk.pick == "walk"
    # Pairs are 4 sd² t apart, squared, in two dimensions.
    assert_allclose([walk.spread, walk.diffusion], [0, 0.02], atol=0.01)
    jumps = compare_growth(generators.decision_flips(0.02, jump=0.4, sd=0.01).sample(400, 1))
    assert jumps.pick == "jumps"
    assert_allclose([jumps.hazard, jumps.distance], [0.02, 0.4], rtol=0.15)
    assert_allclose(jumps.noise, 0.02, rtol=0.1)
    growth = compare_growth(generators.autoregressive(0.5, rate=0.1).sample(400, 1))
    assert growth.pick == "growth"
    assert_allclose(growth.rate, 0.1, atol=0.01)


def test_walks_that_start_apart_have_a_spread() -> None:
    rounds = np.arange(3.0, 21)
    chi = np.random.default_rng(2).chisquare(2, (5000, 1)) / 2
    squares = chi * (0.0008 + 0.0002 * rounds)
    _, named = _fit_walk(rounds, squares[None], np.ones((1, 5000), bool))
    assert_allclose([named["spread"], named["diffusion"]], [[0.04], [0.02]], rtol=0.03)


@pytest.mark.slow
def test_densities_of_the_jumps_add_up() -> None:
    rounds, squares = np.arange(3.0, 21), np.geomspace(1e-9, 40, 20_000)
    known = np.random.default_rng(1).gamma(1.5, 0.01, (30, 18))
    every = np.concatenate([known, np.tile(squares[:, None], (1, 18))])
    used = np.arange(len(every)) < 30
    (densities,), _ = _fit_jumps(rounds, every[None], used[None])
    assert_allclose(np.trapezoid(np.exp(densities[30:]), squares, axis=0), 1, atol=0.01)


def test_nothing_is_told_of_few_replicates_or_of_what_falls_or_stands() -> None:
    growing = generators.autoregressive(0.0, rate=0.15)
    assert compare_growth(growing.sample(20, 1)).pick == "growth"
    few = compare_growth(growing.sample(LEAST - 1, 1))
    assert (few.pick, few.best) == ("", "growth")
    for seed in range(5):
        assert compare_growth(generators.contraction().sample(20, seed)).pick == ""
    same = compare_growth(np.full((12, 20, 3), 1 / 3))
    assert (same.pick, same.best) == ("", "")
    assert np.isnan(same.held_out).all()


# --- properties ----------------------------------------------------------------------------------


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(3)))
def test_neither_a_common_path_nor_the_order_of_options_matters(
    seed: int, order: list[int]
) -> None:
    ensemble = generators.leaps(0.2, walks=True).sample(12, seed)
    path = np.random.default_rng(seed).normal(0, 0.1, (1, 20, 3))
    found, moved = compare_growth(ensemble), compare_growth((ensemble + path)[..., order])
    assert_allclose(moved.held_out, found.held_out, atol=1e-6)
    assert moved.pick == found.pick
    assert (found.p[~np.isnan(found.p)] <= 1).all()
    assert found.held_out.max() == 0
