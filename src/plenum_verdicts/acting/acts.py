"""Chances that a rule acts in each case of a suite, and that it is wrong to."""

from collections.abc import Set
from dataclasses import dataclass

import numpy as np

from plenum.dynamics.fit import Floats
from plenum_verdicts.acting.act_rule import ActRule
from plenum_verdicts.suites.suite_runs import SuiteRuns, sum_groups


@dataclass(frozen=True)
class Acts:
    """Estimates for the cases with enough runs, each unbiased for its case.

    Attributes
    ----------
    acting
        The chance that the rule acts in each case, shape (N,).
    wrong
        The chance that it acts and is wrong, shape (N,).
    """

    rule: ActRule
    acting: Floats
    wrong: Floats

    @property
    def cases(self) -> int:
        """Number of cases."""
        return len(self.acting)

    @property
    def share_wrong(self) -> float:
        """The share of acts that are wrong; NaN without acts."""
        acts = float(self.acting.sum())
        return float(self.wrong.sum()) / acts if acts > 0 else float("nan")


def estimate_acts(runs: SuiteRuns, rule: ActRule, undecided: Set[str] = frozenset()) -> Acts:
    """Estimate how often a rule acts, and is wrong to, in each case.

    As many runs as the rule takes are drawn from those of a case, in every possible way. With
    scores an act is wrong as far as the runs that decided so score below 1. Without scores it is
    wrong if the most frequent decision among the case's other runs, those that didn't agree on the
    act, is another one; half wrong if several are equally frequent. That takes one run more.

    Parameters
    ----------
    runs
        Cases with fewer runs than the rule takes are left out.
    undecided
        Outcomes that can't be acted upon.

    Examples
    --------
    >>> runs = SuiteRuns.of({"a": ["yes", "yes", "no"]}, {"a": [1.0, 1.0, 0.0]})
    >>> estimate_acts(runs, ActRule(2, 2)).acting
    array([0.33333333])
    """
    scored = runs.has_scores
    runs = runs.where_repeated(rule.runs if scored else rule.runs + 1)
    case, outcome, count = runs.cells
    total = runs.repeats[case]
    able = np.array([name not in undecided for name in runs.outcomes], bool)[outcome]
    acting = np.where(able, rule.chance(count, total), 0.0)
    if scored:
        wrong = acting * (1 - score_cells(runs))
    else:
        more = _most_of_others(runs) - (count - rule.runs)  # than runs that are left to agree
        wrong = acting * (1 + np.sign(more)) / 2
    cases = len(runs.cases)
    return Acts(rule, sum_groups(case, acting, cases), sum_groups(case, wrong, cases))


def score_cells(runs: SuiteRuns) -> Floats:
    """Return the mean score of each pair of a case and an outcome that occurs."""
    pairs = runs.case * len(runs.outcomes) + runs.outcome
    _, cell, count = np.unique(pairs, return_inverse=True, return_counts=True)
    return np.asarray(sum_groups(cell, runs.score, len(count)) / count, np.float64)


def _most_of_others(runs: SuiteRuns) -> Floats:
    """Return, for each cell, the largest number of runs of another outcome of its case."""
    case, _, count = runs.cells
    cases = len(runs.cases)
    first, second = np.zeros(cases), np.zeros(cases)
    np.maximum.at(first, case, count)
    top = count == first[case]
    several = sum_groups(case, top, cases) > 1
    np.maximum.at(second, case[~top], count[~top])
    return np.where(top & ~several[case], second[case], first[case])
