"""Generators: their truths, against samples and closed forms."""

import math

import exact_processes
import generators
import numpy as np
import pytest
from generators import Process
from numpy.testing import assert_allclose
from slow_dynamics import slow_level

from plenum.dynamics.divergence import divergence
from plenum.dynamics.fit import slope

ROUNDS = np.arange(1, 21, dtype=float)
GAUSSIAN = [
    generators.autoregressive(0.0),
    generators.autoregressive(0.9, rate=0.05),
    generators.random_walk(),
    generators.contraction(),
    generators.plateau(),
    generators.logistic(),
    generators.committee(1.05),
    generators.committee(0.7),
]
OTHER = [
    exact_processes.oracle(),
    generators.decision_flips(),
    generators.decision_flips(0.2, jump=0.3, sd=0.05),
    exact_processes.chaotic_map(),
]


def polyfit(level: np.ndarray, first: int = 3, last: int = 20) -> float:
    """The slope of log D over rounds ``first`` to ``last``."""
    return float(np.polyfit(ROUNDS[first - 1 : last], np.log(level[first - 1 : last]), 1)[0])


def sampled_levels(process: Process, samples: int, replicates: int = 8) -> np.ndarray:
    """D(t) of many ensembles, shape (samples, rounds).

    Replicates are independent, so that one draw of all of them is cut into ensembles; those of
    the exact processes depend on each other and are drawn ensemble by ensemble.
    """
    if process.name in ("oracle", "chaotic map"):
        return np.array([divergence(process.sample(replicates, seed)) for seed in range(20)])
    points = process.sample(samples * replicates)
    points = points.reshape(samples, replicates, *points.shape[1:])
    first, second = np.triu_indices(replicates, 1)
    return np.linalg.norm(points[:, first] - points[:, second], axis=-1).mean(axis=1)


def far_off(process: Process, samples: int, replicates: int = 8) -> float:
    """The largest distance of the mean D(t) from its truth, in standard errors."""
    levels = sampled_levels(process, samples, replicates)
    error = levels.std(axis=0, ddof=1) / math.sqrt(len(levels)) + 1e-9
    return float((np.abs(levels.mean(axis=0) - process.divergence) / error).max())


@pytest.mark.parametrize("process", [*GAUSSIAN, *OTHER], ids=lambda process: process.name)
def test_the_expected_divergence_is_the_mean_over_samples(process: Process) -> None:
    assert far_off(process, 500) < 4.5


@pytest.mark.parametrize(
    "process", [p for p in (*GAUSSIAN, *OTHER) if p.unbiased], ids=lambda process: process.name
)
def test_the_exponent_is_the_mean_estimate_where_it_is_said_to_be(process: Process) -> None:
    values = slope(ROUNDS[2:], sampled_levels(process, 600, 6)[:, 2:])
    error = values.std(ddof=1) / math.sqrt(len(values))
    assert abs(values.mean() - process.exponent()) < 4 * error + 1e-10


# --- closed forms ------------------------------------------------------------------------------


def test_divergences_of_the_gaussian_processes_are_those_of_their_variances() -> None:
    steps = ROUNDS - 1
    expected = [
        (generators.autoregressive(0.7, 0.03, 0.02), 0.02**2 * np.exp(0.06 * ROUNDS)),
        (generators.random_walk(0.03), 0.03**2 * ROUNDS),
        (generators.contraction(0.8, 0.1, 0.01), 0.01**2 + (0.1**2 - 0.01**2) * 0.8 ** (2 * steps)),
        (generators.committee(1.1, 0.02), 0.02**2 / 5 * np.cumsum(1.1 ** (2 * steps))),
        (generators.plateau(0.1, 10, 0.01), 0.01**2 * np.exp(0.2 * np.minimum(ROUNDS, 10))),
    ]
    for process, variance in expected:
        assert_allclose(process.divergence, np.sqrt(np.pi * variance), rtol=1e-9)


def test_known_exponents() -> None:
    assert_allclose(generators.random_walk().exponent(), 0.0509, atol=5e-5)
    assert_allclose(generators.random_walk().exponent(), polyfit(np.sqrt(ROUNDS)), atol=1e-12)
    assert_allclose(generators.autoregressive(0.99, rate=-0.07).exponent(), -0.07, atol=1e-12)
    assert_allclose(generators.committee(1.0).exponent(), polyfit(np.sqrt(ROUNDS)), atol=1e-12)
    assert_allclose(exact_processes.chaotic_map().exponent(), math.log(2), atol=1e-12)
    assert_allclose(exact_processes.oracle(0.123).exponent(), 0.123, atol=1e-12)
    assert generators.contraction().exponent() < 0


# --- exact processes ---------------------------------------------------------------------------


@pytest.mark.parametrize("options", [2, 3, 6])
@pytest.mark.parametrize("replicates", [2, 3, 20, 21])
def test_the_oracle_has_its_divergence_without_error(replicates: int, options: int) -> None:
    process = exact_processes.oracle(0.07, 0.02, options=options)
    found = slow_level(process.sample(replicates))
    assert_allclose(found, 0.02 * np.exp(0.07 * ROUNDS), rtol=1e-10)


def test_every_distance_of_the_chaotic_map_doubles_exactly() -> None:
    for options in (2, 3, 5):
        sample = exact_processes.chaotic_map(22, options).sample(12, seed=1)
        level = slow_level(sample)
        assert_allclose(level[1:] / level[:-1], 2, rtol=1e-12)
        assert sample.min() >= 0
        assert sample.max() <= 1


def test_decisions_flip_once_and_to_another_option() -> None:
    sample = generators.decision_flips(0.1).sample(500, seed=1)
    moves = (np.abs(np.diff(sample, axis=1)).sum(axis=2) > 1e-9).sum(axis=1)
    assert moves.max() == 1
    assert_allclose((sample[:, 0] != sample[0, 0]).any(axis=1).mean(), 0.1, atol=0.1)
    assert len(np.unique(np.round(sample[:, -1], 9), axis=0)) == 3
    assert not generators.decision_flips().unbiased
