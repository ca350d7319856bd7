"""Attrition: a test that replicates fail equally often in all conditions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plenum.dynamics.resampling import DRAWS

EXPECTED = 5
"""The chi-square approximation needs at least this expected count in every cell (Cochran 1954)."""


@dataclass(frozen=True)
class Association:
    """The association between failure and condition.

    Attributes
    ----------
    method
        ``fisher``, ``chi_square``, ``monte_carlo``; ``none`` where there is nothing to test.
    statistic
        Pearson's chi-square of the conditions by (completed, failed), for any method.
    p
        Of no association, two-sided; NaN without a test.
    cramers_v
        Effect size from 0 (equal rates) to 1 (each condition completes or fails as a whole).
    conditions, completed, failed
        Conditions with an ended replicate, and the replicates of all of them.
    lowest, highest
        Failure rates, of the conditions that failed least and most.
    least_p
        The smallest p that so many failures could have led to, had they fallen as unevenly as the
        sizes allow. It is computed for two conditions, else NaN. Above 0.05 the test couldn't have
        found anything.
    """

    method: str = "none"
    statistic: float = math.nan
    p: float = math.nan
    cramers_v: float = math.nan
    conditions: int = 0
    completed: int = 0
    failed: int = 0
    lowest: float = math.nan
    highest: float = math.nan
    least_p: float = math.nan

    @property
    def untested(self) -> str:
        """The reason in words if there is no test; empty if there is one."""
        if self.method != "none":
            return ""
        if not self.completed + self.failed:
            return "no replicate has ended"
        if not self.failed:
            return "no replicate failed"
        if self.conditions < 2:
            return "there is one condition only"
        return "no replicate completed"


def association(
    completed: Sequence[int], failed: Sequence[int], *, draws: int = DRAWS, seed: int = 0
) -> Association:
    """Test whether the failure rate is the same in all conditions.

    Two conditions: Fisher's exact test [1]_. More, with all expected counts at least 5: Pearson's
    chi-square [2]_, [4]_. More and sparser: the exact conditional test with Pearson's statistic
    [3]_, by Monte Carlo over the tables with the observed margins, p = (1 + #) / (1 + draws) [5]_.

    Parameters
    ----------
    completed, failed
        Replicates of each condition. A condition where none has ended is left out; pending
        replicates are in neither.
    draws, seed
        Tables that the Monte Carlo test draws, and their seed.

    Raises
    ------
    ValueError
        A count is negative, or the two differ in length.

    References
    ----------
    .. [1] R. A. Fisher, "On the interpretation of χ² from contingency tables, and the calculation
       of P", J. R. Stat. Soc. 85 (1922); the exact test: Statistical Methods for Research Workers,
       5th ed. (1934), section 21.02.
    .. [2] K. Pearson, "On the criterion that a given system of deviations ...", Phil. Mag. 50
       (1900).
    .. [3] A. Agresti, Categorical Data Analysis, 3rd ed. (2013), sections 3.2 and 3.5; G. H.
       Freeman and J. H. Halton, Biometrika 38 (1951).
    .. [4] W. G. Cochran, "Some methods for strengthening the common χ² tests", Biometrics 10
       (1954).
    .. [5] B. Phipson and G. K. Smyth, "Permutation p-values should never be zero", Stat. Appl.
       Genet. Mol. Biol. 9 (2010).
    """
    if len(completed) != len(failed):
        raise ValueError(f"completed of {len(completed)} conditions, failed of {len(failed)}")
    table = np.array([_counts("completed", completed), _counts("failed", failed)]).T
    table = table[table.sum(axis=1) > 0]
    sizes, (good, bad) = table.sum(axis=1), table.sum(axis=0)
    rates = table[:, 1] / sizes
    nan = float("nan")
    method, statistic, p, least = "none", nan, nan, nan
    if len(table) > 1 and good and bad:
        from scipy.stats import MonteCarloMethod, chi2_contingency

        pearson = chi2_contingency(table, correction=False)
        method, statistic, p = "chi_square", float(pearson.statistic), float(pearson.pvalue)
        if len(table) == 2:
            method, p, least = "fisher", _fisher(table), _least(sizes, int(bad))
        elif pearson.expected_freq.min() < EXPECTED:
            generator = np.random.Generator(np.random.PCG64([seed, len(sizes), int(bad)]))
            drawing = MonteCarloMethod(n_resamples=draws, rng=generator)
            drawn = chi2_contingency(table, correction=False, method=drawing)
            method, p = "monte_carlo", float(drawn.pvalue)
    return Association(
        method=method,
        statistic=statistic,
        p=p,
        cramers_v=math.sqrt(statistic / sizes.sum()) if statistic >= 0 else nan,
        conditions=len(table),
        completed=int(good),
        failed=int(bad),
        lowest=float(rates.min()) if rates.size else nan,
        highest=float(rates.max()) if rates.size else nan,
        least_p=least,
    )


def independence(counts: NDArray[np.float64]) -> tuple[float, float]:
    """Test whether rows and columns of a table of counts are independent: p, and Cramér's V.

    Pearson's chi-square, which is approximate if expected counts are below 5.

    Parameters
    ----------
    counts
        Shape (rows, columns), from 0 on.

    Returns
    -------
    tuple
        Both NaN where fewer than two rows, or two columns, hold anything.
    """
    table = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    if min(table.shape) < 2:
        return math.nan, math.nan
    from scipy.stats import chi2_contingency

    pearson = chi2_contingency(table, correction=False)
    most = table.sum() * (min(table.shape) - 1)
    return float(pearson.pvalue), math.sqrt(float(pearson.statistic) / most)


def _counts(name: str, values: Sequence[int]) -> NDArray[np.int64]:
    counts = np.asarray(values, dtype=np.int64)
    if counts.ndim != 1 or (counts < 0).any():
        raise ValueError(f"{name}: {values}; counts from 0 on, one a condition")
    return counts


def _fisher(table: NDArray[np.int64]) -> float:
    from scipy.stats import fisher_exact

    return float(fisher_exact(table).pvalue)


def _least(sizes: NDArray[np.int64], bad: int) -> float:
    """Fisher's p where the failures fall into the first condition, or the second, if they can."""
    p = []
    for first in (min(bad, int(sizes[0])), max(0, bad - int(sizes[1]))):
        failed = np.array([first, bad - first])
        p.append(_fisher(np.stack([sizes - failed, failed], axis=1)))
    return min(p)
