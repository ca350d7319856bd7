"""The sentences of a suite and of answers to further questions, from ``suite_words.j2``."""

from collections import Counter
from typing import Any

from plenum.base.text import flatten
from plenum.show.phrases import join_items, render
from plenum_verdicts.dynamics.audits import FAILED, NO_DECISION
from plenum_verdicts.reports.names import append_names, short
from plenum_verdicts.suites.assessment import SuiteAssessment
from plenum_verdicts.suites.scores import HALVING
from plenum_verdicts.suites.sources import SourceSplit
from plenum_verdicts.suites.suite_runs import SuiteRuns
from plenum_verdicts.suites.suite_verdict import SuiteRule, count_cases_needed
from plenum_verdicts.suites.undecided_runs import drop_number

_SHARES = (0.0, 0.02, 0.05)
"""Shares of pairs that differ, for which the number of cases is said that a verdict takes."""


def explain(macro: str, found: Any, **facts: object) -> tuple[str, ...]:
    """Return sentences on what was found: ``gate``, ``comparison``, ``advice`` and so on."""
    known = {
        "p": lambda share, digits=0: f"{100 * share:.{digits}f}",
        "risk": lambda share: f"{100 * share:.3g} %",
        "names": append_names,
        "short": short,
        "halving": HALVING,
        "flat": flatten,
    }
    words = render("plenum_verdicts.reports/suite_words.j2", macro, found=found, **known, **facts)
    return tuple(words)


def explain_suite(suite: SuiteAssessment, runs: SuiteRuns) -> tuple[str, ...]:
    """Return what is shown of a suite by its runs, the verdict first."""
    ended = Counter(drop_number(runs.outcomes[outcome]) for outcome in runs.outcome)
    words = {FAILED: "failed", NO_DECISION: "came to no decision"}
    without = join_items(f"{ended[name]:,} {word}" for name, word in words.items() if ended[name])
    known = _list_needed(suite.rule)
    return explain("suite", suite, runs=len(runs.case), undecided=without, known=known)


def explain_needed(rule: SuiteRule) -> str:
    """Return a sentence on the number of cases that a verdict on cases like these takes."""
    return " ".join(explain("needed", _list_needed(rule)))


def _list_needed(rule: SuiteRule) -> list[tuple[float, int]]:
    shares = [share for share in _SHARES if share < rule.unacceptable]
    return [(share, count_cases_needed(rule, share)) for share in shares]


def explain_split(split: SourceSplit) -> tuple[str, ...]:
    """Return what each source adds, the largest first, and what the log can't tell apart."""
    return explain("split", split)
