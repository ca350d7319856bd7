"""The verdict on a suite by the limits of its disagreement; while it runs, by an e-process.

With ĝ an unbiased estimate, from 0 to 1, of how likely two runs of a case end differently, the
product of 1 + λ (m - ĝ) over cases drawn at random is an e-process against a mean disagreement of
at least m for every constant λ from 0 to 1 / (1 - m), and so is its mean over several λ
(Waudby-Smith and Ramdas 2024). It doesn't depend on the order of the cases, and exceeds 1 / alpha
after any number of them with a probability of at most alpha (Ville 1939).
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from plenum.dynamics.fit import Floats
from plenum_verdicts.dynamics.audits import STABLE, UNDECIDED, UNSTABLE
from plenum_verdicts.suites.intervals import SuiteEstimate, limit_share

_BETS = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9])
"""Bets as fractions of the largest that can't ruin: which is best depends on the true disagreement.
Small ones win with many cases near the limit, large ones with few cases far from it. At 1 a single
case at the wrong end would make the product 0 for ever."""

_BLOCK = 4096
"""Cases that are evaluated together, to limit memory. The number is plenum's own: 0.3 MB with eight
bets."""

_VERDICTS = {(True, False): STABLE, (False, True): UNSTABLE}
"""The verdict by whether it is shown to be below and above."""

_FOUR_OF_FIVE = 0.8416
"""Quantile of the normal distribution that four of five draws don't exceed, for a power of 80 %."""


@dataclass(frozen=True)
class SuiteRule:
    """The criterion of stability of a suite.

    Attributes
    ----------
    acceptable, unacceptable
        Chances that two runs of a case end differently, 0 < ``acceptable`` < ``unacceptable`` < 1,
        on average over cases like these.
    alpha
        The probability of a false ``stable``, and of a false ``unstable``.
    """

    acceptable: float = 0.05
    unacceptable: float = 0.15
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if not 0 < self.acceptable < self.unacceptable < 1:
            raise ValueError(
                f"0 < acceptable < unacceptable < 1, not {self.acceptable:g} and "
                f"{self.unacceptable:g}"
            )


@dataclass(frozen=True)
class SuiteVerdict:
    """The verdict on a suite whose number of runs was fixed beforehand.

    Attributes
    ----------
    verdict
        ``stable``: the disagreement is shown to be below ``unacceptable``; ``unstable``: it is
        shown to be above ``acceptable``; ``undecided`` if neither is, or both are.
    scope
        What the verdict is on: cases ``like`` these, or, where that is open, ``these`` cases alone;
        empty if both are open.
    between
        True if the disagreement is shown to lie between the two limits, in the scope.
    cases
        Number of cases with two runs or more.
    """

    verdict: str
    scope: str
    between: bool
    cases: int


class RunningSuite:
    """The evidence on cases that arrive one by one or in groups.

    Parameters
    ----------
    rule
        The criterion.

    Examples
    --------
    >>> running = RunningSuite(SuiteRule())
    >>> running.add(np.zeros(50))
    >>> running.verdict
    'stable'
    """

    def __init__(self, rule: SuiteRule) -> None:
        self._rule, self._cases = rule, 0
        self._stable, self._unstable = np.zeros(len(_BETS)), np.zeros(len(_BETS))

    def add(self, disagreements: Floats) -> None:
        """Add the estimated disagreements of further cases, from a fixed number of runs each."""
        for at in range(0, len(disagreements), _BLOCK):
            g = disagreements[at : at + _BLOCK, None]
            high, low = self._rule.unacceptable, self._rule.acceptable
            # ĝ is at most 1, so that λ < 1 / (1 - m) keeps every factor above 0.
            self._stable += np.log1p(_BETS / (1 - high) * (high - g)).sum(axis=0)
            # ĝ is at least 0: here λ < 1 / m does.
            self._unstable += np.log1p(_BETS / low * (g - low)).sum(axis=0)
        self._cases += len(disagreements)

    @property
    def verdict(self) -> str:
        """The verdict on the cases so far."""
        bound = -math.log(self._rule.alpha)
        # The mean over bets is an e-process too: no bet has to be chosen by the data.
        shown = _log_mean(self._stable) >= bound, _log_mean(self._unstable) >= bound
        return _VERDICTS.get(shown, UNDECIDED)


def judge_suite(found: SuiteEstimate, rule: SuiteRule) -> SuiteVerdict:
    """Return the verdict that the limits of a disagreement give, for cases like these first.

    Each limit is missed with a probability of at most half of ``alpha``, so that a false claim of
    either scope is made with ``alpha`` at most.

    Parameters
    ----------
    found
        The disagreement, of cases with two runs or more.

    Examples
    --------
    >>> judge_suite(SuiteEstimate(0.02, (0.01, 0.05), (0.0, 0.2), 20), SuiteRule()).scope
    'these'
    """
    # What holds for cases like these says more, so it is looked at first.
    for scope in ("like", "these"):
        low, high = getattr(found, scope)
        shown = high < rule.unacceptable, low > rule.acceptable
        if any(shown):
            verdict = _VERDICTS.get(shown, UNDECIDED)
            return SuiteVerdict(verdict, scope, all(shown), found.cases)
    return SuiteVerdict(UNDECIDED, "", False, found.cases)


def count_cases_needed(rule: SuiteRule, disagreement: float) -> int:
    """Return with how many cases a program of this disagreement is likely shown to be stable.

    Their values are taken to be 0 or 1, which varies most, and the estimate to lie above the truth
    by as much as in one of five draws.

    Parameters
    ----------
    disagreement
        From 0 to below ``unacceptable``.

    Examples
    --------
    >>> [count_cases_needed(SuiteRule(), each) for each in (0, 0.02, 0.05)]
    [27, 44, 82]
    """

    def shows(cases: int) -> bool:
        error = math.sqrt(disagreement * (1 - disagreement) / cases)
        mean = min(disagreement + _FOUR_OF_FIVE * error, 1.0)
        return limit_share(mean, mean * (1 - mean) / cases, cases)[1] < rule.unacceptable

    # From two on: one case has no interval.
    return next(cases for cases in itertools.count(2) if shows(cases))


def _log_mean(logs: Floats) -> float:
    most = float(logs.max())
    # Less the largest: exponentials of long evidence overflow.
    return most + math.log(float(np.exp(logs - most).mean()))
