"""The runs of a suite in columns: the cases, and how each run of them ended."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenum.dynamics.fit import Floats

Codes = NDArray[np.intp]


@dataclass(frozen=True)
class SuiteRuns:
    """Runs of the cases of a suite, a row each, sorted by case.

    Parameters
    ----------
    cases
        Names of the cases, shape (N,).
    outcomes
        Names of the outcomes: decisions, no decision, and failure.
    case, outcome
        Number of each run's case, which doesn't decrease, and of its outcome, shape (runs,).
    score
        Score of each run from 0 to 1, shape (runs,); 1 for a right and 0 for a wrong decision, NaN
        where it isn't known.

    Examples
    --------
    >>> runs = SuiteRuns.of({"a": ["yes", "yes", "no"], "b": ["no", "no", "no"]})
    >>> runs.repeats
    array([3, 3])
    >>> runs.chance_alike(2)
    array([0.33333333, 1.        ])
    """

    cases: tuple[str, ...]
    outcomes: tuple[str, ...]
    case: Codes
    outcome: Codes
    score: Floats

    @classmethod
    def of(
        cls,
        outcomes: Mapping[str, Sequence[str]],
        scores: Mapping[str, Sequence[float]] | None = None,
    ) -> "SuiteRuns":
        """Return the runs of outcomes by case, and of their scores if they are known."""
        names = sorted({outcome for ended in outcomes.values() for outcome in ended})
        number = {name: index for index, name in enumerate(names)}
        lengths = [len(ended) for ended in outcomes.values()]
        flat = [number[outcome] for ended in outcomes.values() for outcome in ended]
        scored = [value for case in outcomes for value in scores[case]] if scores else []
        return cls(
            cases=tuple(outcomes),
            outcomes=tuple(names),
            case=np.repeat(np.arange(len(lengths)), lengths),
            outcome=np.array(flat, np.intp),
            score=np.array(scored, float) if scores else np.full(len(flat), np.nan),
        )

    @cached_property
    def repeats(self) -> Codes:
        """Number of runs of each case, shape (N,)."""
        return np.bincount(self.case, minlength=len(self.cases))

    @cached_property
    def cells(self) -> tuple[Codes, Codes, Codes]:
        """Case, outcome and number of runs of each pair of a case and an outcome that occurs."""
        # One number for a case and an outcome: far faster to count than pairs of names.
        pairs = self.case * len(self.outcomes) + self.outcome
        cell, count = np.unique(pairs, return_counts=True)
        # Without runs there are no outcomes, and nothing to divide.
        case, outcome = np.divmod(cell, max(len(self.outcomes), 1))
        return case, outcome, count

    @cached_property
    def has_scores(self) -> bool:
        """True if every run has a score."""
        return bool(len(self.score)) and not bool(np.isnan(self.score).any())

    @property
    def right(self) -> "SuiteRuns":
        """The same runs with the outcomes right (a score of 1) and wrong.

        Raises
        ------
        ValueError
            A run has no score.
        """
        if not self.has_scores:
            raise ValueError("score: not known for every run")
        rightly = (self.score >= 1).astype(np.intp)
        return replace(self, outcomes=("wrong", "right"), outcome=rightly)

    def where_repeated(self, least: int = 2) -> "SuiteRuns":
        """Return the cases with at least so many runs."""
        return self._where(self.repeats >= least)

    def of_cases(self, names: Collection[str]) -> "SuiteRuns":
        """Return the cases that have one of these names."""
        return self._where(np.array([name in names for name in self.cases], bool))

    def of_rows(self, rows: NDArray[np.bool_]) -> "SuiteRuns":
        """Return some of the runs, at least one of each case."""
        return replace(
            self, case=self.case[rows], outcome=self.outcome[rows], score=self.score[rows]
        )

    def _where(self, kept: NDArray[np.bool_]) -> "SuiteRuns":
        if kept.all():
            return self
        # The kept cases are numbered anew, without gaps; the running count gives each its number.
        number, rows = np.cumsum(kept) - 1, kept[self.case]
        return SuiteRuns(
            cases=tuple(name for name, stays in zip(self.cases, kept, strict=True) if stays),
            outcomes=self.outcomes,
            case=number[self.case[rows]],
            outcome=self.outcome[rows],
            score=self.score[rows],
        )

    def chance_alike(self, runs: int) -> Floats:
        """Estimate without bias how likely so many runs of a case end alike, shape (N,).

        NaN for cases with fewer runs.
        """
        case, _, count = self.cells
        alike = sum_groups(case, _choose(count, runs), len(self.cases))
        return _ratio(alike, _choose(self.repeats, runs))

    def disagreements(self) -> Floats:
        """Estimate without bias how likely two runs of a case end differently, shape (N,)."""
        return 1 - self.chance_alike(2)

    def mean_scores(self) -> Floats:
        """Return the mean score of each case, shape (N,)."""
        return _ratio(sum_groups(self.case, self.score, len(self.cases)), self.repeats)


def sum_groups(group: Codes, values: ArrayLike, groups: int) -> Floats:
    """Return the sum of the values of each group, given each value's group, shape (groups,)."""
    return np.asarray(np.bincount(group, np.asarray(values, float), groups), np.float64)


def _choose(total: Codes, chosen: int) -> Floats:
    """Return the number of ways to choose, for each total; of pairs it is exact below 2^53."""
    ways = np.ones(len(total))
    for step in range(chosen):
        # A factor at a time: factorials would overflow.
        ways *= np.maximum(total - step, 0) / (step + 1)
    return ways


def _ratio(part: Floats, whole: ArrayLike) -> Floats:
    whole = np.asarray(whole, float)
    ratio: Floats = np.full(len(whole), np.nan)
    np.divide(part, whole, out=ratio, where=whole > 0)
    return ratio
