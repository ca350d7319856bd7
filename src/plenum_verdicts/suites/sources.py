"""Disagreement of runs by source: what a column of a log, or a change, adds to it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from plenum.dynamics.fit import Floats
from plenum_verdicts.suites.intervals import LEVEL
from plenum_verdicts.suites.noise import limit_mean
from plenum_verdicts.suites.suite_runs import Codes, SuiteRuns, sum_groups

_FEW = 10
"""Number of cases from which on their mean gets an interval. The number is plenum's own: estimates
by case are skewed, and of fewer Student's t says too little of that."""


@dataclass(frozen=True)
class Source:
    """A column that differs between runs of a case, and what it adds to their differences.

    Attributes
    ----------
    columns
        Its name; several names if these columns always change together.
    cases
        Number of cases that show what it adds.
    shared
        How often two runs of such a case that share its value end differently.
    more
        By how much more often two runs do that differ in it; without bias, so maybe below 0.
    interval
        Interval of ``more`` for cases like these; ``None`` if fewer than ten cases show it.
    variance
        What it adds to the variance of a run's score; without bias. ``None`` without scores.
    """

    columns: tuple[str, ...]
    cases: int
    shared: float
    more: float
    interval: tuple[float, float] | None
    variance: float | None


@dataclass(frozen=True)
class SourceSplit:
    """The sources of differences between runs, each by itself.

    Attributes
    ----------
    sources
        Columns whose part is known, the largest first.
    incomplete
        Columns that some runs don't have.
    """

    sources: tuple[Source, ...]
    incomplete: tuple[str, ...]


def split_by_source(runs: SuiteRuns, columns: Mapping[str, Sequence[str]]) -> SourceSplit:
    """Compare the runs of a case that differ in a column with those that share it.

    Half the squared difference of two runs' scores (1 where they end differently, for decisions),
    over the pairs that differ in the column, less that over the pairs that share it, is unbiased
    for each case that has both. These weigh equally, as in all figures of a suite, since a case
    with more runs is no more frequent among cases like these (docs/appendix/audit.md). What
    varies with the column counts as its part.

    Parameters
    ----------
    columns
        Value of each run by the column's name, in the order of the runs; empty where unknown.

    Examples
    --------
    >>> runs = SuiteRuns.of({"a": ["x", "x", "y", "y"], "b": ["x", "x", "x", "y"]})
    >>> split = split_by_source(runs, {"model": ["m", "m", "n", "n"] * 2})
    >>> split.sources[0].shared, round(split.sources[0].more, 3)
    (0.25, 0.5)
    """
    # An unknown value is none: two runs without one may differ in it.
    incomplete = tuple(name for name, values in columns.items() if "" in values)
    # Columns that group the runs of each case alike always change together.
    together: dict[bytes, list[str]] = {}
    for name in columns.keys() - set(incomplete):
        # Names don't matter, only which runs share one: columns that agree in this are one source.
        codes = np.unique(np.asarray(columns[name], str), return_inverse=True)[1]
        group, first = _groups([runs.case, codes.astype(np.intp)])
        together.setdefault(first[group].tobytes(), []).append(name)
    every = _Pairs.of(runs, [])
    sources = []
    for groups, names in together.items():
        shared = _Pairs.of(runs, [np.frombuffer(groups, np.intp)])
        # A case shows what a column adds if some of its pairs share it and others don't.
        shown = (shared.count > 0) & (shared.count < every.count)
        # One case has no spread, and may be the only one that the column changes in.
        if shown.sum() < 2:
            continue
        own, other = (
            np.stack([each.apart, each.squares])[:, shown] / each.count[shown]
            for each in (shared, every.without(shared))
        )
        more = other - own
        sources.append(
            Source(
                columns=tuple(sorted(names, key=[*columns].index)),
                cases=int(shown.sum()),
                shared=float(own[0].mean()),
                more=float(more[0].mean()),
                interval=_limit(more[0]),
                variance=float(more[1].mean()) if runs.has_scores else None,
            )
        )
    # By name among equals, so that the order is the same in each report.
    sources.sort(key=lambda source: (-source.more, source.columns))
    return SourceSplit(tuple(sources), incomplete)


@dataclass(frozen=True)
class _Pairs:
    """Pairs of runs of a case that share values, by case: shape (N,) each.

    Attributes
    ----------
    count
        Their number.
    squares
        Sum of half the squared differences of their scores.
    apart
        Number of those that end differently.
    """

    count: Floats
    squares: Floats
    apart: Floats

    @classmethod
    def of(cls, runs: SuiteRuns, codes: Sequence[Codes]) -> "_Pairs":
        group, of = _groups([runs.case, *codes])
        cases, size = len(runs.cases), len(of)
        # Centred: n Σx² - (Σx)² of nearly equal scores would lose its digits.
        score = runs.score - (float(runs.score.mean()) if len(runs.score) else 0.0)
        n, first, second = (sum_groups(group, score**power, size) for power in (0, 1, 2))
        cell, of_cell = _groups([group, runs.outcome])
        alike = sum_groups(group[of_cell], np.bincount(cell, minlength=len(of_cell)) ** 2.0, size)
        case = runs.case[of]
        return cls(
            sum_groups(case, n * (n - 1) / 2, cases),
            # Σ (x - y)² over pairs is n Σx² - (Σx)²; half of it is what a variance counts.
            sum_groups(case, (n * second - first**2) / 2, cases),
            sum_groups(case, (n**2 - alike) / 2, cases),
        )

    def without(self, other: "_Pairs") -> "_Pairs":
        """Return these pairs without some of them."""
        return _Pairs(
            self.count - other.count, self.squares - other.squares, self.apart - other.apart
        )


def _groups(codes: Sequence[Codes]) -> tuple[Codes, Codes]:
    """Return the group of each run with equal codes, and the first run of each group."""
    key = codes[0]
    for code in codes[1:]:
        # Numbered anew after each column: the product of many columns' sizes would overflow.
        key = np.unique(key * (int(code.max(initial=0)) + 1) + code, return_inverse=True)[1]
    _, of, group = np.unique(key, return_index=True, return_inverse=True)
    return group, of


def _limit(values: Floats) -> tuple[float, float] | None:
    """Return the interval of a mean over cases of values from -1 to 1; ``None`` for few cases.

    The lower limit is the jackknife's. The upper one allows for rare cases that weren't met: what
    a column adds is never below 0, so that its estimates are skewed to the right.
    """
    cases = len(values)
    if cases < _FEW:
        return None
    mean, error = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(cases)
    z = float(scipy.stats.t.ppf((1 + LEVEL) / 2, cases - 1))
    # One case in N is the least that can have been missed.
    _, high = limit_mean(mean, error, 1 / cases, z)
    return max(mean - z * error, -1.0), min(high, 1.0)
