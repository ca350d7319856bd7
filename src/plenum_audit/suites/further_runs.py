"""Further runs: how to spend them, and what they would bring."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from plenum.dynamics import Floats
from plenum_audit.suites.noise import SuiteNoise
from plenum_audit.suites.suite_runs import SuiteRuns

LEAST = 2
"""Runs of a new case: with one it would say nothing about its noise."""


@dataclass(frozen=True)
class Purchase:
    """Standard errors of the score after further runs are bought in one way.

    Attributes
    ----------
    these
        For these cases; ``None`` if others are bought.
    like
        For cases like these.
    """

    these: float | None
    like: float


@dataclass(frozen=True)
class BudgetAdvice:
    """Advice on how to spend a number of further runs.

    Attributes
    ----------
    runs
        Number of further runs.
    now
        The standard errors without them.
    everywhere
        If every case is repeated equally often.
    new_cases
        If they are runs of new cases like these, two each.
    to_halve_these, to_halve_like
        Number of further runs that halve the error: repeats of all cases for these cases, runs of
        new cases for cases like these. ``None`` if the score has no error.
    """

    runs: int
    now: Purchase
    everywhere: Purchase
    new_cases: Purchase
    to_halve_these: int | None
    to_halve_like: int | None


def advise_budget(runs: SuiteRuns, budget: int) -> BudgetAdvice:
    """Advise how to spend further runs so that the score's error falls the most.

    For these cases only the variance within cases counts, which repeats lower. For cases like these
    that between cases counts too, which only new cases lower. Repeats aren't shared out by how much
    a case's runs vary (Neyman 1934): few runs don't show it, and where runs are added because the
    first ones happened to differ, the mean is biased (docs/appendix/audit-suites.md).

    Parameters
    ----------
    runs
        All runs have scores; cases with one run are left out.
    budget
        Number of further runs.

    Examples
    --------
    >>> coins = {str(case): [1.0, 0.0] * 2 for case in range(5)}
    >>> calm = {f"calm {case}": [1.0] * 4 for case in range(45)}
    >>> scores = {**coins, **calm}
    >>> runs = SuiteRuns.of({case: list(map(str, own)) for case, own in scores.items()}, scores)
    >>> advise_budget(runs, 200).to_halve_these
    600
    """
    runs = runs.where_repeated(2)
    noise, cases = SuiteNoise.of(runs), len(runs.cases)
    within = noise.spread
    between = float(noise.means.var(ddof=1)) if cases > 1 else 0.0
    between = max(between - float((noise.spread / noise.repeats).mean()), 0.0)
    total = float(within.mean())

    def buy(repeats: Floats) -> Purchase:
        own = float((within / (noise.repeats + repeats)).sum()) / cases**2
        return Purchase(math.sqrt(own), math.sqrt(own + between / cases))

    def add(more: float) -> float:
        """Return the variance for cases like these with so many new cases."""
        own = float((within / noise.repeats).sum()) + more * total / LEAST
        return own / (cases + more) ** 2 + between / (cases + more)

    now = buy(np.zeros(cases))
    return BudgetAdvice(
        runs=budget,
        now=now,
        everywhere=buy(np.full(cases, budget / cases)),
        new_cases=Purchase(None, math.sqrt(add(budget // LEAST))),
        to_halve_these=_least(
            lambda more: buy(np.full(cases, more / cases)).these or 0.0, (now.these or 0.0) / 2
        ),
        to_halve_like=_least(lambda more: math.sqrt(add(more / LEAST)), now.like / 2),
    )


def _least(error: Callable[[int], float], most: float) -> int | None:
    """Return the fewest further runs with which an error is at most so large."""
    if not most:
        return None
    low, high = 0, 1
    while error(high) > most and high < 1 << 30:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if error(middle) > most else (low, middle)
    return high
