"""The rule by which a program may act alone: run it some times, and act if all runs agree."""

from dataclasses import dataclass

import numpy as np
import scipy

from plenum.dynamics.fit import Floats
from plenum_verdicts.suites.suite_runs import Codes

MOST_RUNS = 7
"""Number of runs of a case up to which rules are looked at. The number is plenum's own: each run
is paid for at each use of the rule, and cases that agree three times mostly go on to (see
`FEW_RUNS`)."""


@dataclass(frozen=True)
class ActRule:
    """Run a case ``runs`` times; act if all of these decide alike, else ask a person.

    Attributes
    ----------
    runs
        From 1.
    agreeing
        All of ``runs``: files say so in words that a reader can't mistake.

    Examples
    --------
    >>> ActRule(5, 5)
    ActRule(runs=5, agreeing=5)
    """

    runs: int
    agreeing: int

    def __post_init__(self) -> None:
        if not self.runs == self.agreeing >= 1:
            raise ValueError(
                f"{self.agreeing} of {self.runs}: all runs, one at least, have to agree"
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
        return np.asarray(
            scipy.stats.hypergeom.pmf(self.runs, total, decided, self.runs), np.float64
        )
