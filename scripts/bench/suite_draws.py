"""Mixtures of cases whose chances are known, and runs that are drawn from them."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from plenum_audit.suites import Codes, SuiteRuns

CASES, RUNS = 50, 4
Shares = NDArray[np.float64]


def right_or_wrong(share: Shares) -> Shares:
    """Return chances of three outcomes; the first one, which is right, has this share."""
    return np.stack([share, 1 - share, 0 * share], axis=-1)


MIXTURES: dict[str, Callable[[np.random.Generator, int], Shares]] = {
    "all stable": lambda draw, n: right_or_wrong(np.ones(n)),
    "all coins": lambda draw, n: right_or_wrong(np.full(n, 0.5)),
    "all at .97": lambda draw, n: right_or_wrong(np.full(n, 0.97)),
    "80/20": lambda draw, n: right_or_wrong(np.where(draw.random(n) < 0.8, 1, 0.5)),
    "95/5": lambda draw, n: right_or_wrong(np.where(draw.random(n) < 0.95, 1, 0.5)),
    "beta(.2, 2)": lambda draw, n: right_or_wrong(draw.beta(0.2, 2, n)),
    "beta(8, .5)": lambda draw, n: right_or_wrong(draw.beta(8, 0.5, n)),
    "uniform": lambda draw, n: right_or_wrong(draw.random(n)),
    "three options": lambda draw, n: draw.dirichlet([0.5, 0.5, 0.5], n),
}
"""Chances of three outcomes by case; the first one is right."""


def draw_runs(
    draw: np.random.Generator, shares: Shares, runs: int | Codes = RUNS, scored: bool = True
) -> SuiteRuns:
    """Draw the runs of cases with these chances; a run of the first outcome is right."""
    cases = len(shares)
    counts = draw.multinomial(runs, shares)
    outcome = np.repeat(np.tile([0, 1, 2], cases), counts.ravel())
    return SuiteRuns(
        cases=tuple(map(str, range(cases))),
        outcomes=("a", "b", "c"),
        case=np.repeat(np.arange(cases), runs),
        outcome=outcome.astype(np.intp),
        score=np.where(scored, outcome == 0, np.nan),
    )
