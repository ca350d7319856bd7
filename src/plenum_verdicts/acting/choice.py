"""The choice of a rule: the fewest runs whose acts are shown to be wrong rarely enough."""

from collections.abc import Set
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from plenum.dynamics.fit import Floats
from plenum_verdicts.acting.act_rule import MOST_RUNS, ActRule
from plenum_verdicts.acting.acts import estimate_acts
from plenum_verdicts.acting.agreement import Agreement, estimate_agreement
from plenum_verdicts.acting.risk import bound_risk, e_value_of_risk, least_acts
from plenum_verdicts.suites.intervals import SuiteEstimate, estimate_mean_of_cases
from plenum_verdicts.suites.suite_runs import Codes, SuiteRuns

DEFAULT_RISK = 0.05
"""The share of acts that may be wrong, if no other one is given. It is plenum's own choice: 81
cases that are all acted upon rightly show it at half a level of 0.05; less risk takes more cases in
proportion."""

FEW_RUNS = 3
"""The number of runs at which one of the sequences of tests begins: nearly all cases that agree so
often would agree further, and more of them do than at seven runs."""

_UNLIKE = 2.33
"""Standard errors by which cases with fewer runs err more often than by chance, in 99 of 100. So
strict, since a false alarm takes the rule from a user whose cases are alike."""


@dataclass(frozen=True)
class ActRisk:
    """Estimates for one rule.

    Attributes
    ----------
    acts
        The share of cases in which it acts, of those with enough runs.
    wrong
        The share of its acts that are wrong; NaN without acts.
    at_most
        Upper bound on that share, over cases like these; it holds for this rule by itself.
    alike
        False if the cases with too few runs for it err more often than those with enough: the
        latter then say nothing of cases like all of these.
    shown
        True if ``risk`` is shown to be held, in the order of the tests.
    """

    rule: ActRule
    acts: SuiteEstimate
    wrong: float
    at_most: float
    alike: bool
    shown: bool


@dataclass(frozen=True)
class ActAdvice:
    """The advice on acting without a person.

    Attributes
    ----------
    risk, alpha
        The accepted share of wrong acts, and the probability that a chosen rule exceeds it.
    known
        True if right answers are known; else an act counts as wrong if it contradicts the most
        frequent decision of the case's other runs.
    chosen
        ``None`` if no rule is shown to hold the risk.
    rules
        All rules that were looked at, the fewest runs first.
    least
        How many cases, each acted upon rightly, would show that the risk is held.
    agreement
        ``None`` if right answers aren't known, or no case has two runs.
    """

    risk: float
    alpha: float
    known: bool
    chosen: ActRule | None
    rules: tuple[ActRisk, ...]
    least: int
    agreement: Agreement | None


def advise_acting(
    runs: SuiteRuns,
    risk: float = DEFAULT_RISK,
    undecided: Set[str] = frozenset(),
    alpha: float = 0.05,
) -> ActAdvice:
    """Choose how many runs have to agree before a program may act alone.

    Rules of 1 to 7 runs are tested, each on all cases that have enough runs, from a fixed number of
    runs downwards until one isn't shown to hold the risk: in such a sequence the level of each test
    is the probability that any false one is shown (Angelopoulos et al. 2021, Learn then Test, fixed
    sequences). Two sequences share the level, from three runs and from the most that enough cases
    have; if that is three or fewer, there is one. The shown rule of the fewest runs is chosen.

    Parameters
    ----------
    risk
        The accepted share of acts that are wrong, above 0 and below 1.
    undecided
        Outcomes that can't be acted upon.

    Raises
    ------
    ValueError
        No case has enough runs: one, or two without scores.

    Examples
    --------
    >>> sure = {str(case): ["yes"] * 4 for case in range(80)}
    >>> right = {case: [1.0] * 4 for case in sure}
    >>> advise_acting(SuiteRuns.of(sure, right)).chosen
    ActRule(runs=1, agreeing=1)
    """
    # Without scores a run is held against the others: it takes one that isn't drawn.
    counts = runs.repeats - (not runs.has_scores)
    counts = counts[counts > 0]
    if not len(counts):
        raise ValueError("too few runs of a case: without right answers two are the least")
    rules = [ActRule(count, count) for count in range(1, min(counts.max(), MOST_RUNS) + 1)]
    acts = [estimate_acts(runs, rule, undecided) for rule in rules]
    alike = [_are_alike(acts[0].wrong, counts >= rule.runs) for rule in rules]
    starts, level = choose_starts(counts, risk, alpha)
    comparable = runs.has_scores and runs.repeats.max() > 1

    def holds(count: int) -> bool:
        return alike[count - 1] and e_value_of_risk(acts[count - 1], risk) >= 1 / level

    # Stop at the first that isn't shown: later ones would be tested at no level.
    shown = {count for start in starts for count in takewhile(holds, range(start, 0, -1))}
    return ActAdvice(
        risk=risk,
        alpha=alpha,
        known=runs.has_scores,
        chosen=rules[min(shown) - 1] if shown else None,
        rules=tuple(
            ActRisk(
                rule=each.rule,
                acts=estimate_mean_of_cases(each.acting),
                wrong=each.share_wrong,
                at_most=bound_risk(each, alpha),
                alike=likewise,
                shown=each.rule.runs in shown,
            )
            for each, likewise in zip(acts, alike, strict=True)
        ),
        least=least_acts(risk, level),
        agreement=estimate_agreement(runs, undecided) if comparable else None,
    )


def choose_starts(counts: Codes, risk: float, alpha: float) -> tuple[tuple[int, ...], float]:
    """Return the numbers of runs from which rules are tested downwards, and the level of each test.

    They follow from numbers of runs alone, never from how these ended. A rule that fewer cases
    could take than would show the risk, all acted upon rightly, isn't tested.

    Parameters
    ----------
    counts
        The most runs that a rule may take of each case, shape (N,).

    Examples
    --------
    >>> choose_starts(np.full(100, 8), 0.05, 0.05)
    ((3, 7), 0.025)
    >>> choose_starts(np.full(100, 3), 0.05, 0.05)
    ((3,), 0.05)
    """

    def find_most(level: float) -> int:
        least = least_acts(risk, level)
        # So many runs as the `least`-th of the cases with most has: enough cases can take the rule.
        return min(int(np.sort(counts)[-least]), MOST_RUNS) if len(counts) >= least else 0

    most = find_most(alpha / 2)
    if most > FEW_RUNS:
        return (FEW_RUNS, most), alpha / 2
    return (min(find_most(alpha), FEW_RUNS),), alpha


def _are_alike(wrong: Floats, enough: NDArray[np.bool_]) -> bool:
    """Return false if cases with too few runs are wrong more often, in a run, than the others.

    Repeats may depend on the first run: where only successes are run again, the cases that have
    enough runs say nothing of the others.
    """
    few, many = wrong[~enough], wrong[enough]
    # One case has no variance to compare by.
    if min(len(few), len(many)) < 2:
        return True
    # Welch's: the two groups need not vary alike.
    error = np.sqrt(few.var(ddof=1) / len(few) + many.var(ddof=1) / len(many))
    return bool(few.mean() - many.mean() <= _UNLIKE * error)
