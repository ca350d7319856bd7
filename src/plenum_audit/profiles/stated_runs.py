"""Runs with a stated confidence: how sure the program was, and whether it was right."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plenum.dynamics import Floats
from plenum_audit.suites import Codes, sum_groups


@dataclass(frozen=True)
class StatedRuns:
    """Runs that stated a confidence, of cases that weigh equally.

    Attributes
    ----------
    case
        Number of each run's case, from 0 without gaps, shape (runs,).
    confidence
        The stated chance that the decision is right, from 0 to 1, shape (runs,).
    right
        1 if it is, else 0, shape (runs,).
    """

    case: Codes
    confidence: Floats
    right: Floats

    @classmethod
    def of(
        cls, case: Sequence[int] | Codes, confidence: Sequence[float] | Floats, right: Floats
    ) -> "StatedRuns":
        """Return the runs whose confidence and whose rightness are known (no NaN)."""
        confidence, right = np.asarray(confidence, float), np.asarray(right, float)
        known = np.isfinite(confidence) & np.isfinite(right)
        number = np.unique(np.asarray(case)[known], return_inverse=True)[1]
        return cls(np.asarray(number, np.intp), confidence[known], right[known])

    @cached_property
    def cases(self) -> int:
        """Number of cases."""
        return int(self.case.max(initial=-1)) + 1

    @cached_property
    def weight(self) -> Floats:
        """Weight of each run; those of a case add up to 1."""
        return np.asarray(1 / np.bincount(self.case)[self.case], np.float64)

    def by_case(self, values: Floats) -> Floats:
        """Return the mean of values of runs over each case, shape (N,)."""
        return sum_groups(self.case, self.weight * values, self.cases)
