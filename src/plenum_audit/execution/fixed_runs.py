"""A fixed number of runs of each case: for a live suite, and for a rule that is applied."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, takewhile
from operator import attrgetter

from plenum.base.errors import UserError
from plenum.base.identity import make_generator
from plenum.base.terminal import say
from plenum.design.job import Job
from plenum.execution.preflight import check_sweep
from plenum.records.transcript import Transcript
from plenum_audit.execution import no_decision
from plenum_audit.execution.audit_restore import restore_audit
from plenum_audit.execution.audit_runs import EveryRun, find_answer_cache, play_runs
from plenum_audit.execution.varied_runs import list_suite_jobs, make_suite, price
from plenum_audit.programs.compose import Audit
from plenum_audit.programs.condition import require_program
from plenum_verdicts.acting.act_rule import ActRule
from plenum_verdicts.acting.case_act import CaseAct, apply_rule
from plenum_verdicts.dynamics.audits import StabilityRule
from plenum_verdicts.suites.suite_runs import SuiteRuns
from plenum_verdicts.suites.suite_verdict import RunningSuite, SuiteRule
from plenum_verdicts.suites.undecided_runs import tell_apart

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
    # Cases lie in files by difficulty or domain, and the verdict so far takes them to be drawn.
    jobs = list(list_suite_jobs(audit))
    jobs[: len(audit.jobs)] = [jobs[place] for place in draw_order(len(audit.jobs))]
    ended, errors = _run_each(audit, count, rule, jobs)
    known = {require_program(job.condition).case.id: () for job in audit.jobs}  # as in the file
    whole = {case: each for case, each in (known | ended).items() if len(each) == count}
    return make_suite(whole, audit.jobs), errors


def draw_order(cases: int) -> list[int]:
    """Return the places of cases in the order in which a live suite runs them.

    Examples
    --------
    >>> sorted(draw_order(3))
    [0, 1, 2]
    """
    return [int(place) for place in make_generator("suite", "order", cases).permutation(cases)]


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
    audit: Audit, count: int, watched: SuiteRule | None = None, jobs: Sequence[Job] = ()
) -> tuple[dict[str, list[str]], Errors]:
    """Run each case so many times; runs that exist count, the first ones of each case.

    Parameters
    ----------
    jobs
        All that is run, those of the cases as they are first; by default these alone.
    """
    check_sweep(audit.jobs)
    jobs = jobs or [replace(job, replicates=count) for job in audit.jobs]
    for _, of_study in groupby(jobs, attrgetter("study")):
        for line in restore_audit(list(of_study)):
            print(line, file=sys.stderr)
    runs = _FixedRuns(replace(audit, jobs=tuple(jobs)), count, watched, len(audit.jobs))
    errors = play_runs(jobs, runs, jobs)
    cases = list(runs.cases.values())
    usual = cases[: len(audit.jobs)]
    caches = map(find_answer_cache, cases)
    if refused := runs.refused or next(filter(None, caches), "") or no_decision.refusal(usual):
        raise UserError(refused)
    return {case.id: case.outcomes[:count] for case in usual}, errors


class _FixedRuns(EveryRun):
    """A fixed number of runs each, with the verdict so far in the line of progress.

    Runs with changes wait for the first run, so that what all of them take is said before.
    """

    def __init__(self, audit: Audit, count: int, watched: SuiteRule | None, usual: int) -> None:
        rule = StabilityRule(audit.settings.acceptable, audit.settings.unacceptable)
        super().__init__(audit, rule, self._announce, {})
        self._count, self._watched, self._usual = count, watched, usual
        self._announced = asyncio.Event()
        if len(self.cases) == usual:
            self._announced.set()

    async def due(self, job: Job, index: int) -> bool:
        """Return true, for all but the first run once that has ended."""
        if index or self.cases[job.condition.folder] is not next(iter(self.cases.values())):
            await self._announced.wait()
        return not self.refused

    def _announce(self, pilot: Transcript) -> None:
        say(price(pilot, sum(case.job.replicates for case in self.cases.values())))

    def _release_all(self) -> None:
        super()._release_all()
        if self._pilot is None:
            self._announced.set()

    def status(self) -> str:
        """Return the verdict on the cases that have ended, and their number."""
        # Only up to the first case that hasn't ended: which cases end early may depend on how.
        usual = list(self.cases.values())[: self._usual]
        ended = list(takewhile(lambda case: len(case.outcomes) >= self._count, usual))
        told = f"{len(ended)} of {len(usual)} cases"
        if self._watched is None or not ended:
            return told
        runs = SuiteRuns.of({case.id: tell_apart(case.outcomes[: self._count]) for case in ended})
        running = RunningSuite(self._watched)
        running.add(runs.disagreements())
        return f"{told} {running.verdict}"
