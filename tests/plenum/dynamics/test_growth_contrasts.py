"""Differences of a typical pair's growth: a second implementation, properties, and its size."""

import math
from itertools import combinations

import generators
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from plenum.dynamics.growth import estimate_typical_growth
from plenum.dynamics.growth_contrasts import contrast_growth, pool_growth
from plenum.dynamics.meta_analysis import limit_scenarios

ROUNDS = np.arange(20)


def grow(replicates: int, rate: float, seed: int) -> np.ndarray:
    """Replicates whose distances grow at a rate, with noise."""
    generator = np.random.default_rng(seed)
    noise = generator.normal(0, 0.01, (replicates, 1, 3)) * np.exp(rate * ROUNDS)[:, None]
    return noise + generator.normal(0, 0.001, (replicates, 20, 3))


def measure_distances(arm: np.ndarray) -> list[np.ndarray]:
    """Distances of every pair in rounds 3 to 20."""
    pairs = combinations(range(len(arm)), 2)
    return [np.linalg.norm(arm[i, 2:] - arm[j, 2:], axis=1) for i, j in pairs]


def share_above(arm: np.ndarray, indices: list[int], x: float) -> tuple[float, float]:
    """Share of an arm's pairs that grow by more than x, and its jackknife variance, by loops."""

    def pair_growth(i: int, j: int) -> float:
        distance = np.linalg.norm(arm[i, 2:] - arm[j, 2:], axis=1)
        return math.log(distance[-6:].mean() / distance[:6].mean()) / 12

    def share(members: list[int]) -> float:
        grown = [pair_growth(i, j) for i, j in combinations(members, 2)]
        return float(np.mean([(g > x + 1e-9) + (abs(g - x) <= 1e-9) / 2 for g in grown]))

    left = [share([m for m in indices if m != gone]) for gone in indices]
    return share(indices), (len(left) - 1) * float(np.var(left))


def test_p_is_that_of_every_labelling_counted_by_loops() -> None:
    first, second = grow(4, 0.08, 1), grow(4, 0.0, 2)
    found = contrast_growth(first, second, draws=20_000)
    pooled = []
    for arm in (first, second):
        typical = np.median(np.mean(measure_distances(arm), axis=1))
        pooled.append((arm - np.median(arm, axis=0)) / typical)
    both = np.concatenate(pooled)
    every = [math.log(d[-6:].mean() / d[:6].mean()) / 12 for d in measure_distances(both)]
    middle = float(np.median(every))

    def statistic(treated: tuple[int, ...]) -> float:
        ours = share_above(both, list(treated), middle)
        rest = share_above(both, [i for i in range(8) if i not in treated], middle)
        return abs(ours[0] - rest[0]) / math.sqrt(ours[1] + rest[1] + (2 / 56) ** 2)

    null = [statistic(chosen) for chosen in combinations(range(8), 4)]
    exact = np.mean([value >= statistic((0, 1, 2, 3)) - 1e-9 for value in null])
    assert_allclose(found.p, exact, atol=0.01)


def test_the_interval_adds_the_squares_of_both_arms() -> None:
    first, second = grow(10, 0.08, 1), grow(12, 0.02, 2)
    cells = estimate_typical_growth(first), estimate_typical_growth(second)
    found = contrast_growth(first, second, draws=200)
    assert found.cells == cells
    assert_allclose(found.value, cells[0].value - cells[1].value)
    below = math.hypot(cells[0].value - cells[0].ci_low, cells[1].ci_high - cells[1].value)
    assert_allclose(found.ci_low, found.value - below)
    assert found.ci_low < 0.06 < found.ci_high
    assert found.p < 0.01


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.permutations(range(7)), st.floats(0.1, 10))
def test_order_scale_shift_and_names_change_nothing(
    seed: int, order: list[int], scale: float
) -> None:
    first, second = grow(7, 0.05, seed), grow(6, 0.0, seed + 1)
    found = contrast_growth(first, second, draws=300)
    for other in (first[order], first * scale, first + 0.2, first[..., [2, 0, 1]]):
        moved = contrast_growth(other, second, draws=300)
        assert_allclose([moved.value, moved.ci_low], [found.value, found.ci_low], atol=1e-9)
    again = contrast_growth(first[order], second, draws=300)
    assert repr(again) == repr(found)  # NaN equals none since Python 3.13
    assert contrast_growth(second, first, draws=300).value == -found.value


def test_arms_of_one_law_that_jump_are_told_apart_no_more_often_than_said() -> None:
    law = generators.leaps(0.1)
    p = [
        contrast_growth(law.sample(8, 2 * i), law.sample(8, 2 * i + 1), draws=300).p
        for i in range(150)
    ]
    assert np.mean(np.array(p) <= 0.05) < 0.12  # a binomial of 5 % exceeds it once in 1,000


def test_means_over_scenarios_have_two_intervals() -> None:
    arms = [(grow(8, 0.05, i), grow(8, 0.0, 50 + i)) for i in range(4)]
    contrasts = [contrast_growth(*each, draws=50) for each in arms]
    mean, like = pool_growth(contrasts)
    values = [each.value for each in contrasts]
    assert_allclose(mean.value, np.mean(values))
    below = math.sqrt(sum((each.value - each.ci_low) ** 2 for each in contrasts)) / 4
    assert_allclose(mean.ci_low, mean.value - below)
    half = 3.182446 * np.std(values, ddof=1) / 2  # t with three degrees of freedom
    assert_allclose(like, [mean.value - half, mean.value + half], rtol=1e-5)
    assert mean.n == 4
    assert np.isnan(limit_scenarios([0.1])).all()


def test_what_cant_be_compared_is_not_a_number_or_refused() -> None:
    found = contrast_growth(grow(2, 0.0, 1), grow(8, 0.0, 2), draws=10)
    assert np.isnan([found.value, found.p]).all()
    assert np.isnan(contrast_growth(grow(8, 0.0, 1)[:, :9], grow(8, 0.0, 2), draws=10).p)
    with pytest.raises(ValueError, match="arms of 3 and 2 options"):
        contrast_growth(grow(8, 0.0, 1), grow(8, 0.0, 2)[..., :2])
    with pytest.raises(ValueError, match="draws: 0"):
        contrast_growth(grow(8, 0.0, 1), grow(8, 0.0, 2), draws=0)
