"""The noise of a suite's score between reruns, and limits of a mean that allow for rare runs."""

import math
from dataclasses import dataclass

import numpy as np

from plenum.dynamics.fit import Floats
from plenum_verdicts.suites.suite_runs import SuiteRuns, sum_groups


def limit_mean(value: float, error: float, unit: float, z: float) -> tuple[float, float]:
    """Return limits of a mean over few or many runs that differ.

    They are those of Wald with the shift of the score interval of a Poisson mean in both
    directions: as many runs more may differ, in either direction, as could have been missed.

    Parameters
    ----------
    value, error
        The mean and its standard error.
    unit
        By how much one run moves the mean at most.
    z
        The quantile of the normal distribution.

    Examples
    --------
    >>> limit_mean(0.0, 0.0, 1 / 200, 1.96)[1].__round__(3)
    0.019
    """
    shift = z**2 / 2 * unit
    half = shift + z * math.sqrt(error**2 + (z * unit / 2) ** 2)
    return value - half, value + half


@dataclass(frozen=True)
class SuiteNoise:
    """The score of a suite, and its noise for these cases.

    Attributes
    ----------
    means
        Mean score of each case, shape (N,).
    spread
        Unbiased variance of a run's score, by case.
    repeats
        Number of runs of each case, at least two.
    """

    means: Floats
    spread: Floats
    repeats: Floats

    @classmethod
    def of(cls, runs: SuiteRuns) -> "SuiteNoise":
        """Estimate the noise of runs that have scores, of cases with two runs or more."""
        n = runs.repeats.astype(float)
        means = runs.mean_scores()
        off = runs.score - means[runs.case]
        return cls(means, sum_groups(runs.case, off**2, len(n)) / (n - 1), n)

    @property
    def score(self) -> float:
        """The mean score."""
        return float(self.means.mean())

    @property
    def unit(self) -> float:
        """The most by which one run moves the score."""
        return float(1 / (len(self.means) * self.repeats.min()))

    @property
    def error(self) -> float:
        """The standard error of the score."""
        return float(np.sqrt((self.spread / self.repeats).sum()) / len(self.means))
