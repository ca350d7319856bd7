"""The statistics of a condition that a model is to predict, and its errors in them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plenum.dynamics import pairwise_disagreement, switch_counts, time_to_majority
from plenum_fit.committees import Committees, Floats, Options

STATISTICS = ("divergence", "disagreement", "switches", "majority")


@dataclass(frozen=True)
class Statistics:
    """The statistics that are compared.

    Attributes
    ----------
    divergence
        D of each round, shape (rounds,).
    disagreement
        The probability that two runs decide differently.
    switches
        Of top option, mean over runs, shape (seats,).
    majority
        Mean round of the first majority of states; one after the last where there is none.
    """

    divergence: Floats
    disagreement: float
    switches: Floats
    majority: float


def measure(preferences: Floats, decided: Options) -> Statistics:
    """Measure runs; every statistic is unbiased, whatever the number of runs.

    Parameters
    ----------
    preferences
        Shape (runs, rounds, seats, options), of two or more runs.
    decided
        Shape (runs,).
    """
    rounds = preferences.shape[1]
    times = time_to_majority(preferences)
    return Statistics(
        divergence=_divergence(preferences.mean(axis=2)),
        disagreement=pairwise_disagreement(list(map(str, decided))).value,
        switches=switch_counts(preferences).mean,
        majority=float(np.where(times.observed, times.times, rounds + 1).mean()),
    )


def measure_recorded(committees: Committees) -> Statistics:
    """Measure the recorded runs of a condition."""
    return measure(committees.preferences, committees.decided)


def average(several: Sequence[Statistics]) -> Statistics:
    """Average statistics over conditions."""
    return Statistics(
        *(np.mean([getattr(each, name) for each in several], axis=0) for name in STATISTICS)
    )


def _divergence(means: Floats) -> Floats:
    """Return the mean distance of pairs of runs, round by round, in little memory."""
    runs, rounds = means.shape[:2]
    total = np.zeros(rounds)
    for shift in range(1, runs):
        total += np.sqrt(((means[shift:] - means[:-shift]) ** 2).sum(axis=-1)).sum(axis=0)
    return np.asarray(total / (runs * (runs - 1) / 2))


Scales = dict[str, float]


def scale(observed: Sequence[Statistics]) -> Scales:
    """Return how far conditions are from their mean, by statistic: the unit of errors."""
    centre = average(observed)
    return {
        name: float(np.mean([differ(each, centre, name) for each in observed]))
        for name in STATISTICS
    }


def compute_errors(predicted: Statistics, observed: Statistics, scales: Scales) -> dict[str, float]:
    """Return the mean absolute error of each statistic in units of its scale.

    1 is as bad as to predict the mean of all conditions everywhere. A statistic that is the same
    in all conditions is left out.
    """
    return {
        name: differ(predicted, observed, name) / unit for name, unit in scales.items() if unit > 0
    }


def differ(first: Statistics, second: Statistics, name: str) -> float:
    """Return the mean absolute difference of a statistic, in its own unit."""
    return float(np.abs(getattr(first, name) - getattr(second, name)).mean())
