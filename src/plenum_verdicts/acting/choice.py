"""The choice of a rule: the fewest runs whose acts are shown to be wrong rarely enough."""

from collections.abc import Set
from dataclasses import dataclass

import numpy as np

from plenum_verdicts.acting.act_rule import MOST_RUNS, ActRule
from plenum_verdicts.acting.acts import Acts, estimate_acts
from plenum_verdicts.acting.agreement import Agreement, estimate_agreement
from plenum_verdicts.acting.risk import bound_risk, e_value_of_risk, least_acts
from plenum_verdicts.suites import SuiteEstimate, SuiteRuns, estimate_mean_of_cases

DEFAULT_RISK = 0.05
"""The share of acts that may be wrong, if no other one is given."""


@dataclass(frozen=True)
class ActRisk:
    """Estimates for one rule.

    Attributes
    ----------
    acts
        The share of cases in which it acts.
    wrong
        The share of its acts that are wrong; NaN without acts.
    at_most
        Upper bound on that share, over cases like these; it holds for this rule by itself.
    shown
        True if ``risk`` is shown to be held, in the order of the tests.
    """

    rule: ActRule
    acts: SuiteEstimate
    wrong: float
    at_most: float
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
        ``None`` if right answers aren't known.
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

    Rules of 1 to 7 runs are tested from the most runs that each case has downwards, until one isn't
    shown to hold the risk; each at the full level, for in such a sequence that is the probability
    that any false one is shown (Angelopoulos et al. 2021, Learn then Test, fixed sequences). The
    last one that was shown takes the fewest runs, and is chosen.

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
    most = min(int(runs.repeats.min()) - (not runs.has_scores), MOST_RUNS)
    if most < 1:
        raise ValueError("too few runs of a case: without right answers two are the least")
    found: list[ActRisk] = []
    chosen, holds = None, True
    for count in range(most, 0, -1):
        acts = estimate_acts(runs, ActRule(count, count), undecided)
        holds = holds and e_value_of_risk(acts, risk) >= 1 / alpha
        chosen = acts.rule if holds else chosen
        found.append(_describe(acts, alpha, holds))
    return ActAdvice(
        risk=risk,
        alpha=alpha,
        known=runs.has_scores,
        chosen=chosen,
        rules=tuple(reversed(found)),
        least=least_acts(risk, alpha),
        agreement=estimate_agreement(runs, undecided) if runs.has_scores else None,
    )


def _describe(acts: Acts, alpha: float, shown: bool) -> ActRisk:
    return ActRisk(
        rule=acts.rule,
        acts=estimate_mean_of_cases(acts.acting),
        wrong=acts.share_wrong,
        at_most=bound_risk(acts, alpha) if np.any(acts.acting > 0) else 1.0,
        shown=shown,
    )
