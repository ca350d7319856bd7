"""The verdict on a suite: an e-process over its cases, valid after every case.

With ĝ an unbiased estimate, from 0 to 1, of how likely two runs of a case end differently, the
product of 1 + λ (m - ĝ) over cases drawn at random is an e-process against a mean disagreement of
at least m for every constant λ from 0 to 1 / (1 - m), and so is its mean over several λ
(Waudby-Smith and Ramdas 2024). It doesn't depend on the order of the cases, and exceeds 1 / alpha
after any number of them with a probability of at most alpha (Ville 1939).
"""

import math
from dataclasses import dataclass

import numpy as np

from plenum.dynamics import Floats
from plenum_verdicts.dynamics import STABLE, UNDECIDED, UNSTABLE
from plenum_verdicts.suites.suite_runs import SuiteRuns

_BETS = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9])
"""Bets as fractions of the largest that can't ruin."""

_BLOCK = 4096


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
    """The verdict on a suite.

    Attributes
    ----------
    verdict
        ``stable``: the disagreement is shown to be below ``unacceptable``; ``unstable``: it is
        shown to be above ``acceptable``; ``undecided`` if neither is, or both are.
    log_stable, log_unstable
        Natural logarithms of the e-values against at least ``unacceptable``, and at most
        ``acceptable``.
    cases
        Number of cases with two runs or more.
    """

    verdict: str
    log_stable: float
    log_unstable: float
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
    >>> running.verdict.verdict
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
            self._stable += np.log1p(_BETS / (1 - high) * (high - g)).sum(axis=0)
            self._unstable += np.log1p(_BETS / low * (g - low)).sum(axis=0)
        self._cases += len(disagreements)

    @property
    def verdict(self) -> SuiteVerdict:
        """The verdict on the cases so far."""
        stable, unstable = (_log_mean(each) for each in (self._stable, self._unstable))
        bound = -math.log(self._rule.alpha)
        shown = stable >= bound, unstable >= bound
        verdict = {(True, False): STABLE, (False, True): UNSTABLE}.get(shown, UNDECIDED)
        return SuiteVerdict(verdict, stable, unstable, self._cases)


def judge_suite(runs: SuiteRuns, rule: SuiteRule) -> SuiteVerdict:
    """Return the verdict on a suite; cases with one run are left out.

    Examples
    --------
    >>> runs = SuiteRuns.of({str(case): ["yes", "no", "yes", "no"] for case in range(20)})
    >>> judge_suite(runs, SuiteRule()).verdict
    'unstable'
    """
    running = RunningSuite(rule)
    running.add(runs.where_repeated(2).disagreements())
    return running.verdict


def _log_mean(logs: Floats) -> float:
    most = float(logs.max())
    return most + math.log(float(np.exp(logs - most).mean()))
