"""Runs of one world part at the rate of their process; worlds are averaged, shorter ones cut."""

import numpy as np
from generators import autoregressive
from numpy.testing import assert_allclose

from plenum.dynamics import estimate
from plenum.dynamics.divergence import divergence
from plenum.dynamics.fit import Floats
from plenum.dynamics.lyapunov import lyapunov
from plenum_worlds.dynamics.within_world import estimate_divergence


def worlds(*rounds: int) -> list[Floats]:
    return [
        autoregressive(0.5, rate=0.05, sd=0.01, rounds=n).sample(8, seed=seed)
        for seed, n in enumerate(rounds)
    ]


def test_the_exponent_is_the_mean_over_worlds_with_its_t_interval() -> None:
    several = worlds(20, 20, 20)
    found, each = estimate_divergence(several), [lyapunov(runs).value for runs in several]
    expected = estimate.estimate_mean(np.array(each), "")
    assert found.worlds == 3
    assert_allclose(found.exponent.value, np.mean(each))
    assert_allclose([found.exponent.ci_low, found.exponent.ci_high],
                    [expected.ci_low, expected.ci_high])  # fmt: skip


def test_one_world_has_the_interval_of_its_own_jackknife() -> None:
    (runs,) = worlds(20)
    found, own = estimate_divergence([runs]).exponent, lyapunov(runs)
    assert (found.value, found.ci_low, found.ci_high) == (own.value, own.ci_low, own.ci_high)


def test_d_is_averaged_over_the_rounds_that_all_worlds_have() -> None:
    several = worlds(20, 12)
    found = estimate_divergence(several)
    assert_allclose(found.divergence, np.mean([divergence(runs)[:12] for runs in several], axis=0))
    assert_allclose(found.level, np.mean([divergence(runs).mean() for runs in several]))
