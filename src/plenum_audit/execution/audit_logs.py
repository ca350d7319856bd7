"""The verdict on the cases of a log: in one pass, without calls."""

from collections.abc import Hashable, Mapping, Sequence

from plenum.base import UserError, pause_collector
from plenum_audit.programs import Audit, load_baseline
from plenum_verdicts.dynamics import (
    UNDECIDED,
    AuditResult,
    Further,
    StabilityRule,
    compare,
    judge_cases,
    judge_family,
    plan_further,
)
from plenum_verdicts.logs import group_outcomes


@pause_collector()
def judge_log(audit: Audit, rule: StabilityRule) -> AuditResult:
    """Return the verdicts on the runs of a log, beside those of another one if it names one.

    Raises
    ------
    UserError
        No run reached a decision, or the other log can't be read.
    """
    assert audit.log is not None
    settings, logged = audit.settings, audit.logged
    outcomes = group_outcomes(logged, f"logs={settings.logs}")
    options = {each.case.id: tuple(each.case.options) for each in logged}
    cases = judge_cases(outcomes, options, rule)
    before = {}
    if settings.baseline:
        before = group_outcomes(load_baseline(settings, logged), f"baseline={settings.baseline}")
        if not before.keys() & outcomes.keys():
            raise UserError(f"baseline={settings.baseline}: it has none of the cases of logs=")
    comparisons = {
        case: compare(outcomes[case], earlier, options[case], rule)
        for case, earlier in before.items()
        if case in outcomes
    }
    undecided = [case for case, verdict in cases.items() if verdict.verdict == UNDECIDED]
    return AuditResult(
        study=audit.study,
        program=audit.log.identity,
        cases=cases,
        family=judge_family(cases, rule),
        further=_further(undecided, outcomes, options, rule),
        comparisons=comparisons if settings.baseline else None,
        doubts=audit.doubts,
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
    runs = sum(len(each.ends) for each in audit.logged)
    return f"{len(audit.logged):,} cases, {runs:,} runs that exist; nothing is called"
