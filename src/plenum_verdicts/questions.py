"""The verdict on a suite, and further questions: a gate, another program, sources, acting."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

from plenum.base.errors import UserError
from plenum_verdicts.acting.choice import DEFAULT_RISK, advise_acting
from plenum_verdicts.acting.rule_origin import RuleOrigin
from plenum_verdicts.design import VerdictConfig
from plenum_verdicts.dynamics.audit_result import exit_status
from plenum_verdicts.logs.compared_runs import ComparedRuns
from plenum_verdicts.logs.independent_runs import have_days_apart, select_independent
from plenum_verdicts.logs.log_scores import RIGHT, WRONG
from plenum_verdicts.reports.acting import RULE_SCHEMA, tabulate_advice
from plenum_verdicts.reports.suite import SuitePart, SuiteReport
from plenum_verdicts.reports.suite_words import explain, explain_split, explain_suite
from plenum_verdicts.suites.assessment import assess_suite
from plenum_verdicts.suites.comparison import compare_suites
from plenum_verdicts.suites.gate_assessment import assess_gate
from plenum_verdicts.suites.gates import TOLERANCE, Gate, ScoreGate, parse_gate
from plenum_verdicts.suites.sources import split_by_source
from plenum_verdicts.suites.suite_runs import SuiteRuns
from plenum_verdicts.suites.suite_verdict import SuiteRule
from plenum_verdicts.suites.undecided_runs import list_undecided


def judge_suite(
    runs: SuiteRuns, settings: VerdictConfig, parts: Sequence[SuitePart] = ()
) -> SuiteReport:
    """Judge the runs of a suite together.

    Parameters
    ----------
    parts
        What else was asked.
    """
    found = assess_suite(runs, make_suite_rule(settings), settings.acceptable)
    return SuiteReport(found, explain_suite(found, runs), tuple(parts))


def make_suite_rule(settings: VerdictConfig) -> SuiteRule:
    """Return the criterion of a suite that the settings name."""
    return SuiteRule(settings.acceptable_disagreement, settings.unacceptable_disagreement)


def answer_questions(
    runs: SuiteRuns,
    settings: VerdictConfig,
    compared: ComparedRuns | None = None,
    before: ComparedRuns | None = None,
    learnt: RuleOrigin | None = None,
) -> list[SuitePart]:
    """Answer what was asked of a suite besides its verdict.

    Parameters
    ----------
    compared, before
        The log of the runs, if they are logged, and that of an earlier program.
    learnt
        What a rule of acting alone is learnt from; without it none can be applied.

    Raises
    ------
    UserError
        A gate can't be read, or the runs don't suffice for an answer.
    """
    gate = _gate(settings)
    parts = [] if gate is None else [_judge(gate, runs, settings)]
    if before:
        parts.append(_compare(runs, compared, before, settings))
    if compared and (columns := compared.sources()):
        split = split_by_source(compared.runs, columns)
        if split.sources:
            parts.append(SuitePart("sources", asdict(split), explain_split(split)))
    # Runs that are all "right" agree on nothing that one could act on.
    if settings.decide:
        right = compared is not None and compared.compared != "decisions"
        if right or set(runs.outcomes) <= {RIGHT, WRONG, *list_undecided(runs)}:
            raise UserError(
                "decide: true; it needs decisions that runs may agree on, and these are compared "
                "by right or scores; if the log has decisions, compare=decisions compares them"
            )
        parts.append(_alone(runs, settings, learnt))
    return parts


def _gate(settings: VerdictConfig) -> Gate | None:
    """Read the user's gate; ``None`` without one."""
    if not settings.gate.strip():
        return None
    try:
        return parse_gate(settings.gate)
    except ValueError as problem:
        raise UserError(f"gate: {settings.gate}; {problem}") from None


def _judge(gate: Gate, runs: SuiteRuns, settings: VerdictConfig) -> SuitePart:
    """Judge a gate on the runs of a suite."""
    if not runs.has_scores:
        raise UserError(
            f"gate: {gate}; it needs right answers, and this log doesn't have one for every case"
        )
    try:
        found = assess_gate(gate, runs, settings.drop)
    except ValueError as problem:
        raise UserError(f"gate: {gate}; {problem}") from None
    judged = runs.where_repeated(2)
    score = float(judged.mean_scores().mean())
    limit = gate.least if isinstance(gate, ScoreGate) and not gate.relative else None
    at_edge = limit is not None and abs(score - limit) < TOLERANCE
    facts = {
        "judged": len(judged.cases),
        "cases": len(runs.cases),
        "edge": limit if at_edge else None,
    }
    return SuitePart("gate", asdict(found), explain("gate", found, **facts))


def _compare(
    runs: SuiteRuns, now: ComparedRuns | None, before: ComparedRuns, settings: VerdictConfig
) -> SuitePart:
    """Compare a program with an earlier one on a suite."""
    name = str(settings.baseline)
    apart = now is not None and have_days_apart(now, before)
    try:
        # The earlier log is thinned as this one was: reruns that its first runs called for bias it.
        found = compare_suites(select_independent(before)[0], runs, settings.margin, apart)
    except ValueError as problem:
        raise UserError(f"baseline={name}: {problem}") from None
    lines = explain("comparison", found, baseline=name)
    status = exit_status(found.verdict, settings.undecided)
    return SuitePart("comparison", asdict(found), lines, status)


def _alone(runs: SuiteRuns, settings: VerdictConfig, learnt: RuleOrigin | None) -> SuitePart:
    """Look for a rule by which the program may act without a person."""
    risk = DEFAULT_RISK if settings.decide is True else float(settings.decide)
    # Cases with one run count as well: which cases are run again may depend on how the first ended.
    advice = advise_acting(runs, risk, list_undecided(runs))
    from plenum_verdicts.reports.acting_figure import (
        draw_acting,  # matplotlib: the verdict comes before its page
    )

    # Without right answers a run is held against the case's others.
    unheard = 0 if runs.has_scores else int((runs.repeats == 1).sum())
    return SuitePart(
        "acting",
        {
            "schema": RULE_SCHEMA,
            **asdict(advice),
            "learnt": learnt and asdict(learnt) | {"day": str(learnt.day)},
        },
        explain("advice", advice, unheard=unheard),
        table=tabulate_advice(advice),
        draw=partial(draw_acting, advice),
    )
