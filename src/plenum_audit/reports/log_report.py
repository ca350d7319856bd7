"""Conversion of verdicts on a log of many runs to an audit, without reading from tracking."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from plenum.base import code_version
from plenum_audit.log_counts import LoggedCase, LoggedProgram
from plenum_audit.reports.audit import LOGS, Accuracy, AuditReport, CaseAudit, Circumstances, Cost
from plenum_audit.reports.gather import list_verdict_fields, measure_accuracy
from plenum_audit.reports.sections import collect_sections
from plenum_verdicts.dynamics import FAILED, AuditResult, CaseVerdict, FamilyVerdict, StabilityRule


def report_log(program: LoggedProgram, results: AuditResult, rule: StabilityRule) -> AuditReport:
    """Return the audit of a log."""
    together = results.family
    cases = tuple(
        _case(name, verdict, program.cases[name], together, results)
        for name, verdict in results.cases.items()
    )
    return AuditReport(
        study=results.study,
        committee=program.committee,
        verdict=None if results.stopped else together.verdict,
        stopped=results.stopped,
        doubts=results.doubts,
        rule=rule,
        max_runs=None,
        cases=cases,
        variants=(),
        stable=together.stable,
        unstable=together.unstable,
        cost=sum((case.cost for case in cases), Cost()),
        controlled=_gather_control(program),
        accuracy=_accuracy(program.cases, results.cases),
        beside=collect_sections(results),
    )


def _case(
    name: str,
    verdict: CaseVerdict,
    logged: LoggedCase,
    together: FamilyVerdict,
    results: AuditResult,
) -> CaseAudit:
    drifts = name in together.not_exchangeable
    return CaseAudit(
        id=name,
        question=logged.question,
        answer=logged.answer,
        knobs="default",
        condition=logged.condition,
        run_id="",
        options=logged.options,
        completed=verdict.runs - verdict.counts[FAILED],
        pending=0,
        failures=logged.failures,
        further=results.further.get(name),
        cost=Cost(
            verdict.runs,
            logged.calls,
            logged.tokens_in,
            logged.tokens_out,
            logged.dollars,
            logged.unpriced,
        ),
        pair=None,
        source=None,
        warnings=("not_exchangeable",) if drifts else (),
        **list_verdict_fields(name, verdict, logged.answer, together),
    )


def _accuracy(
    cases: Mapping[str, LoggedCase], verdicts: Mapping[str, CaseVerdict]
) -> Accuracy | None:
    answers = {name: case.answer for name, case in cases.items() if case.answer}
    return measure_accuracy({name: list(_spread(verdicts[name])) for name in answers}, answers)


def _spread(verdict: CaseVerdict) -> Iterator[str]:
    """Yield the outcomes of its runs, in any order."""
    for outcome, count in verdict.counts.items():
        yield from [outcome] * count


def _gather_control(program: LoggedProgram) -> Circumstances:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Circumstances(
        identities=(program.identity,),
        program=program.named_by,
        prompts={},
        overrides="default",
        seed="0",
        models=program.models,
        temperatures=(),
        fingerprints={},
        backend=LOGS,
        simulated=False,
        versions=(code_version(),),
        begun=now,
        written=now,
        messages=False,
        origin=f"backend: {LOGS}",
    )
