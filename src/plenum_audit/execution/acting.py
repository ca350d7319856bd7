"""A rule applied to cases of a program: a fixed number of runs each."""

from dataclasses import replace

from plenum.base import Stopped, UserError
from plenum.execution import check_sweep, list_problems, run_sweep
from plenum_audit.acting import ActRule, CaseAct, apply_rule
from plenum_audit.dynamics import StabilityRule
from plenum_audit.execution import no_decision
from plenum_audit.execution.audit_restore import restore
from plenum_audit.execution.audit_runs import AuditRuns, EveryRun, answered_by_cache
from plenum_audit.programs import Audit


def act(audit: Audit, rule: ActRule) -> tuple[list[CaseAct], list[str]]:
    """Run each case as often as a rule says, and apply the rule.

    Runs that exist count, the first ones of each case.

    Returns
    -------
    list of CaseAct
        One a case; a case whose runs didn't all end is left to a person.
    list of str
        Reasons why runs are missing.

    Raises
    ------
    UserError
        Something can't work, or a cache answers.
    """
    check_sweep(audit.jobs)
    jobs = tuple(replace(job, replicates=rule.runs) for job in audit.jobs)
    audit = replace(audit, jobs=jobs)
    restore(audit.jobs)
    settings = StabilityRule(audit.settings.acceptable, audit.settings.unacceptable)
    runs = EveryRun(audit, settings, lambda pilot: "", {})
    try:
        errors = list(list_problems(run_sweep(audit.jobs, runs, audit.jobs)))
    except Stopped as error:
        errors = [f"stopped: {error}; the same command continues from here"]
    if refused := _refusal(runs):
        raise UserError(refused)
    return [apply_rule(rule, case.id, case.outcomes) for case in runs.cases.values()], errors


def _refusal(runs: AuditRuns) -> str:
    caches = (answered_by_cache(case) for case in runs.cases.values())
    return runs.refused or next(filter(None, caches), no_decision.refusal(runs.cases.values()))
