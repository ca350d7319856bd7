"""Branching: the paper's certificate, and the signed exponent beside it."""

import itertools
import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy import stats
from scipy.linalg import helmert

from plenum.dynamics.branching import Branching, branching

Floats = NDArray[np.float64]


def continuations(
    bases: int, branches: int, gain: float, options: int = 3, seed: int = 0, rounds: int = 10
) -> tuple[Floats, Floats]:
    """Branches of x' = gain · x + noise from one state a base, and these states."""
    rng = np.random.default_rng(seed)
    plane = helmert(options)
    start = 0.1 * rng.normal(size=(bases, options - 1))
    state = np.repeat(start[:, None], branches, axis=1)
    path = []
    for _ in range(rounds):
        state = gain * state + 0.01 * rng.normal(size=state.shape)
        path.append(state)
    return 1 / options + np.stack(path, axis=2) @ plane, 1 / options + start @ plane


def mean_distance(points: Floats) -> float:
    """The mean distance of all pairs, by a loop."""
    pairs = list(itertools.combinations(points, 2))
    return sum(math.dist(a, b) for a, b in pairs) / len(pairs)


def cosine(a: Floats, b: Floats) -> float:
    """Cosine similarity of two paths, averaged over rounds."""
    return float(
        np.mean(
            [x @ y / (np.linalg.norm(x) * np.linalg.norm(y)) for x, y in zip(a, b, strict=True)]
        )
    )


@settings(max_examples=15)
@given(st.integers(2, 5), st.integers(2, 4), st.integers(2, 6), st.integers(0, 1000))
def test_everything_agrees_with_loops(bases: int, branches: int, options: int, seed: int) -> None:
    array, start = continuations(bases, branches, 1.1, options, seed, rounds=5)
    origin = start[:, None] + 0.01 * np.random.default_rng(seed).normal(size=array[:, :, 0].shape)
    found = branching(array, origin, permutations=5)
    for base in range(bases):
        level = [mean_distance(array[base, :, t]) for t in range(5)]
        gamma = sum(level) / 5 - mean_distance(origin[base])
        signed = sum(math.log(level[s - 1] / level[0]) - math.log(s) / 2 for s in range(2, 6)) / 4
        assert_allclose(found.gamma_by_base[base], gamma, rtol=1e-9)
        assert_allclose(found.signed_by_base[base], signed, rtol=1e-9)
        for raw, c_in, c_out in (
            (0.0, found.c_in_raw, found.c_out_raw),
            (1 / options, found.c_in, found.c_out),
        ):
            own, others = array[base] - raw, np.delete(array, base, axis=0) - raw
            inside = [cosine(a, b) for a, b in itertools.combinations(own, 2)]
            outside = [cosine(a, b) for a in own for b in others.reshape(-1, 5, options)]
            assert_allclose(c_in[base], np.mean(inside), rtol=1e-9, atol=1e-12)
            assert_allclose(c_out[base], np.mean(outside), rtol=1e-9, atol=1e-12)
    assert (found.bases, found.branches) == (bases, branches)


def test_base_states_are_the_units() -> None:
    array, start = continuations(7, 4, 1.0)
    found = branching(array, start, permutations=5)
    for estimate, values in (
        (found.gamma, found.gamma_by_base),
        (found.signed, found.signed_by_base),
    ):
        se = values.std(ddof=1) / math.sqrt(7)
        half = stats.t(6).ppf(0.975) * se
        assert_allclose([estimate.value, estimate.se], [values.mean(), se])
        assert_allclose(
            [estimate.ci_low, estimate.ci_high], [values.mean() - half, values.mean() + half]
        )
        assert_allclose(estimate.p, stats.ttest_1samp(values, 0).pvalue, rtol=1e-9)
        assert (estimate.n, estimate.df) == (7, 6)


def test_the_signed_exponent_is_zero_under_diffusion_and_has_the_sign_of_growth() -> None:
    # Gaussian walks: log D(t+s) - log D(t+1) averages ½ log s exactly.
    still, grows, shrinks = (
        branching(*continuations(90, 5, gain), permutations=1).signed for gain in (1.0, 1.2, 0.7)
    )
    assert abs(still.value) < 4 * still.se
    assert still.se < 0.05
    assert grows.ci_low > 0
    assert shrinks.ci_high < 0


def test_exact_growth_has_an_exact_signed_exponent() -> None:
    steps = np.arange(1, 9)
    level = 0.001 * np.exp(0.3 * steps)
    path = np.stack([1 / 2 + level[:, None] * np.array([s, -s]) for s in (1, -1)])
    found = branching(np.stack([path] * 3), np.full((3, 2), 0.5), permutations=1)
    expected = np.mean(0.3 * (steps[1:] - 1) - np.log(steps[1:]) / 2)
    assert_allclose(found.signed_by_base, expected, rtol=1e-9)
    assert_allclose(found.gamma_by_base, 2 * math.sqrt(2) * level.mean(), rtol=1e-9)


def test_memory_shows_in_centred_cosines_whether_branches_contract_or_expand() -> None:
    for gain in (0.9, 1.1):
        found = branching(*continuations(8, 4, gain, seed=1), permutations=200)
        assert found.c_in.mean() > found.c_out.mean() + 0.3
        assert found.c_p == 1 / 201
        assert found.c_in_raw.min() > 0.7  # near 1 whatever happens


def test_one_state_a_base_is_that_state_for_all_its_branches() -> None:
    array, start = continuations(4, 3, 1.0)
    one = branching(array, start, permutations=20)
    each = branching(array, np.repeat(start[:, None], 3, axis=1), permutations=20)
    assert isinstance(one, Branching)
    assert_allclose(one.gamma_by_base, each.gamma_by_base)
    assert one.c_p == each.c_p


def test_a_base_without_divergence_has_no_signed_exponent_and_does_not_count() -> None:
    array, start = continuations(4, 3, 1.0)
    array[2, :, 0] = array[2, 0, 0]  # D(t+1) = 0
    array[1, :, 3] = array[1, 0, 3]  # a later zero is left out
    found = branching(array, start, permutations=5)
    assert np.isnan(found.signed_by_base).tolist() == [False, False, True, False]
    assert found.signed.n == 3
    assert_allclose(found.signed.value, np.nanmean(found.signed_by_base))
    assert found.gamma.n == 4


def test_states_at_the_centre_have_no_direction() -> None:
    array, start = continuations(3, 3, 1.0)
    array[0] = 1 / 3
    found = branching(array, start, permutations=5)
    assert np.isnan([found.c_in[0], found.c_out[0]]).all()
    assert np.isfinite(found.c_in[1:]).all()
    assert 0 < found.c_p <= 1
