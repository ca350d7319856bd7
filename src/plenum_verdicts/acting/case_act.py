"""The act of a rule on one case."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from plenum_verdicts.acting.act_rule import ActRule
from plenum_verdicts.dynamics.audits import FAILED, NO_DECISION


@dataclass(frozen=True)
class CaseAct:
    """The outcome of a rule on one case.

    Attributes
    ----------
    decision
        The decision to act upon; ``None`` if a person is to be asked.
    leading
        The most frequent decision; empty without one.
    agreeing, runs
        Number of runs that decided so, and of runs that ended.
    """

    case: str
    decision: str | None
    leading: str
    agreeing: int
    runs: int


def apply_rule(rule: ActRule, case: str, outcomes: Sequence[str]) -> CaseAct:
    """Apply a rule to the outcomes of a case, in the order of its runs; further runs are ignored.

    Examples
    --------
    >>> apply_rule(ActRule(2, 2), "loan", ["grant", "grant", "deny"]).decision
    'grant'
    >>> apply_rule(ActRule(3, 3), "loan", ["grant", "deny", "grant"]).decision is None
    True
    """
    # Looking on after runs that didn't agree would be another rule, of which nothing is shown.
    ended = outcomes[: rule.runs]
    decided = Counter(each for each in ended if each not in (FAILED, NO_DECISION))
    leading, agreeing = decided.most_common(1)[0] if decided else ("", 0)
    acts = agreeing == rule.runs
    return CaseAct(case, leading if acts else None, leading, agreeing, len(ended))
