"""The rule by which a program may act alone: run it some times, and act if enough runs agree."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import hypergeom

from plenum.dynamics import Floats
from plenum_verdicts.suites import Codes

MOST_RUNS = 7
"""Number of runs of a case up to which rules are looked at."""


@dataclass(frozen=True)
class ActRule:
    """Run a case ``runs`` times; act if ``agreeing`` runs decide alike, else ask a person.

    Attributes
    ----------
    runs
        From 1.
    agreeing
        More than half of ``runs``, so that at most one decision is acted upon.

    Examples
    --------
    >>> ActRule(5, 4)
    ActRule(runs=5, agreeing=4)
    """

    runs: int
    agreeing: int

    def __post_init__(self) -> None:
        if not self.runs >= 1 or not self.runs / 2 < self.agreeing <= self.runs:
            raise ValueError(
                f"runs={self.runs}, agreeing={self.agreeing}: more than half of the runs, and at "
                "most all, have to agree"
            )

    def chance(self, decided: Codes, total: Codes) -> Floats:
        """Return how likely so many of a case's runs lead to the act that they decided for.

        Parameters
        ----------
        decided
            Number of runs that decided so, shape (N,).
        total
            Number of runs of the case, at least ``runs``, of which ``runs`` are drawn, shape (N,).
        """
        return np.asarray(hypergeom.sf(self.agreeing - 1, total, decided, self.runs), np.float64)
