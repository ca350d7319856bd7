"""Further questions on a suite: a gate, another program, sources, acting alone, ..."""

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from plenum.base import UserError
from plenum_audit.design import AuditConfig
from plenum_audit.execution import read_varied_runs
from plenum_audit.programs import Audit, load_baseline
from plenum_verdicts.acting import advise_acting
from plenum_verdicts.dynamics import exit_status
from plenum_verdicts.logs import RIGHT, WRONG, SuiteLog
from plenum_verdicts.suites import (
    Gate,
    SuiteRuns,
    assess_gate,
    compare_suites,
    list_undecided,
    parse_gate,
    split_by_source,
)

if TYPE_CHECKING:
    from plenum_verdicts.reports import SuitePart


def answer_questions(audit: Audit, runs: SuiteRuns) -> "list[SuitePart]":
    """Answer what was asked of a suite besides its verdict.

    Raises
    ------
    UserError
        A gate can't be read, the runs don't suffice for an answer, or the baseline can't be read.
    """
    settings = audit.settings
    gate = _gate(settings)
    parts = [] if gate is None else [_judge(gate, runs, settings)]
    if settings.baseline:
        parts.append(_compare(runs, _read_baseline(audit), settings))
    if settings.sources:
        parts.append(_split(audit, runs))
    if settings.decide:
        right = bool(audit.logged) and audit.suite_log.compared == "right"
        if right or set(runs.outcomes) <= {RIGHT, WRONG, *list_undecided(runs)}:
            raise UserError(
                "decide: true; it needs decisions that runs may agree on, and these are compared "
                "by right and wrong; if the log has decisions, compare=decisions compares them"
            )
        parts.append(_alone(runs, settings))
    if settings.vary:
        parts.append(_vary(audit))
    return parts


def _read_baseline(audit: Audit) -> SuiteRuns:
    """Return the runs of the program that a suite is compared with, by the same comparison."""
    name, compared = f"baseline={audit.settings.baseline}", audit.suite_log.compared
    cases = load_baseline(audit.settings, audit.logged)
    return SuiteLog(cases, name, compared, audit.settings.failures).runs()


def _gate(settings: AuditConfig) -> Gate | None:
    """Read the user's gate; ``None`` without one."""
    if not settings.aa:
        return None
    try:
        return parse_gate(settings.gate)
    except ValueError as problem:
        raise UserError(f"gate: {settings.gate}; {problem}") from None


def _judge(gate: Gate, runs: SuiteRuns, settings: AuditConfig) -> "SuitePart":
    """Judge a gate on the runs of a suite."""
    from plenum_verdicts.reports import SuitePart, explain_gate

    if not runs.has_scores:
        raise UserError(
            f"gate: {gate}; it needs right answers, and this log doesn't have one for every case"
        )
    try:
        found = assess_gate(gate, runs, settings.drop)
    except ValueError as problem:
        raise UserError(f"gate: {gate}; {problem}") from None
    return SuitePart("gate", asdict(found), tuple(explain_gate(found)))


def _compare(runs: SuiteRuns, before: SuiteRuns, settings: AuditConfig) -> "SuitePart":
    """Compare a program with an earlier one on a suite."""
    from plenum_verdicts.reports import SuitePart, explain_comparison

    name = str(settings.baseline)
    try:
        found = compare_suites(before, runs, settings.margin)
    except ValueError as problem:
        raise UserError(f"baseline={name}: {problem}") from None
    lines = tuple(explain_comparison(found, name))
    status = exit_status(found.verdict, settings.undecided)
    return SuitePart("comparison", asdict(found), lines, status)


def _split(audit: Audit, runs: SuiteRuns) -> "SuitePart":
    """Split what differs between runs by source."""
    from plenum_verdicts.reports import SuitePart, explain_split

    found = split_by_source(runs, audit.suite_log.sources())
    return SuitePart("sources", asdict(found), tuple(explain_split(found)))


def _vary(audit: Audit) -> "SuitePart":
    """Say how much more often runs differ if a change lies between them."""
    from plenum_verdicts.reports import SuitePart, explain_changes

    varied = read_varied_runs(audit)
    split = {name: split_by_source(runs, {name: of}) for name, (runs, of) in varied.items()}
    held = {name: asdict(each) for name, each in split.items()}
    return SuitePart("vary", held, tuple(explain_changes(split, audit.settings.vary)))


def _alone(runs: SuiteRuns, settings: AuditConfig) -> "SuitePart":
    """Look for a rule by which the program may act without a person."""
    from plenum_verdicts.reports import SuitePart, draw_acting, explain_advice, tabulate_advice

    repeated = runs.where_repeated(2)
    undecided = list_undecided(repeated)
    advice = advise_acting(repeated, settings.risk, settings.agree, undecided)
    return SuitePart(
        "acting",
        asdict(advice),
        tuple(explain_advice(advice)),
        table=tabulate_advice(advice),
        draw=partial(draw_acting, advice),
    )
