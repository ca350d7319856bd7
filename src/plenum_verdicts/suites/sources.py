"""Variance of a run's score, and disagreement of runs, by source: case, columns of a log, run."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import t as student

from plenum.dynamics import Floats
from plenum_verdicts.suites.intervals import LEVEL
from plenum_verdicts.suites.noise import limit_mean
from plenum_verdicts.suites.suite_runs import Codes, SuiteRuns, sum_groups

_FEW = 10
"""Number of cases from which on their mean gets an interval."""


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
    """The sources of differences between runs.

    Attributes
    ----------
    sources
        Columns whose part is known, the largest first.
    between_cases, run
        Variance of a run's score between cases, and between runs of a case that share the values
        of all sources. ``None`` if it isn't known.
    as_run
        Columns that differ between all runs of a case, so that they are one with the run.
    inseparable
        Columns that vary so much together with others that their part isn't known.
    incomplete
        Columns that some runs don't have.
    """

    sources: tuple[Source, ...]
    between_cases: float | None
    run: float | None
    as_run: tuple[str, ...]
    inseparable: tuple[str, ...]
    incomplete: tuple[str, ...]


def split_by_source(runs: SuiteRuns, columns: Mapping[str, Sequence[str]]) -> SourceSplit:
    """Split what differs between runs by the columns in which they differ.

    In each case the pairs of runs are fitted by least squares: half the squared difference of
    their scores (1 where they end differently, for decisions) is what the run adds, and what each
    column adds in which the two differ. With one column that is the mean of the pairs that differ
    in it, less that of the pairs that share it. It is unbiased for each case that shows it; these
    weigh equally, as in all figures of a suite, since a case with more runs is no more frequent
    among cases like these (docs/appendix/audit-suites.md).

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
    incomplete = tuple(name for name, values in columns.items() if "" in values)
    codes = {
        name: np.unique(np.asarray(values, str), return_inverse=True)[1]
        for name, values in columns.items()
        if name not in incomplete
    }
    pairs = float((runs.repeats * (runs.repeats - 1)).sum()) / 2
    sharing = {name: _Pairs.of(runs, [code]) for name, code in codes.items()}
    alike = {name: float(each.count.sum()) for name, each in sharing.items()}
    as_run = tuple(name for name in codes if pairs and not alike[name])
    varied = [name for name in codes if 0 < alike[name] < pairs]
    groups: list[list[str]] = []
    for name in varied:
        for group in groups:
            both = float(_Pairs.of(runs, [codes[group[0]], codes[name]]).count.sum())
            if both == alike[name] == alike[group[0]]:  # they always change together
                group.append(name)
                break
        else:
            groups.append([name])
    firsts = [codes[group[0]] for group in groups]
    fitted = _PairFit.of(runs, firsts)
    sources, inseparable = [], []
    for number, group in enumerate(groups):
        shown = fitted.shown[:, number]
        if shown.sum() < 2:
            inseparable += group
            continue
        more = fitted.apart[shown, number]
        shared = sharing[group[0]]
        sources.append(
            Source(
                columns=tuple(group),
                cases=int(shown.sum()),
                shared=float((shared.apart[shown] / shared.count[shown]).mean()),
                more=float(more.mean()),
                interval=_limit(more),
                variance=float(fitted.squares[shown, number].mean()) if runs.has_scores else None,
            )
        )
    run = between = None
    if runs.has_scores and not inseparable and fitted.run_shown.any():
        run = float(fitted.run[fitted.run_shown].mean())
        within = run + sum(source.variance or 0.0 for source in sources)
        across = _variance_across(runs, firsts)
        between = None if across is None else across - within
    sources.sort(key=lambda source: (-source.more, source.columns))
    return SourceSplit(tuple(sources), between, run, as_run, tuple(inseparable), incomplete)


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
        score = runs.score - (float(runs.score.mean()) if len(runs.score) else 0.0)
        n, first, second = (sum_groups(group, score**power, size) for power in (0, 1, 2))
        cell, of_cell = _groups([group, runs.outcome])
        alike = sum_groups(group[of_cell], np.bincount(cell, minlength=len(of_cell)) ** 2.0, size)
        case = runs.case[of]
        return cls(
            sum_groups(case, n * (n - 1) / 2, cases),
            sum_groups(case, (n * second - first**2) / 2, cases),
            sum_groups(case, (n**2 - alike) / 2, cases),
        )


@dataclass(frozen=True)
class _PairFit:
    """Least squares over the pairs of each case.

    Attributes
    ----------
    squares, apart
        What each source adds to half the squared difference of scores, and to disagreement,
        shape (N, sources).
    shown
        True where a case shows it, shape (N, sources).
    run, run_shown
        Half the squared difference of scores of runs that share all, and whether a case shows it,
        shape (N,).
    """

    squares: Floats
    apart: Floats
    shown: np.ndarray
    run: Floats
    run_shown: np.ndarray

    @classmethod
    def of(cls, runs: SuiteRuns, sources: Sequence[Codes]) -> "_PairFit":
        """Fit by the normal equations, for 1 and an indicator of each source that is shared."""
        terms = [[], *([code] for code in sources)]
        size = len(terms)
        products = np.empty((len(runs.cases), size, size))
        sums = np.empty((len(runs.cases), size, 2))
        for a in range(size):
            own = _Pairs.of(runs, terms[a])
            sums[:, a] = np.stack([own.squares, own.apart], axis=-1)
            for b in range(a + 1):
                both = own.count if a == b else _Pairs.of(runs, [*terms[a], *terms[b]]).count
                products[:, a, b] = products[:, b, a] = both
        scale = np.maximum(products[:, :1, :1], 1)
        inverse = np.linalg.pinv(products / scale, rcond=1e-9, hermitian=True)
        found = inverse @ (sums / scale)
        known = inverse @ (products / scale)  # a projection: 1 on the diagonal if it is known
        shown = np.abs(np.diagonal(known, axis1=1, axis2=2) - 1) < 1e-6
        run_shown = (np.abs(known.sum(axis=2) - 1) < 1e-6).all(axis=1)
        run = found[:, :, 0].sum(axis=1)
        return cls(-found[:, 1:, 0], -found[:, 1:, 1], shown[:, 1:], run, run_shown)


def _variance_across(runs: SuiteRuns, sources: Sequence[Codes]) -> float | None:
    """Return half the mean squared difference of runs of two cases that differ in all sources.

    Cases weigh equally. ``None`` if there are no such pairs.
    """
    weight = 1 / runs.repeats[runs.case]
    score = runs.score - float(runs.score.mean())
    total = weights = 0.0
    for number in range(len(sources) + 1):
        for chosen in combinations(sources, number):
            # Pairs that share the chosen ones, less those of one case.
            for codes, sign in ((chosen, 1), ((runs.case, *chosen), -1)):
                group, of = _groups(codes or (np.zeros_like(runs.case),))
                n, first, second = (
                    sum_groups(group, weight * score**p, len(of)) for p in (0, 1, 2)
                )
                total += sign * (-1) ** number * float((n * second - first**2).sum())
                weights += sign * (-1) ** number * float((n**2).sum())
    return total / weights if weights > 1e-6 else None


def _groups(codes: Sequence[Codes]) -> tuple[Codes, Codes]:
    """Return the group of each run with equal codes, and the first run of each group."""
    key = codes[0]
    for code in codes[1:]:
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
    z = float(student.ppf((1 + LEVEL) / 2, cases - 1))
    _, high = limit_mean(mean, error, 1 / cases, z)
    return max(mean - z * error, -1.0), min(high, 1.0)
