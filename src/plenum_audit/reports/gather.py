"""Reading of an audit's report from its journals, one case at a time."""

import json
import math
import time
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from plenum.base import code_version
from plenum.design import Job
from plenum.records import MESSAGES, SIMULATED, DamagedJournal, Transcript, read
from plenum.reports import origin
from plenum.tracking import StoredTranscript, TrackedCondition, transcript_file
from plenum_audit.design import AuditConfig
from plenum_audit.tracking import collect_calls
from plenum_verdicts.dynamics import (
    UNDECIDED,
    AuditResult,
    StabilityRule,
    compare_calls,
    find_cache,
    judge_cases,
    judge_family,
    plan_further,
    select_ended,
)
from plenum_verdicts.reports import (
    AUDIT,
    SUITE,
    Accuracy,
    AuditReport,
    AuditSubject,
    CaseAudit,
    Circumstances,
    Cost,
    DifferingRuns,
    DivergenceSource,
    SuiteReport,
    collect_sections,
    find_causes,
    latest_parting,
    list_verdict_fields,
    measure_accuracy,
    record_audit,
)

_BEGUN_AGAIN, _SHARE_BEGUN_AGAIN = 3, 0.05
"""Number and share of a case's restarted runs from which there is a warning."""

_Calls = Mapping[str, Sequence[Any]]
_Met = Counter[tuple[str, str, str, str]]


def find_folder(job: Job) -> Path:
    """Return the folder of a job's journals."""
    return Path(job.journals) / job.condition.folder


def read_run(job: Job, number: int) -> Transcript | None:
    """Return a run of a job; ``None`` if it can't be read, as the audit has said."""
    try:
        return read(find_folder(job) / transcript_file(number))
    except (DamagedJournal, OSError):
        return None


def read_runs(job: Job) -> list[Transcript]:
    """Return the runs of a job that were begun and can be read, in order."""
    stems = (path.stem for path in find_folder(job).glob("*.jsonl"))
    numbers = sorted(int(stem) for stem in stems if stem.isdecimal())
    return [run for number in numbers if (run := read_run(job, number)) is not None]


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
    tried: Sequence[Job] = (),
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
    tried
        Jobs of the same cases with other settings of the program; those with runs are variants.
    run_ids
        Runs in MLflow by the identity of their condition.
    suite
        The verdict on all cases together, of which the first ``repeats`` runs count.
    """
    rule = StabilityRule(settings.acceptable, settings.unacceptable)
    most = settings.repeats if suite else None
    read_begun = partial(_read_first, most=most if begun else 0)
    judged = results or _judge(((job, read_begun(job)) for job in jobs), rule)
    met, ids = _Met(), run_ids or {}
    cases = tuple(_gather_case(job, read_begun(job), judged, met, ids) for job in jobs)
    if suite and suite.found.score:
        cases = tuple(replace(case, score=case.right) for case in cases)
    others = ((job, runs) for job in tried if (runs := read_runs(job)))
    variants = tuple(
        _gather_case(job, runs, _judge([(job, runs)], rule), met, ids) for job, runs in others
    )
    stopped = judged.stopped if results else stopped
    return AuditReport(
        study=jobs[0].study,
        committee=str(jobs[0].condition.factors["committee"]),
        verdict=None if stopped else judged.family.verdict,
        stopped=stopped,
        doubts=judged.doubts,
        rule=rule,
        max_runs=settings.max_runs,
        cases=cases,
        variants=variants,
        stable=judged.family.stable,
        unstable=judged.family.unstable,
        cost=sum((case.cost for case in (*cases, *variants)), Cost()),
        controlled=_gather_control(jobs, met),
        accuracy=_measure(cases),
        beside=collect_sections(judged),
        exit_status=exit_status,
        record=record_audit(settings, subjects, suite=suite is not None),
        suite=suite,
        files=SUITE if suite else AUDIT,
    )


def _read_first(job: Job, most: int | None) -> list[Transcript]:
    return read_runs(job)[:most]


def _judge(read: Iterable[tuple[Job, Sequence[Transcript]]], rule: StabilityRule) -> AuditResult:
    """Return the verdicts on the runs of some cases."""
    outcomes, options = {}, {}
    for job, runs in read:
        head = job.condition.as_mapping()
        outcomes[head["case"]], options[head["case"]] = _list_outcomes(runs), [*head["options"]]
    cases = judge_cases(outcomes, options, rule)
    undecided = [case for case, verdict in cases.items() if verdict.verdict == UNDECIDED]
    further = {case: plan_further(outcomes[case], options[case], rule) for case in undecided}
    return AuditResult("", "", cases, judge_family(cases, rule), further)


def _list_outcomes(runs: Sequence[Transcript]) -> list[str]:
    return select_ended((run.head["replicate"], run.status, str(run.decision)) for run in runs)


def _count_entries(runs: Iterable[Transcript]) -> _Met:
    """Count messages and calls, these by model, temperature and fingerprint of the answer."""
    counts: _Met = Counter()
    for entry in (entry for run in runs for entry in run.entries):
        if entry["kind"] in ("call", *MESSAGES):
            sent = entry.get("temperature")
            temperature = "not sent" if sent is None else f"{sent:g}"
            asked = (entry.get("model", ""), temperature, entry.get("fingerprint", ""))
            counts[entry["kind"], *asked] += 1
    return counts


def _gather_case(
    job: Job,
    runs: Sequence[Transcript],
    judged: AuditResult,
    met: _Met,
    run_ids: Mapping[str, str],
) -> CaseAudit:
    met.update(_count_entries(runs))
    head, identity = job.condition.as_mapping(), job.condition.identity
    case, answer = str(head["case"]), head["answer"] or None
    ended, outcomes = [run for run in runs if run.end], _list_outcomes(runs)
    completed = [run for run in ended if run.status == "completed"]
    calls, again = collect_calls(runs), sum(run.begun_again for run in runs)
    cached = head["backend"] != "simulated" and find_cache(calls)  # its agents have few words
    warnings = {
        "not_exchangeable": case in judged.family.not_exchangeable,
        "cached": cached,
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
        completed=len(completed),
        pending=len(runs) - len(ended),  # others may never be due
        failures=dict(Counter(str(run.reason) for run in ended if run.status != "completed")),
        further=judged.further.get(case),
        cost=_sum_cost(runs),
        pair=_find_pair(completed, _list_said(runs, calls)),
        source=_find_source(calls),
        warnings=tuple(name for name, shown in warnings.items() if shown),
        **list_verdict_fields(case, judged.cases[case], answer, judged.family),
        begun_again=again,
        earlier=judged.earlier.get(case, 0 if judged.study else None),
        causes=find_causes(_list_stored(job, runs), outcomes),
    )


def _list_stored(job: Job, runs: Sequence[Transcript]) -> Iterator[StoredTranscript]:
    for run in runs:
        number = run.head["replicate"]
        path = find_folder(job) / transcript_file(number)
        yield StoredTranscript("", job.condition.identity, number, run.status, path)


def _sum_cost(runs: Sequence[Transcript]) -> Cost:
    """Return the usage of runs, including failed and open ones."""
    totals = [run.totals() for run in runs]
    priced = [each["cost"] for each in totals if not math.isnan(each["cost"])]
    sums = {n: sum(int(each[n]) for each in totals) for n in ("calls", "tokens_in", "tokens_out")}
    return Cost(len(runs), **sums, dollars=sum(priced), unpriced=len(runs) - len(priced))


def _list_said(runs: Sequence[Transcript], calls: _Calls) -> dict[int, list[Hashable]]:
    """Return the messages of every run, or the answers to its calls if none were reported."""
    said: defaultdict[int, list[Hashable]] = defaultdict(list)
    for run in runs:
        for entry in (each for each in run.entries if each["kind"] in MESSAGES):
            words = (entry.get(name) or "" for name in ("seat", "text", "option"))
            said[run.head["replicate"]].append(tuple(words))
    if not said:
        for number, *answer in zip(
            *(calls[n] for n in ("replicate", "seat", "answer")), strict=True
        ):
            said[number].append(tuple(answer))
    return said


def _find_pair(
    completed: Sequence[Transcript], said: Mapping[int, Sequence[Hashable]]
) -> DifferingRuns | None:
    decisions = {run.head["replicate"]: str(run.decision) for run in completed}
    parted = latest_parting(decisions, said)
    return parted and DifferingRuns(*parted[:2], parted[2] + 1 if said else None)


def _find_source(calls: _Calls) -> DivergenceSource | None:
    """Return the sources of divergence; ``None`` with fewer than two runs with known calls."""
    if len(set(calls["replicate"])) < 2:
        return None
    parted = compare_calls(calls)
    counts = (parted.pairs, parted.parted, parted.repeated)
    return DivergenceSource(*counts, parted.endpoint, parted.amplification, parted.places[:3])


def _measure(cases: Sequence[CaseAudit]) -> Accuracy | None:
    """Return the accuracy of the runs of all cases."""
    answers = {case.id: case.answer for case in cases if case.answer}
    outcomes = {case.id: [*Counter(case.decisions).elements()] for case in cases}
    return measure_accuracy({case: outcomes[case] for case in answers}, answers)


def _gather_control(jobs: Sequence[Job], met: _Met) -> Circumstances:
    head, first = jobs[0].condition.as_mapping(), read_run(jobs[0], 0)
    calls = {tuple(asked): count for (kind, *asked), count in met.items() if kind == "call"}
    models, temperatures, _ = map(set, zip(*calls, strict=True)) if calls else ((), (), ())
    fingerprints: Counter[str] = Counter()
    for (_, _, fingerprint), count in calls.items():
        fingerprints += Counter({fingerprint: count} if fingerprint else {})
    simulated = head["backend"] == "simulated" or SIMULATED in fingerprints
    files = (file for job in jobs for file in find_folder(job).glob("*"))
    times = [file.stat().st_mtime for file in files] or [time.time()]
    begun, written = (
        datetime.fromtimestamp(each, UTC).isoformat(timespec="seconds")
        for each in (min(times), max(times))  # journals say nothing of when
    )
    return Circumstances(
        identities=tuple(dict.fromkeys(job.condition.as_mapping()["program"] for job in jobs)),
        program=json.loads(head["manifest"]),
        prompts={c["seat"]: c["system"] for c in first.calls if c.get("system")} if first else {},
        overrides=head["settings"],
        seed=str(head["seed"]),
        models=tuple(sorted(models)),
        temperatures=tuple(sorted(temperatures)),
        fingerprints=dict(fingerprints),
        backend=head["backend"],
        simulated=simulated,
        messages=any(kind in MESSAGES for kind, *_ in met),
        versions=(code_version(),),
        begun=begun,
        written=written,
        origin=origin([describe_condition(jobs[0], simulated)]),
    )
