"""Attrition: whether replicates fail in some conditions more than in others."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plenum.dynamics.fit import Floats
from plenum.dynamics.resampling import DRAWS

EXPECTED = 5
"""The chi-square approximation needs at least this expected count in every cell (Cochran 1954)."""

_TIE = 1e-9
"""A drawn statistic this close to the observed one, relative to it, is a tie."""


@dataclass(frozen=True)
class Association:
    """Whether failure goes with the condition.

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

    method: str
    statistic: float
    p: float
    cramers_v: float
    conditions: int
    completed: int
    failed: int
    lowest: float
    highest: float
    least_p: float

    @property
    def untested(self) -> str:
        """Why there is no test, in words; empty where there is one."""
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
        statistic = float(_chi_square(table[:, 1], sizes, int(bad)))
        if len(table) == 2:
            method, p, least = "fisher", _fisher(table), _least(sizes, int(bad))
        elif sizes.min() * min(good, bad) / sizes.sum() >= EXPECTED:
            method, p = "chi_square", _tail(statistic, len(table) - 1)
        else:
            method, p = "monte_carlo", _drawn(statistic, sizes, int(bad), draws, seed)
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


def _counts(name: str, values: Sequence[int]) -> NDArray[np.int64]:
    counts = np.asarray(values, dtype=np.int64)
    if counts.ndim != 1 or (counts < 0).any():
        raise ValueError(f"{name}: {values}; counts from 0 on, one a condition")
    return counts


def _chi_square(failed: NDArray[np.int64], sizes: NDArray[np.int64], total: int) -> Floats:
    """Pearson's statistic of tables with these margins, over the last axis."""
    n = int(sizes.sum())
    expected = sizes * total / n
    # Both columns are off by the same amount: (1 / expected failed + 1 / expected completed) d².
    weights = n / (expected * (n - total))
    return np.asarray((weights * (failed - expected) ** 2).sum(axis=-1))


def _fisher(table: NDArray[np.int64]) -> float:
    from scipy.stats import fisher_exact

    return float(fisher_exact(table).pvalue)


def _least(sizes: NDArray[np.int64], bad: int) -> float:
    """Fisher's p where the failures fall into the first condition, or the second, if they can."""
    found = []
    for first in (min(bad, int(sizes[0])), max(0, bad - int(sizes[1]))):
        failed = np.array([first, bad - first])
        found.append(_fisher(np.stack([sizes - failed, failed], axis=1)))
    return min(found)


def _tail(statistic: float, df: int) -> float:
    from scipy.stats import chi2

    return float(chi2.sf(statistic, df))


def _drawn(statistic: float, sizes: NDArray[np.int64], bad: int, draws: int, seed: int) -> float:
    """The share of tables with the same margins that are at least as uneven."""
    generator = np.random.Generator(np.random.PCG64([seed, len(sizes), bad]))
    drawn = generator.multivariate_hypergeometric(sizes, bad, size=draws, method="marginals")
    far = _chi_square(drawn, sizes, bad) >= statistic * (1 - _TIE)
    return float((1 + far.sum()) / (1 + draws))
