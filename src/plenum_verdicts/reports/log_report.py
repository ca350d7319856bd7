"""Conversion of verdicts on the cases of a log to an audit, from its rows."""

from collections import Counter
from collections.abc import Sequence
from math import fsum

from plenum.base.identity import digest
from plenum.show.document import Sides
from plenum_verdicts.dynamics.audit_result import AuditResult
from plenum_verdicts.dynamics.audits import FAILED
from plenum_verdicts.logs.case_logs import CaseLog, Log
from plenum_verdicts.logs.compared_runs import ComparedRuns
from plenum_verdicts.logs.logged_run import list_messages, read_usage
from plenum_verdicts.reports.audit import (
    LOGS,
    AuditReport,
    CaseAudit,
    Circumstances,
    Cost,
    DifferingRuns,
    list_verdict_fields,
    measure_accuracy,
)
from plenum_verdicts.reports.dialogue import Message, align, latest_parting
from plenum_verdicts.reports.sections import collect_sections
from plenum_verdicts.reports.suite import SuiteReport
from plenum_verdicts.reports.words import format_outcome

MOST_COMPARED = 40
"""Number of runs of a case that decide as most do, and of others, that are compared for a pair."""


def report_log(
    log: Log, compared: ComparedRuns, results: AuditResult, suite: SuiteReport | None = None
) -> AuditReport:
    """Return the verdicts on a log.

    Parameters
    ----------
    compared
        Its runs, by what of them is compared.
    suite
        The verdict on all cases together, if it was asked for.
    """
    cases = tuple(_case(each, log.identity, compared, results) for each in compared.kept)
    return AuditReport(
        study=results.study,
        committee=log.committee,
        verdict=_name_verdict(results, suite),
        stopped="" if suite else results.stopped,
        doubts=results.doubts,
        rule=results.family.rule,
        cases=cases,
        stable=results.family.stable,
        unstable=results.family.unstable,
        cost=sum((case.cost for case in cases), Cost()),
        controlled=_gather_control(log),
        accuracy=measure_accuracy(compared.outcomes, _list_answers(compared)),
        beside=collect_sections(results),
        suite=suite,
    )


def _name_verdict(results: AuditResult, suite: SuiteReport | None) -> str | None:
    if suite:
        return suite.found.verdict.verdict
    return None if results.stopped else results.family.verdict


def show_pair(audited: CaseAudit, logged: CaseLog) -> Sides | None:
    """Return the two runs of a case that end differently and agree longest, side by side.

    ``None`` if all end alike, or if neither has a message.
    """
    if audited.pair is None:
        return None
    numbers = audited.pair.left, audited.pair.right
    left, right = (_list_said(logged, number) for number in numbers)
    if not (left or right):
        return None
    named = [format_outcome(audited, str(logged.ends[number]["decision"])) for number in numbers]
    heads = [(f"Run {n}", f"decided {name}") for n, name in zip(numbers, named, strict=True)]
    return align(audited.name, (heads[0], heads[1]), left, right)


def _case(logged: CaseLog, program: str, compared: ComparedRuns, results: AuditResult) -> CaseAudit:
    case = logged.case
    verdict, together = results.cases[case.id], results.family
    failures = Counter(end["reason"] for end in logged.ends if end["status"] == "failed")
    scores = compared.scores.get(case.id, ())
    return CaseAudit(
        id=case.id,
        question=case.text,
        answer=case.answer,
        knobs="default",
        condition=digest([program, case.digest]),
        run_id="",
        options=case.options,
        completed=verdict.runs - failures.total(),
        pending=0,
        failures=dict(failures),
        further=results.further.get(case.id),
        cost=_add_usage(logged),
        pair=_find_pair(logged, compared.outcomes[case.id]),
        source=None,
        warnings=("not_exchangeable",) if case.id in together.not_exchangeable else (),
        **list_verdict_fields(case.id, verdict, compared.answer(case), together),
        score=sum(scores) / len(scores) if scores else None,
    )


def _list_answers(compared: ComparedRuns) -> dict[str, str]:
    answers = {each.case.id: compared.answer(each.case) for each in compared.kept}
    return {case: answer for case, answer in answers.items() if answer}


def _add_usage(logged: CaseLog) -> Cost:
    used = [found for row in logged.rows if (found := read_usage(row)) is not None]
    return Cost(
        runs=len(logged.rows),
        calls=len(used),
        tokens_in=sum(each[0] for each in used),
        tokens_out=sum(each[1] for each in used),
        dollars=fsum(each[2] or 0.0 for each in used),
        unpriced=sum(each[2] is None for each in used),
    )


def _find_pair(logged: CaseLog, outcomes: Sequence[str]) -> DifferingRuns | None:
    """Return two runs that end differently and share most of their messages; none if all agree.

    Of many runs the first ones are compared, since each is with each.
    """
    ended = {n: outcome for n, outcome in enumerate(outcomes) if outcome != FAILED}
    mode = Counter(ended.values()).most_common(1)[0][0] if ended else ""
    alike = [n for n, outcome in ended.items() if outcome == mode][:MOST_COMPARED]
    others = [n for n, outcome in ended.items() if outcome != mode][: MOST_COMPARED - 1]
    if not others:
        return None
    said = {number: _list_said(logged, number) for number in (*alike, *others)}
    parted = latest_parting({number: ended[number] for number in said}, said)
    return parted and DifferingRuns(*parted[:2], parted[2] + 1 if any(said.values()) else None)


def _list_said(logged: CaseLog, number: int) -> list[Message]:
    return [(*said, "") for said in list_messages(logged.rows[number])]


def _gather_control(log: Log) -> Circumstances:
    models = {str(row["model"]) for each in log.cases for row in each.rows if row.get("model")}
    return Circumstances(
        identities=(log.identity,),
        program=dict(log.program),
        models=tuple(sorted(models)),
        backend=LOGS,
        messages=any(row.get("messages") for each in log.cases for row in each.rows),
        origin=f"backend: {LOGS}; {log.summary}",
    )
