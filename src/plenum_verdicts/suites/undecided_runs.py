"""Runs without a decision among the outcomes of a suite: each is an outcome of its own."""

from collections.abc import Sequence

from plenum_verdicts.dynamics.audits import FAILED, NO_DECISION
from plenum_verdicts.suites.suite_runs import SuiteRuns

_NUMBERED = "\x1f"
"""Separator before the number of a run without a decision; no decision holds this character."""


def tell_apart(outcomes: Sequence[str]) -> list[str]:
    """Make runs of a case that failed, or have no decision, differ: failing each time isn't stable.

    Examples
    --------
    >>> len(set(tell_apart(["yes", "failed", "failed"])))
    3
    """
    return [
        f"{each}{_NUMBERED}{number}" if each in (FAILED, NO_DECISION) else each
        for number, each in enumerate(outcomes)
    ]


def list_undecided(runs: SuiteRuns) -> frozenset[str]:
    """Return the outcomes of a suite that aren't decisions."""
    return frozenset(name for name in runs.outcomes if _NUMBERED in name)


def drop_number(outcome: str) -> str:
    """Return an outcome without the number by which :func:`tell_apart` made it differ.

    Examples
    --------
    >>> [drop_number(each) for each in tell_apart(["yes", "failed"])]
    ['yes', 'failed']
    """
    return outcome.partition(_NUMBERED)[0]
