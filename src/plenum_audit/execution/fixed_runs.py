"""A fixed number of runs of each case: for a live suite, and for a rule that is applied."""

import sys
from dataclasses import replace
from itertools import takewhile

from plenum.base import UserError
from plenum.execution import check_sweep
from plenum_audit.acting import ActRule, CaseAct, apply_rule
from plenum_audit.dynamics import StabilityRule
from plenum_audit.execution import no_decision
from plenum_audit.execution.audit_restore import restore
from plenum_audit.execution.audit_runs import EveryRun, answered_by_cache, play_runs
from plenum_audit.programs import Audit, AuditCase, require_program
from plenum_audit.suites import RunningSuite, SuiteRule, SuiteRuns, tell_apart

Errors = tuple[str, ...]


def run_suite(audit: Audit, rule: SuiteRule) -> tuple[SuiteRuns, Errors]:
    """Run each case of a suite ``repeats`` times.

    A run is right if it decided for the right answer of its case. Without an answer for every case
    no run has a score.

    Parameters
    ----------
    rule
        The criterion of the verdict so far, which progress shows.

    Returns
    -------
    SuiteRuns
        Of the cases whose runs all ended.
    tuple of str
        Reasons why runs are missing, a line each.

    Raises
    ------
    UserError
        Something can't work, a cache answers, or no run reached a decision.
    """
    count = audit.settings.repeats
    ended, errors = _run_each(audit, count, rule)
    whole = {case: outcomes for case, outcomes in ended.items() if len(outcomes) == count}
    answers = {case.id: case.answer for case in _cases(audit)}
    scores = None
    if all(answers.values()):
        scores = {
            case: [float(each == answers[case]) for each in outcomes]
            for case, outcomes in whole.items()
        }
    apart = {case: tell_apart(outcomes) for case, outcomes in whole.items()}
    return SuiteRuns.of(apart, scores), errors


def act(audit: Audit, rule: ActRule) -> tuple[list[CaseAct], Errors]:
    """Run each case as often as a rule says, and apply the rule.

    Returns
    -------
    list of CaseAct
        One a case; a case whose runs didn't all end is left to a person.
    tuple of str
        Reasons why runs are missing, a line each.

    Raises
    ------
    UserError
        As for :func:`run_suite`.
    """
    ended, errors = _run_each(audit, rule.runs)
    return [apply_rule(rule, case, outcomes) for case, outcomes in ended.items()], errors


def _run_each(
    audit: Audit, count: int, watched: SuiteRule | None = None
) -> tuple[dict[str, list[str]], Errors]:
    """Run each case so many times; runs that exist count, the first ones of each case."""
    check_sweep(audit.jobs)
    audit = replace(audit, jobs=tuple(replace(job, replicates=count) for job in audit.jobs))
    for line in restore(audit.jobs):
        print(line, file=sys.stderr)
    runs = _FixedRuns(audit, count, watched)
    errors = play_runs(audit.jobs, runs, audit.jobs)
    cases = list(runs.cases.values())
    caches = map(answered_by_cache, cases)
    if refused := runs.refused or next(filter(None, caches), "") or no_decision.refusal(cases):
        raise UserError(refused)
    return {case.id: case.outcomes[:count] for case in cases}, errors


class _FixedRuns(EveryRun):
    """A fixed number of runs each, with the verdict so far in the line of progress."""

    def __init__(self, audit: Audit, count: int, watched: SuiteRule | None) -> None:
        rule = StabilityRule(audit.settings.acceptable, audit.settings.unacceptable)
        super().__init__(audit, rule, lambda pilot: "", {})
        self._count, self._watched = count, watched

    def status(self) -> str:
        """Return the verdict on the cases that have ended, and their number."""
        # Only up to the first case that hasn't ended: which cases end early may depend on how.
        ended = list(takewhile(lambda case: len(case.outcomes) >= self._count, self.cases.values()))
        told = f"{len(ended)} of {len(self.cases)} cases"
        if self._watched is None or not ended:
            return told
        runs = SuiteRuns.of({case.id: tell_apart(case.outcomes[: self._count]) for case in ended})
        running = RunningSuite(self._watched)
        running.add(runs.disagreements())
        return f"{told} {running.verdict.verdict}"


def _cases(audit: Audit) -> list[AuditCase]:
    return [require_program(job.condition).case for job in audit.jobs]
