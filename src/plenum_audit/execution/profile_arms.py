"""The changes of a profile: jobs that run the cases with one thing changed, counted beforehand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from plenum.design import Job
from plenum_audit.profiles import FAULTS, ORDER, WORDINGS
from plenum_audit.programs import FAULT_RATE, Audit, AuditCase, format_settings, require_program

Jobs = tuple[Job, ...]


def make_changed_jobs(audit: Audit) -> dict[str, Jobs]:
    """Return the jobs of each change: as many runs of a case as it has without it.

    They are a study of their own, so that no table mixes them with usual runs, and share the
    audit's budget. Runs with other wordings are spread over the wordings that a case has; without
    any wordings there is no such change.
    """
    if not audit.settings.profile:
        return {}
    repeats, rate = audit.settings.repeats, audit.settings.fault_rate
    changes: dict[str, list[Job]] = {WORDINGS: [], ORDER: [], FAULTS: []}
    for usual in audit.jobs:
        job = replace(usual, study=f"{usual.study}-profile")
        case = require_program(job.condition).case
        wordings = case.in_other_words()[:repeats]
        for number, wording in enumerate(wordings):
            count = len(range(number, repeats, len(wordings)))
            changes[WORDINGS].append(_of_case(job, wording, count))
        changes[ORDER].append(_of_case(job, case.in_other_order(), repeats))
        changes[FAULTS].append(_with_faults(job, rate, repeats))
    return {change: tuple(jobs) for change, jobs in changes.items() if jobs}


def describe_change(job: Job) -> str:
    """Return what is changed in a job, in a few words."""
    condition = require_program(job.condition)
    return condition.case.variant or format_settings({FAULT_RATE: condition.overrides[FAULT_RATE]})


def _of_case(job: Job, case: AuditCase, runs: int) -> Job:
    condition = replace(require_program(job.condition), case=case)
    return replace(job, condition=condition, replicates=runs)


def _with_faults(job: Job, rate: float, runs: int) -> Job:
    condition = require_program(job.condition)
    overrides = {**condition.overrides, FAULT_RATE: rate}
    return replace(job, condition=replace(condition, overrides=overrides), replicates=runs)


def group_jobs(jobs: Sequence[Job]) -> Mapping[str, list[Job]]:
    """Return the jobs of each case, by its id."""
    grouped: dict[str, list[Job]] = {}
    for job in jobs:
        grouped.setdefault(require_program(job.condition).case.id, []).append(job)
    return grouped
