"""Robustness: what a change that should not matter does to decisions, and to the score."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plenum_audit.profiles.profile_estimate import ProfileEstimate, estimate_change
from plenum_audit.suites import SuiteRuns, drop_number, list_undecided, split_by_source, tell_apart

WORDINGS, ORDER, FAULTS = "wordings", "order", "faults"
"""Changes: other wordings of the text, the options in another order, requests that fail."""

UNCHANGED = "as it is"
"""Name of the variant of the usual runs."""


@dataclass(frozen=True)
class ChangedRuns:
    """Runs of the cases of a suite with something changed.

    Attributes
    ----------
    runs
        The runs; names of cases are those of the suite.
    variants
        Name of the change that each run had, such as which wording, in the order of the runs.
    """

    runs: SuiteRuns
    variants: tuple[str, ...]


@dataclass(frozen=True)
class Robustness:
    """The effect of a change, against the usual runs of the same cases.

    Attributes
    ----------
    change
        Its name.
    runs
        Number of runs with the change.
    differ_more
        By how much more often two runs end differently if the change lies between them than if
        none does; without bias, so maybe below 0.
    score
        By how much the share of right runs changes; ``None`` without right answers.
    undecided, undecided_before
        Shares of the runs that failed or have no decision, with the change and without.
    """

    change: str
    runs: int
    differ_more: ProfileEstimate
    score: ProfileEstimate | None
    undecided: float
    undecided_before: float


def assess_change(change: str, usual: SuiteRuns, changed: ChangedRuns) -> Robustness:
    """Compare runs with a change with the usual runs of the same cases.

    Parameters
    ----------
    usual
        At least two runs of each case.

    Examples
    --------
    >>> usual = SuiteRuns.of({case: ["A", "A"] for case in "xyz"})
    >>> other = ChangedRuns(SuiteRuns.of({case: ["B", "B"] for case in "xyz"}), ("reversed",) * 6)
    >>> round(assess_change("order", usual, other).differ_more.value, 6)
    1.0
    """
    runs = changed.runs
    usual = usual.of_cases(set(runs.cases))
    both, variants = _join(usual, changed)
    sources = split_by_source(both, {change: variants}).sources
    more = ProfileEstimate(float("nan"), None, len(runs.cases))
    if sources:
        more = ProfileEstimate(sources[0].more, sources[0].interval, sources[0].cases)
    score = None
    if usual.has_scores and runs.has_scores:
        order = [usual.cases.index(case) for case in runs.cases]
        score = estimate_change(runs.mean_scores() - usual.mean_scores()[order])
    return Robustness(
        change, len(runs.case), more, score, _share_undecided(runs), _share_undecided(usual)
    )


def _join(usual: SuiteRuns, changed: ChangedRuns) -> tuple[SuiteRuns, Sequence[str]]:
    """Return the runs of both, and the variant of each; no two that failed are alike."""
    ended: dict[str, list[str]] = {case: [] for case in usual.cases}
    variants: dict[str, list[str]] = {case: [] for case in usual.cases}
    names = (UNCHANGED,) * len(usual.case), changed.variants
    for runs, of_runs in zip((usual, changed.runs), names, strict=True):
        for case, outcome, variant in zip(runs.case, runs.outcome, of_runs, strict=True):
            ended[runs.cases[case]].append(drop_number(runs.outcomes[outcome]))
            variants[runs.cases[case]].append(variant)
    together = SuiteRuns.of({case: tell_apart(each) for case, each in ended.items()})
    return together, [name for each in variants.values() for name in each]


def _share_undecided(runs: SuiteRuns) -> float:
    never = list_undecided(runs)
    flags = np.array([name in never for name in runs.outcomes], bool)
    return float(flags[runs.outcome].mean()) if len(runs.outcome) else 0.0
