"""An audit from beginning to end: check, plan, pilot, run, verdict."""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace

from plenum.base.errors import UserError
from plenum.design.job import Job
from plenum.execution.condition_folder import add_begun, find_journal
from plenum.execution.preflight import check_sweep
from plenum.records.transcript import Transcript
from plenum_audit.execution import no_decision
from plenum_audit.execution.audit_baseline import baseline
from plenum_audit.execution.audit_plan import plan_audit
from plenum_audit.execution.audit_restore import restore_audit
from plenum_audit.execution.audit_runs import (
    AuditRuns,
    EveryRun,
    find_answer_cache,
    list_ended,
    play_runs,
    read_ended,
)
from plenum_audit.execution.earlier_versions import earlier_versions
from plenum_audit.programs.compose import Audit
from plenum_audit.programs.condition import require_program
from plenum_audit.programs.one_shot import OneShot, list_seats
from plenum_verdicts.dynamics.audit_baseline import CaseComparison, compare
from plenum_verdicts.dynamics.audit_result import AuditResult
from plenum_verdicts.dynamics.audit_runs import plan_further
from plenum_verdicts.dynamics.audits import (
    UNDECIDED,
    StabilityRule,
    find_mixed_models,
    judge_family,
)

ONE_SHOT = "one_shot"
Errors = tuple[str, ...]


def run_audit(audit: Audit, begin: Callable[[], object] = lambda: None) -> AuditResult | None:
    """Run a program until each case has a verdict, or the maximal number of runs.

    Parameters
    ----------
    begin
        Called once everything is checked, before anything is run.

    Returns
    -------
    AuditResult or None
        ``None`` for a dry run, which prints the plan.

    Raises
    ------
    UserError
        Something can't work; at most a pilot has been run.
    KeyboardInterrupt
        As for :func:`plenum.execution.sweep.run_sweep`.
    """
    rule = StabilityRule(audit.settings.acceptable, audit.settings.unacceptable)
    # Check, and take over runs that exist.
    check_sweep(audit.jobs)
    for line in restore_audit(audit.jobs):
        print(line, file=sys.stderr)
    audit = replace(audit, jobs=tuple(map(add_begun, audit.jobs)))  # runs that exist count

    # Plan, from a run that exists.
    if audit.jobs[0].dry_run:
        pilot = read_ended(find_journal(audit.jobs[0], 0))
        print("\n".join(plan_audit(audit, rule, pilot)))
        return None

    # Run the pilot, then what is due.
    begin()
    earlier = baseline(audit)
    before = earlier.outcomes if earlier else {}

    def announce(pilot: Transcript) -> None:
        print("\n".join(plan_audit(audit, rule, pilot)), file=sys.stderr)

    runs = AuditRuns(audit, rule, announce, before)
    errors = play_runs(audit.jobs, runs, _list_paid(audit))
    caches = (find_answer_cache(case) for case in runs.cases.values())
    if refused := runs.refused or next(filter(None, caches), ""):
        raise UserError(refused)
    if undecided := no_decision.refusal(runs.cases.values()):
        raise UserError(undecided)

    # Say what it came to.
    verdicts = result(audit, rule, runs, errors)
    if audit.settings.control != ONE_SHOT:
        return verdicts
    if verdicts.errors:
        skipped = f"control={ONE_SHOT} was not run: the audit ended before it"
        return replace(verdicts, errors=(*verdicts.errors, skipped))
    return _with_control(audit, rule, runs, verdicts)


def result(audit: Audit, rule: StabilityRule, runs: AuditRuns, errors: Errors) -> AuditResult:
    """Return the verdicts on ended runs; ``errors`` are reasons of an early end."""
    cases = {case.id: case.verdict for case in runs.cases.values()}
    left = [case for case in runs.cases.values() if case.evidence.verdict == UNDECIDED]
    return AuditResult(
        study=audit.jobs[0].study,
        program=require_program(audit.jobs[0].condition).program_identity,
        cases=cases,
        family=judge_family(cases, rule),
        further={case.id: plan_further(case.outcomes, case.options, rule) for case in left},
        systems=find_mixed_models(_fingerprints(runs)),
        comparisons=_comparisons(runs, rule) if audit.settings.baseline else None,
        errors=errors,
        earlier=earlier_versions(audit.jobs),
        begun_again={c.id: c.begun_again for c in runs.cases.values() if c.begun_again},
    )


def _fingerprints(runs: AuditRuns) -> dict[str, Counter[str]]:
    """Count answers by model and by the fingerprint of the system that gave them."""
    answers: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for run in (run for case in runs.cases.values() for run in list_ended(case.job)):
        for call in run.calls:
            if call.get("fingerprint"):
                answers[call["model"]][str(call["fingerprint"])] += 1
    return answers


def _with_control(
    audit: Audit, rule: StabilityRule, runs: AuditRuns, verdicts: AuditResult
) -> AuditResult:
    """Run the control, seats asked once without interaction, and add it to the verdicts.

    It has as many runs as the program with interaction; the seats are those of run 0.
    """
    control = _control(audit)
    lengths = {case.id: len(case.outcomes) for case in runs.cases.values()}
    jobs = [
        replace(job, replicates=lengths[require_program(job.condition).case.id])
        for job in control.jobs
    ]
    if not jobs:
        return replace(verdicts, control={})
    executor = EveryRun(replace(control, jobs=tuple(jobs)), rule, lambda pilot: None, {})
    errors = play_runs(jobs, executor, _list_paid(audit), f"control={ONE_SHOT} ")
    alone = {case.id: case.verdict for case in executor.cases.values() if case.outcomes}
    return replace(verdicts, control=alone, errors=errors)


def _control(audit: Audit) -> Audit:
    """Return the audit without interaction, for the cases whose seats are known from run 0."""
    pilots = {
        require_program(job.condition).case.id: read_ended(find_journal(job, 0))
        for job in audit.jobs
    }
    by_case = {case: list_seats(pilot) for case, pilot in pilots.items() if pilot is not None}
    known = {case: by_seat for case, by_seat in by_case.items() if by_seat}
    control = audit.without_interaction(OneShot(audit.jobs[0].condition.labels[0], known))
    jobs = (job for job in control.jobs if require_program(job.condition).case.id in known)
    return replace(control, jobs=tuple(jobs))


def _list_paid(audit: Audit) -> list[Job]:
    """Return all jobs that the budget covers: the audit, and its control."""
    jobs = list(audit.jobs)
    if audit.settings.control == ONE_SHOT:
        jobs += _control(audit).jobs
    return jobs


def _comparisons(runs: AuditRuns, rule: StabilityRule) -> dict[str, CaseComparison]:
    compared = [case for case in runs.cases.values() if case.before]
    return {
        case.id: compare(case.outcomes, case.before, case.options, rule, len(compared))
        for case in compared
    }
