"""Chances of a right run by case, as few runs tell them: beta distributions fitted together."""

from dataclasses import dataclass

import numpy as np
import scipy

from plenum.dynamics.fit import Floats
from plenum_verdicts.suites.suite_runs import Codes, SuiteRuns, sum_groups

_LOGS = (-5.0, 6.0)
"""Natural logarithms between which the prior's two parameters lie. From 0.007, where nearly all
cases are always right or always wrong, to 400, where all have nearly the same chance: few runs tell
neither end from what lies beyond."""


@dataclass(frozen=True)
class CaseChances:
    """Beta distributions of the cases' chances of a right run, in no order of cases.

    Attributes
    ----------
    prior
        The two parameters of the distribution that the cases share.
    right, wrong
        Number of right and wrong runs of each case, shape (N,), sorted.
    """

    prior: tuple[float, float]
    right: Codes
    wrong: Codes

    def draw(self, random: np.random.Generator, draws: int) -> Floats:
        """Draw the chances of all cases, shape (draws, N)."""
        a, b = self.prior
        return random.beta(a + self.right, b + self.wrong, (draws, len(self.right)))

    @property
    def means(self) -> Floats:
        """Chances that are shrunken towards those of the other cases, shape (N,)."""
        a, b = self.prior
        return np.asarray((a + self.right) / (a + b + self.right + self.wrong), np.float64)


def count_right(runs: SuiteRuns) -> tuple[Codes, Codes]:
    """Return the numbers of right and of wrong runs of each case, shape (N,) each."""
    right = sum_groups(runs.case, runs.score >= 1, len(runs.cases)).astype(np.intp)
    return right, runs.repeats - right


def fit_chances(runs: SuiteRuns) -> CaseChances:
    """Fit a beta-binomial distribution to the numbers of right runs, by maximum likelihood.

    Parameters
    ----------
    runs
        Every run has a score of 0 or 1.

    Examples
    --------
    >>> same = {str(n): ["r"] * 4 for n in range(20)}
    >>> right = {name: [1.0] * 4 for name in same}
    >>> bool(fit_chances(SuiteRuns.of(same, right)).means.min() > 0.99)
    True
    """
    right, wrong = count_right(runs)
    # Sorted, so that draws of chances don't depend on the order of the cases.
    order = np.lexsort((wrong, right))
    right, wrong = right[order], wrong[order]
    # Few pairs of numbers occur: each is evaluated once and weighted.
    pairs, times = np.unique(np.stack([right, wrong]), axis=1, return_counts=True)

    def loss(logs: Floats) -> float:
        chances = scipy.stats.betabinom.logpmf(pairs[0], pairs.sum(axis=0), *np.exp(logs))
        return -float(times @ chances)

    # Bounded, since without any variance within or between cases the likelihood has no maximum.
    # The search begins at two ones, where every chance is as likely.
    found = scipy.optimize.minimize(loss, np.zeros(2), method="L-BFGS-B", bounds=[_LOGS, _LOGS])
    a, b = np.exp(found.x)
    return CaseChances((float(a), float(b)), right, wrong)
