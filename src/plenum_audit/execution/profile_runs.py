"""The runs of a profile, read from journals: outcomes, confidences, costs, and where they part."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from plenum.design import Job
from plenum.dynamics import Floats
from plenum.execution import find_journal
from plenum.records import Transcript
from plenum_audit.dynamics import compare_calls, decide_outcome, measure_alike_calls
from plenum_audit.execution.audit_runs import read_ended
from plenum_audit.execution.profile_arms import describe_change, group_jobs, make_changed_jobs
from plenum_audit.profiles import FAULTS, UNCHANGED, ChangedRuns, ProfileRuns
from plenum_audit.programs import Audit, AuditCase, read_confidence, require_program
from plenum_audit.suites import SuiteRuns, tell_apart
from plenum_audit.tracking import tabulate_programs


@dataclass(frozen=True)
class _CaseRuns:
    """The ended runs of a case, and the variant of each."""

    case: AuditCase
    runs: Sequence[Transcript]
    variants: Sequence[str]


def read_profile(audit: Audit) -> ProfileRuns:
    """Read all runs of a profile that was played to its end.

    A change that reached no run is left out: faults, if the program makes no calls.
    """
    usual = [
        _read([replace(job, replicates=audit.settings.repeats)], lambda job: UNCHANGED)
        for job in audit.jobs
    ]
    calls = sum(len(run.calls) for each in usual for run in each.runs)
    changed = {
        change: _run_changed(jobs)
        for change, jobs in make_changed_jobs(audit).items()
        if calls or change != FAULTS
    }
    runs = [run for each in usual for run in each.runs]
    confidences = [read_confidence(run) for run in runs]
    spent, unit = _spent(runs)
    alike, partings = _partings(usual)
    return ProfileRuns(
        usual=_suite(usual),
        changed=changed,
        confidence=np.array([np.nan if each is None else each.share for each in confidences]),
        stated_by=", or ".join(sorted({each.by for each in confidences if each is not None})),
        spent=spent,
        unit=unit,
        alike=alike,
        partings=partings,
    )


def _run_changed(jobs: Sequence[Job]) -> ChangedRuns:
    cases = [_read(each, describe_change) for each in group_jobs(jobs).values()]
    return ChangedRuns(_suite(cases), tuple(name for each in cases for name in each.variants))


def _read(jobs: Sequence[Job], name: Callable[[Job], str]) -> _CaseRuns:
    """Read the runs of jobs of one case, as many as each job is to have."""
    read = [
        (run, name(job))
        for job in jobs
        for index in range(job.replicates)
        if (run := read_ended(find_journal(job, index))) is not None
    ]
    case = require_program(jobs[0].condition).case
    return _CaseRuns(case, [run for run, _ in read], [variant for _, variant in read])


def _suite(cases: Sequence[_CaseRuns]) -> SuiteRuns:
    ended = {
        each.case.id: tell_apart(
            [decide_outcome(run.status, str(run.decision)) for run in each.runs]
        )
        for each in cases
    }
    if not all(each.case.answer for each in cases):
        return SuiteRuns.of(ended)
    scores = {
        each.case.id: [float(made == each.case.answer) for made in ended[each.case.id]]
        for each in cases
    }
    return SuiteRuns.of(ended, scores)


def _spent(runs: Sequence[Transcript]) -> tuple[Floats, str]:
    """Return what each run cost and the unit: dollars if all are priced, else tokens."""
    totals = [run.totals() for run in runs]
    dollars = np.array([each["cost"] for each in totals], float)
    if np.isfinite(dollars).all() and dollars.any():
        return dollars, "dollars"
    tokens = np.array([each["tokens_in"] + each["tokens_out"] for each in totals], float)
    return tokens, "tokens" if tokens.any() else ""


def _partings(cases: Sequence[_CaseRuns]) -> tuple[Floats, Counter[str]]:
    """Return the share of calls before runs part, by case, and the pairs that part at each call."""
    alike, partings = [], Counter[str]()
    for each in cases:
        table = tabulate_programs(each.runs)["calls"]
        calls = {str(name): table[name].tolist() for name in table}
        alike.append(measure_alike_calls(calls))
        for place in compare_calls(calls).places:
            partings[f"{place.seat}, call {place.round}"] += place.pairs
    return np.array(alike, float), partings
