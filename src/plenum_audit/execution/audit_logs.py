"""The verdict on a log of many runs: in one pass, without journals, and without calls."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from plenum.base import UserError, pause_collector
from plenum_audit.log_counts import MOST_JOURNALS, LoggedCase, LoggedProgram
from plenum_audit.programs import Audit
from plenum_verdicts.dynamics import (
    FAILED,
    NO_DECISION,
    UNDECIDED,
    AuditResult,
    Further,
    StabilityRule,
    compare,
    decide_outcome,
    judge_cases,
    judge_family,
    plan_further,
)
from plenum_verdicts.logs import CaseLog, list_doubts


def is_large(audit: Audit) -> bool:
    """Return whether the audit is of a log with too many runs for a journal each."""
    return sum(len(logged.ends) for logged in audit.logged) > MOST_JOURNALS


def require_readable(audit: Audit) -> None:
    """Refuse analyses that need a journal of each run.

    Raises
    ------
    UserError
        One was requested.
    """
    settings = audit.settings
    asked = {"fix": settings.fix, "control": settings.control != "none"}
    for name in (name for name, wanted in asked.items() if wanted):
        raise UserError(
            f"{name}: not for a log of more than {MOST_JOURNALS:,} runs, which get no journals; "
            "give a log of the cases that you ask about"
        )


@pause_collector()
def judge_log(
    audit: Audit, rule: StabilityRule, before: Mapping[str, Sequence[str]] | None
) -> AuditResult:
    """Return the verdicts on the runs of a log.

    Parameters
    ----------
    before
        Outcomes of the program to compare with, by case; ``None`` without one.

    Raises
    ------
    UserError
        No run reached a decision.
    """
    outcomes = group_outcomes(audit.logged, f"logs={audit.settings.logs}")
    known = [logged.condition.case for logged in audit.logged]
    options = {case.id: tuple(case.options) for case in known}
    cases = judge_cases(outcomes, options, rule)
    comparisons = {
        case: compare(outcomes[case], earlier, options[case], rule)
        for case, earlier in (before or {}).items()
        if case in outcomes
    }
    undecided = [case for case, verdict in cases.items() if verdict.verdict == UNDECIDED]
    return AuditResult(
        study=audit.jobs[0].study,
        program=audit.logged[0].condition.program_identity,
        cases=cases,
        family=judge_family(cases, rule),
        further=_further(undecided, outcomes, options, rule),
        comparisons=None if before is None else comparisons,
        doubts=list_doubts(audit.logged),
    )


def _further(
    cases: Sequence[str],
    outcomes: Mapping[str, Sequence[str]],
    options: Mapping[str, tuple[str, ...]],
    rule: StabilityRule,
) -> dict[str, Further | None]:
    """Return what undecided cases need; cases with equal runs are evaluated once."""
    known: dict[Hashable, Further | None] = {}
    by_case = {}
    for case in cases:
        key = (options[case], tuple(outcomes[case]))
        if key not in known:
            known[key] = plan_further(outcomes[case], options[case], rule)
        by_case[case] = known[key]
    return by_case


def describe_log(audit: Audit) -> str:
    """Return how many cases and runs a log has, in a line."""
    runs = sum(job.replicates for job in audit.jobs)
    return f"{len(audit.jobs):,} cases, {runs:,} runs that exist; nothing is called"


def group_outcomes(runs: Sequence[CaseLog], place: str) -> dict[str, list[str]]:
    """Return outcomes by case; ``place`` names the setting and the file.

    Raises
    ------
    UserError
        No run reached a decision.
    """
    outcomes = {logged.condition.case.id: _outcomes(logged) for logged in runs}
    if not {o for ended in outcomes.values() for o in ended} - {FAILED, NO_DECISION}:
        why = "; ".join(("no run of it came to a decision", *list_doubts(runs)))
        raise UserError(f"{place}: {why}")
    return outcomes


@pause_collector()
def describe_program(logged: Sequence[CaseLog]) -> LoggedProgram:
    """Return the log's information on the program and its cases."""
    condition = logged[0].condition
    models = {str(row["model"]) for each in logged for row in each.rows if row.get("model")}
    return LoggedProgram(
        identity=condition.program_identity,
        named_by=dict(condition.program),
        committee=condition.committee,
        models=tuple(sorted(models)),
        cases={each.condition.case.id: _case(each) for each in logged},
    )


def _case(logged: CaseLog) -> LoggedCase:
    case = logged.condition.case
    calls = [call for call in logged.calls if call is not None]
    failures = Counter(end["reason"] for end in logged.ends if end["status"] == "failed")
    return LoggedCase(
        question=case.text,
        options=case.options,
        answer=case.answer,
        condition=logged.condition.identity,
        failures=dict(failures),
        calls=len(calls),
        unpriced=sum(call["cost"] is None for call in calls),
        tokens_in=sum(call["tokens_in"] for call in calls),
        tokens_out=sum(call["tokens_out"] for call in calls),
        dollars=sum(call["cost"] or 0.0 for call in calls),
    )


def _outcomes(logged: CaseLog) -> list[str]:
    return [decide_outcome(end["status"], str(end.get("decision"))) for end in logged.ends]
