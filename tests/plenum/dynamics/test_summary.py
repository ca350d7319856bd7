"""Everything of one condition at once."""

import json
from pathlib import Path

import generators
import numpy as np
from numpy.testing import assert_allclose

from plenum.dynamics.decisions import flip_rate, pairwise_disagreement
from plenum.dynamics.divergence import divergence
from plenum.dynamics.lyapunov import lyapunov
from plenum.dynamics.majority import time_to_majority
from plenum.dynamics.nulls import reversal_test
from plenum.dynamics.summary import ESTIMATORS_VERSION, summarise
from plenum.dynamics.switches import switch_counts

DECISIONS = list("AABBBC")
SEATS = np.random.default_rng(3).dirichlet(np.ones(3), (6, 20, 5))


def test_a_summary_holds_the_estimates_of_the_committee_mean() -> None:
    found = summarise(SEATS, DECISIONS, draws=50)
    mean = SEATS.mean(axis=2)
    assert repr(found.lyapunov) == repr(lyapunov(mean, decisions=DECISIONS))  # NaN is NaN there
    assert found.reversal == reversal_test(mean, draws=50)
    assert_allclose(found.divergence, divergence(mean))
    assert found.flip_rate == flip_rate(DECISIONS)
    assert found.disagreement == pairwise_disagreement(DECISIONS)
    assert found.time_to_majority == time_to_majority(SEATS)
    assert found.time_to_stable == time_to_majority(SEATS, "stable")
    assert_allclose(found.switches.counts, switch_counts(SEATS).counts)


def test_a_summary_takes_the_window_the_interval_and_the_draws_it_is_given() -> None:
    found = summarise(SEATS, DECISIONS, (5, 12), interval="percentile", draws=60, seed=2)
    mean = SEATS.mean(axis=2)
    expected = lyapunov(mean, (5, 12), DECISIONS, interval="percentile", draws=60, seed=2)
    assert repr(found.lyapunov) == repr(expected)
    assert found.reversal == reversal_test(mean, (5, 12), draws=60, seed=2)
    assert len(found.reversal.null) == 60


def test_numbers_of_a_version_of_the_estimators_stay() -> None:
    # Another number, or a name more or less: raise ESTIMATORS_VERSION and record anew.
    ensemble = generators.random_walk().sample(6, seed=1)
    found = summarise(ensemble[:, :, None, :], list("AAAAAB")).record()
    file = Path(__file__).with_name("estimates_by_version.json")
    recorded = json.loads(file.read_text())[str(ESTIMATORS_VERSION)]
    assert {group: list(numbers) for group, numbers in found.items()} == {
        group: list(numbers) for group, numbers in recorded.items()
    }
    for group, numbers in found.items():
        for name, number in numbers.items():
            assert_allclose(number, float(recorded[group][name]), rtol=1e-6, err_msg=name)
