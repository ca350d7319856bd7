"""Reading of an audit's report from its journals, one case at a time."""

import json
import math
import time
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from plenum.base.project import code_version
from plenum.design.job import Job
from plenum.execution.condition_folder import (
    add_begun,
    find_condition_folder,
    find_journal,
    list_begun,
)
from plenum.records.journal import MESSAGES
from plenum.records.transcript import SIMULATED, Transcript
from plenum.reports.labels import origin
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.transcripts import StoredTranscript
from plenum_audit.design import AuditConfig
from plenum_audit.dynamics.parting_calls import compare_calls, find_cache
from plenum_audit.tracking.programs import collect_calls
from plenum_verdicts.dynamics.audit_result import AuditResult, plan_each
from plenum_verdicts.dynamics.audits import (
    StabilityRule,
    judge_cases,
    judge_family,
    select_ended,
)
from plenum_verdicts.reports.audit import (
    AUDIT,
    SUITE,
    AuditReport,
    CaseAudit,
    Circumstances,
    Cost,
    DifferingRuns,
    DivergenceSource,
    list_verdict_fields,
    measure_accuracy,
)
from plenum_verdicts.reports.causes import find_causes
from plenum_verdicts.reports.dialogue import latest_parting
from plenum_verdicts.reports.outputs import REHEARSAL
from plenum_verdicts.reports.record import AuditSubject, record_audit
from plenum_verdicts.reports.sections import collect_sections
from plenum_verdicts.reports.suite import SuiteReport

_BEGUN_AGAIN, _SHARE_BEGUN_AGAIN = 3, 0.05
"""Number and share of a case's restarted runs from which there is a warning."""

_Asked = Counter[tuple[str, float | None, str]]
"""Calls by model, temperature and fingerprint of the answer; one of no model is for messages."""

_MESSAGE = ("", None, "")


def list_journals(job: Job) -> list[StoredTranscript]:
    """Return the journals of a job's runs that were begun, in order."""
    begun = list_begun(add_begun(job))
    return [StoredTranscript("", "", n, "", find_journal(job, n)) for n in begun]


def _tell_day(jobs: Sequence[Job]) -> tuple[str, ...]:
    """Say it where all runs are of one day, by when their journals were written last."""
    # A suite that was resumed the next day has journals of both.
    files = (file for job in jobs for file in find_condition_folder(job).glob("*.jsonl"))
    days = {datetime.fromtimestamp(file.stat().st_mtime, UTC).date() for file in files}
    told = "All runs are of one day: another day may add differences."
    return (told,) if len(days) == 1 else ()


def read_runs(job: Job, most: int | None = None) -> list[Transcript]:
    """Return the runs of a job that were begun and can be read, in order: the first ``most``."""
    return [run for journal in list_journals(job)[:most] if (run := journal.read()) is not None]


def describe_condition(job: Job, simulated: bool) -> TrackedCondition:
    """Return a job's condition, without its runs, as reports of studies take it."""
    factors = {name: str(value) for name, value in job.condition.factors.items()}
    identity = job.condition.identity
    return TrackedCondition(
        job.study, identity, identity, factors, job.replicates, 0, {}, simulated=simulated
    )


def gather_report(
    jobs: Sequence[Job],
    settings: AuditConfig,
    results: AuditResult | None = None,
    exit_status: int | None = None,
    stopped: str = "",
    *,
    begun: bool = True,
    subjects: tuple[AuditSubject, ...] = (),
    run_ids: Mapping[str, str] | None = None,
    suite: SuiteReport | None = None,
) -> AuditReport:
    """Return the report of an audit.

    Parameters
    ----------
    jobs
        Jobs, one per case.
    results
        Its verdicts; ``None`` if it didn't end, so that they are those on its runs so far.
    stopped
        Reason of a missing verdict, if there are no results.
    begun
        Whether to read the runs in journals; otherwise there are none.
    subjects
        What was tested, with digests.
    run_ids
        Runs in MLflow by the identity of their condition.
    suite
        The verdict on all cases together, of which the first ``repeats`` runs count.
    """
    rule = StabilityRule(settings.acceptable, settings.unacceptable)
    # Runs are read once to judge and once to describe them: all of all cases may not fit in memory.
    most = settings.repeats if suite else None
    read_begun = partial(read_runs, most=most if begun else 0)
    judged = results or _judge(((job, read_begun(job)) for job in jobs), rule)
    asked, ids = _Asked(), run_ids or {}
    cases = tuple(_gather_case(job, read_begun(job), judged, asked, ids) for job in jobs)
    if suite and suite.found.score:
        cases = tuple(replace(case, score=case.right) for case in cases)
    answers = {case.id: case.answer for case in cases if case.answer}
    ended = {case.id: [*Counter(case.decisions).elements()] for case in cases if case.answer}
    stopped = judged.stopped if results else stopped
    controlled = _gather_control(jobs, asked)
    # The screen of a suite has no line that says what answered.
    doubts: tuple[str, ...] = ()
    if suite:
        doubts = (f"This is a {REHEARSAL}.",) if controlled.simulated else _tell_day(jobs)
    return AuditReport(
        study=jobs[0].study,
        committee=str(jobs[0].condition.factors["committee"]),
        verdict=None if stopped else judged.family.verdict,
        stopped=stopped,
        rule=rule,
        max_runs=settings.max_runs,
        cases=cases,
        stable=judged.family.stable,
        unstable=judged.family.unstable,
        cost=sum((case.cost for case in cases), Cost()),
        controlled=controlled,
        doubts=doubts,
        accuracy=measure_accuracy(ended, answers),
        beside=collect_sections(judged),
        exit_status=exit_status,
        record=record_audit(settings, subjects, suite=suite is not None),
        suite=suite,
        files=SUITE if suite else AUDIT,
    )


def _judge(read: Iterable[tuple[Job, Sequence[Transcript]]], rule: StabilityRule) -> AuditResult:
    """Return the verdicts on the runs of some cases."""
    outcomes, options = {}, {}
    for job, runs in read:
        head = job.condition.as_mapping()
        outcomes[head["case"]], options[head["case"]] = _list_outcomes(runs), [*head["options"]]
    cases = judge_cases(outcomes, options, rule)
    further = plan_each(cases, outcomes, options, rule)
    return AuditResult("", "", cases, judge_family(cases, rule), further)


def _list_outcomes(runs: Sequence[Transcript]) -> list[str]:
    return select_ended((run.head["replicate"], run.status, str(run.decision)) for run in runs)


def _gather_case(
    job: Job,
    runs: Sequence[Transcript],
    judged: AuditResult,
    asked: _Asked,
    run_ids: Mapping[str, str],
) -> CaseAudit:
    head, identity = job.condition.as_mapping(), job.condition.identity
    case, answer = str(head["case"]), head["answer"] or None
    ended, outcomes = [run for run in runs if run.end], _list_outcomes(runs)
    completed = (run for run in ended if run.status == "completed")
    decisions = {run.head["replicate"]: str(run.decision) for run in completed}
    calls, again = collect_calls(runs), sum(run.begun_again for run in runs)
    every = (entry for run in runs for entry in run.entries if entry["kind"] == "call")
    asked.update((e["model"], e.get("temperature"), str(e.get("fingerprint", ""))) for e in every)
    messages = _list_said(runs, MESSAGES, ("seat", "text", "option"))
    asked.update([_MESSAGE] if messages else [])
    said = messages or _list_said(runs, ("call",), ("seat", "text", "answer"))
    parted = latest_parting(decisions, said)
    warnings = {
        "not_exchangeable": case in judged.family.not_exchangeable,
        "cached": head["backend"] != "simulated" and find_cache(calls),  # whose words are few
        "begun_again": again >= max(_BEGUN_AGAIN, _SHARE_BEGUN_AGAIN * len(outcomes)),
    }
    return CaseAudit(
        id=case,
        question=head["question"],
        answer=answer,
        knobs=head["knobs"],
        condition=identity,
        run_id=run_ids.get(identity, ""),
        options=head["options"],
        completed=len(decisions),
        pending=len(runs) - len(ended),  # others may never be due
        failures=dict(Counter(str(run.reason) for run in ended if run.status != "completed")),
        further=judged.further.get(case),
        cost=_sum_cost(runs),
        pair=parted and DifferingRuns(*parted[:2], parted[2] + 1 if said else None),
        source=_find_source(calls),
        warnings=tuple(name for name, shown in warnings.items() if shown),
        **list_verdict_fields(case, judged.cases[case], answer, judged.family),
        begun_again=again,
        earlier=judged.earlier.get(case, 0 if judged.study else None),
        causes=find_causes(list_journals(job), outcomes),
    )


def _sum_cost(runs: Sequence[Transcript]) -> Cost:
    """Return the usage of runs, including failed and open ones."""
    totals = [run.totals() for run in runs]
    priced = [each["cost"] for each in totals if not math.isnan(each["cost"])]
    sums = {n: sum(int(each[n]) for each in totals) for n in ("calls", "tokens_in", "tokens_out")}
    return Cost(len(runs), **sums, dollars=sum(priced), unpriced=len(runs) - len(priced))


def _list_said(
    runs: Sequence[Transcript], kinds: Sequence[str], names: Sequence[str]
) -> dict[int, list[Hashable]]:
    """Return fields of the entries of some kinds by run; empty if there are none."""
    said: defaultdict[int, list[Hashable]] = defaultdict(list)
    for run in runs:
        for entry in (each for each in run.entries if each["kind"] in kinds):
            said[run.head["replicate"]].append(tuple(entry.get(name) or "" for name in names))
    return said


def _find_source(calls: Mapping[str, Sequence[Any]]) -> DivergenceSource | None:
    """Return the sources of divergence; ``None`` with fewer than two runs with known calls."""
    if len(set(calls["replicate"])) < 2:
        return None
    parted = compare_calls(calls)
    counts = (parted.pairs, parted.parted, parted.repeated)
    return DivergenceSource(*counts, parted.endpoint, parted.amplification, parted.places[:3])


def _gather_control(jobs: Sequence[Job], asked: _Asked) -> Circumstances:
    head, journals = jobs[0].condition.as_mapping(), list_journals(jobs[0])
    first = next((run for each in journals if (run := each.read()) is not None), None)
    calls = [call for call in first.calls if call["kind"] == "call"] if first else []
    sent = {temperature for model, temperature, _ in asked if model}
    fingerprints = Counter(each for _, _, each in asked.elements() if each)
    simulated = head["backend"] == "simulated" or SIMULATED in fingerprints
    files = (file for job in jobs for file in find_condition_folder(job).glob("*"))
    # Journals say nothing of when, so that files do.
    times = [file.stat().st_mtime for file in files] or [time.time()]
    begun, written = (datetime.fromtimestamp(each, UTC) for each in (min(times), max(times)))
    return Circumstances(
        identities=tuple(dict.fromkeys(job.condition.as_mapping()["program"] for job in jobs)),
        program=json.loads(head["manifest"]),
        prompts={call["seat"]: call["system"] for call in calls if call.get("system")},
        overrides=head["settings"],
        seed=str(head["seed"]),
        models=tuple(sorted({model for model, _, _ in asked if model})),
        temperatures=tuple(sorted("not sent" if t is None else f"{t:g}" for t in sent)),
        fingerprints=dict(fingerprints),
        backend=head["backend"],
        simulated=simulated,
        messages=_MESSAGE in asked,
        versions=(code_version(),),
        begun=begun.isoformat(timespec="seconds"),
        written=written.isoformat(timespec="seconds"),
        origin=origin([describe_condition(jobs[0], simulated)]),
    )
