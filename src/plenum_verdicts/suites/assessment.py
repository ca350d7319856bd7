"""All that is said of a suite."""

from dataclasses import dataclass

import numpy as np

from plenum_verdicts.dynamics.audit_result import exit_status
from plenum_verdicts.suites.disagreement import (
    UnsteadyCases,
    bound_unsteady_cases,
    estimate_disagreement,
)
from plenum_verdicts.suites.intervals import SuiteEstimate
from plenum_verdicts.suites.scores import SuiteScore, score_suite
from plenum_verdicts.suites.suite_runs import SuiteRuns
from plenum_verdicts.suites.suite_verdict import SuiteRule, SuiteVerdict, judge_suite
from plenum_verdicts.suites.unsteady_cases import find_unsteady


@dataclass(frozen=True)
class SuiteAssessment:
    """The verdict on a suite, and the estimates behind it.

    Attributes
    ----------
    cases, single
        Numbers of cases, and of those with one run, which say nothing about agreement.
    repeats
        The smallest and the largest number of runs of the other cases.
    contradicted
        Names of the cases of which two runs ended differently, the least agreeing first.
    standing_out
        Names of the cases shown to agree too rarely, of which at most 5 % are false on average.
    disagreement
        How likely two runs of a case end differently.
    unsteady
        Bounds on the share of cases whose mode has too small a share of runs.
    score
        The score and its noise; ``None`` if right answers aren't known.
    """

    rule: SuiteRule
    verdict: SuiteVerdict
    cases: int
    single: int
    repeats: tuple[int, int]
    contradicted: tuple[str, ...]
    standing_out: tuple[str, ...]
    disagreement: SuiteEstimate
    unsteady: UnsteadyCases
    score: SuiteScore | None

    def status(self, undecided: str | None) -> int:
        """Return the exit status; undecided may count as ``pass`` or ``fail``."""
        return exit_status(self.verdict.verdict, undecided)


def assess_suite(runs: SuiteRuns, rule: SuiteRule, share: float = 0.95) -> SuiteAssessment:
    """Assess a suite from the runs that there are.

    Parameters
    ----------
    runs
        At least one case has two runs.
    share
        The share of runs below which a case's mode is too rare, from 0.5 to below 1.

    Examples
    --------
    >>> runs = SuiteRuns.of({str(case): ["yes", "yes", "yes"] for case in range(40)})
    >>> assess_suite(runs, SuiteRule()).verdict.verdict
    'stable'
    """
    # A case with one run says nothing of whether runs agree.
    repeated = runs.where_repeated(2)
    apart, disagreement = repeated.disagreements(), estimate_disagreement(repeated)
    # Stable: cases that agree as rarely keep the order of the log.
    worst = [int(case) for case in np.argsort(-apart, kind="stable") if apart[case] > 0]
    return SuiteAssessment(
        rule=rule,
        verdict=judge_suite(disagreement, rule),
        cases=len(runs.cases),
        single=len(runs.cases) - len(repeated.cases),
        repeats=(int(repeated.repeats.min()), int(repeated.repeats.max())),
        contradicted=tuple(repeated.cases[case] for case in worst),
        standing_out=find_unsteady(repeated, share),
        disagreement=disagreement,
        unsteady=bound_unsteady_cases(repeated, share),
        # All cases, also those with one run: see `score_suite`.
        score=score_suite(runs) if runs.has_scores else None,
    )
