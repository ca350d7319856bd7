"""Runs of a suite with one thing changed that should not matter: other wordings, another order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from plenum.design.job import Job
from plenum.execution.condition_folder import find_journal
from plenum.records.transcript import Transcript
from plenum_audit.execution.audit_runs import read_ended
from plenum_audit.programs.compose import Audit
from plenum_audit.programs.condition import require_program
from plenum_verdicts.cases.case import AuditCase
from plenum_verdicts.dynamics.audits import decide_outcome
from plenum_verdicts.suites.suite_runs import SuiteRuns
from plenum_verdicts.suites.undecided_runs import tell_apart

Jobs = tuple[Job, ...]

_WORDS = {"wording": "other wordings", "order": "options reversed"}
"""Each change in words."""

_UNCHANGED = "as it is"
"""The value of runs in which nothing is changed."""


def make_varied_jobs(audit: Audit) -> dict[str, Jobs]:
    """Return the jobs of each change: as many runs of a case as it has without it.

    They are a study of their own, so that no table mixes them with usual runs, and share the
    audit's budget. Runs with other wordings are spread over the wordings that a case has; without
    any wordings there is no such change.
    """
    repeats = audit.settings.repeats
    changes: dict[str, list[Job]] = {name: [] for name in _WORDS if name in audit.settings.vary}
    for usual in audit.jobs:
        job = replace(usual, study=f"{usual.study}-varied")
        case = require_program(job.condition).case
        if "wording" in changes:
            wordings = case.in_other_words()[:repeats]
            for number, wording in enumerate(wordings):
                count = len(range(number, repeats, len(wordings)))
                changes["wording"].append(_of_case(job, wording, count))
        if "order" in changes:
            changes["order"].append(_of_case(job, case.in_other_order(), repeats))
    return {change: tuple(jobs) for change, jobs in changes.items() if jobs}


def list_suite_jobs(audit: Audit) -> Iterator[Job]:
    """Yield the jobs of a live suite, then those with a change."""
    yield from _usual_jobs(audit)
    for jobs in make_varied_jobs(audit).values():
        yield from jobs


def count_runs(audit: Audit) -> list[str]:
    """Return sentences on the number of runs of a live suite, and of those with a change.

    With a run that has ended they say what all of them take.
    """
    usual, changes = len(audit.jobs) * audit.settings.repeats, make_varied_jobs(audit)
    lines = [f"There are {len(audit.jobs):,} cases with {audit.settings.repeats} runs each."]
    runs = {change: sum(job.replicates for job in jobs) for change, jobs in changes.items()}
    listed = ", ".join(f"{count:,} with {_WORDS[change]}" for change, count in runs.items())
    every = usual + sum(runs.values())
    if changes:
        lines.append(f"That makes {every:,} runs: {usual:,} as the program is, {listed}.")
    first = read_ended(find_journal(audit.jobs[0], 0))
    return lines if first is None else [*lines, price(first, every)]


def price(first: Transcript, runs: int) -> str:
    """Return a sentence on what so many runs take if each takes what the first one did."""
    spent = first.totals()
    calls, cost = spent["calls"], spent["cost"]
    dollars = f"${cost * runs:,.4f}" if cost == cost else "of a price that isn't known"  # not NaN
    return (
        f"The first run made {calls:,.0f} calls; all {runs:,} runs make about {calls * runs:,.0f} "
        f"calls, {dollars}."
    )


def read_varied_runs(audit: Audit) -> dict[str, tuple[SuiteRuns, list[str]]]:
    """Read the usual runs of a suite together with those of each change.

    Changes are read one by one, not all in one table: two of them may do the same to a decision,
    so that what they do together isn't the sum of what each does alone.

    Returns
    -------
    dict
        By change: the runs, and what was changed in each of them.
    """
    usual = list(_usual_jobs(audit))
    return {change: _read([*usual, *jobs]) for change, jobs in make_varied_jobs(audit).items()}


def _read(jobs: Sequence[Job]) -> tuple[SuiteRuns, list[str]]:
    """Read so many runs of each job as it is to have, and the variant of each run."""
    ended: dict[str, list[str]] = {}
    variants: dict[str, list[str]] = {}
    for job in jobs:
        case = require_program(job.condition).case
        for index in range(job.replicates):
            run = read_ended(find_journal(job, index))
            if run is not None:
                outcome = decide_outcome(run.status, str(run.decision))
                ended.setdefault(case.id, []).append(outcome)
                variants.setdefault(case.id, []).append(case.variant or _UNCHANGED)
    return make_suite(ended, jobs), [name for each in variants.values() for name in each]


def make_suite(ended: Mapping[str, Sequence[str]], jobs: Sequence[Job]) -> SuiteRuns:
    """Return the runs of a suite by how they ended, with scores if every case has an answer."""
    cases = [require_program(job.condition).case for job in jobs]
    answers = {case.id: case.answer for case in cases}
    scores = None
    if all(answers.values()):
        scores = {
            case: [float(made == answers[case]) for made in each] for case, each in ended.items()
        }
    return SuiteRuns.of({case: tell_apart(each) for case, each in ended.items()}, scores)


def _usual_jobs(audit: Audit) -> Iterator[Job]:
    for job in audit.jobs:
        yield replace(job, replicates=audit.settings.repeats)


def _of_case(job: Job, case: AuditCase, runs: int) -> Job:
    condition = replace(require_program(job.condition), case=case)
    return replace(job, condition=condition, replicates=runs)
