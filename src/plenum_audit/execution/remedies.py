"""Remedies for instability: votes over existing runs, and knobs tried by successive halving."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from plenum.base import keep_finite, percent
from plenum.design import Job
from plenum.execution import add_begun, list_problems, run_sweep
from plenum_audit.dynamics import bound_gain, evaluate_votes
from plenum_audit.execution.audit_runs import AuditRuns, CaseRuns, list_ended
from plenum_audit.programs import Audit, format_settings, require_program
from plenum_verdicts.dynamics import (
    STABLE,
    UNDECIDED,
    UNSTABLE,
    CaseVerdict,
    StabilityRule,
    TriedOption,
    judge_case,
    judge_family,
)

RUNGS = (6, 12, 24, 48)
"""Numbers of runs per case after which the better half of the settings continues."""

AS_IT_IS = "as it is"


def options(
    audit: Audit, usual: Mapping[str, CaseRuns], rule: StabilityRule, paid: Sequence[Job]
) -> tuple[list[TriedOption], tuple[str, ...]]:
    """Try all remedies; return them after the unchanged program, and reasons of an early end.

    Parameters
    ----------
    usual
        The runs of the audit that was made.
    paid
        Conditions whose cost counts towards the budget.
    """
    runs = list(usual.values())
    first = _option(AS_IT_IS, runs, rule)
    by_knobs, errors = _by_knobs(audit, runs, rule, paid)
    return [first, *_by_vote(first, runs, rule), *by_knobs], errors


def settings_tried(audit: Audit) -> dict[str, Audit]:
    """Return the audit of each other setting, by its change."""
    if audit.program is None:
        return {}
    tries: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({name: value}, {}) for name, values in audit.program.knobs.items() for value in values[1:]
    ]
    tries += [({}, {"temperature": value}) for value in audit.settings.temperatures]
    return {_name(*each): audit.with_knobs(*each) for each in tries}


def bound(runs: Sequence[CaseRuns]) -> str:
    """Describe the largest gain of any vote."""
    gains = [bound_gain(case.verdict) for case in runs if case.outcomes]
    if not gains:
        return ""
    most = max(each.most for each in gains)
    unsure = sum(not each.sure for each in gains)
    words = f"no vote, over however many runs, can gain more than {percent(most)} in a case"
    if unsure:
        words += f"; in {unsure} of {len(gains)} it may gain nothing: no majority is shown"
    return words


def _by_vote(
    first: TriedOption, runs: Sequence[CaseRuns], rule: StabilityRule
) -> list[TriedOption]:
    """Evaluate votes over existing runs, without calls."""
    votes_tried = []
    for row in evaluate_votes({case.id: (case.verdict, case.options) for case in runs}, rule):
        least = min(row, key=lambda each: each.share)
        verdicts = {each.verdict for each in row}
        answers = [require_program(case.job.condition).case.answer for case in runs]
        right = [each.chances.get(a, 0.0) for each, a in zip(row, answers, strict=True) if a]
        votes_tried.append(
            TriedOption(
                name=f"vote over {least.runs} runs",
                share=least.share,
                low=min(each.low for each in row),
                high=least.high,
                runs=first.runs,
                calls=None if first.calls is None else first.calls * least.runs,
                dollars=None if first.dollars is None else first.dollars * least.runs,
                accuracy=float(np.mean(right)) if right else None,
                verdict=_together(verdicts),
                constant=first.constant,
            )
        )
    return votes_tried


def _by_knobs(
    audit: Audit, usual: Sequence[CaseRuns], rule: StabilityRule, paid: Sequence[Job]
) -> tuple[list[TriedOption], tuple[str, ...]]:
    """Try other settings of the program by successive halving, with the same evidence."""
    tried = settings_tried(audit)
    if not tried:
        return [], ()
    shared = replace(rule, alpha=rule.alpha / len(tried))
    going, by_name = list(tried), dict[str, list[CaseRuns]]()
    errors: tuple[str, ...] = ()
    for rung in (*RUNGS, audit.settings.max_runs):
        if rung > audit.settings.max_runs:
            continue
        wanted = [replace(job, replicates=rung) for name in going for job in tried[name].jobs]
        jobs = list(map(add_begun, wanted))
        executor = AuditRuns(replace(audit, jobs=tuple(jobs)), shared, lambda pilot: "", {})
        errors = list_problems(run_sweep(jobs, executor, paid), "fix=true ")
        played = {
            name: [executor.cases[job.condition.folder] for job in tried[name].jobs]
            for name in going
        }
        by_name |= played
        if errors:
            break
        if len(going) > 1:
            ranked = sorted(going, key=lambda name: -_rank(by_name[name]))
            going = ranked[: math.ceil(len(going) / 2)]
    modes = {case.id: case.verdict.mode for case in usual}
    return [_option(name, by_name[name], shared, modes) for name in tried], errors


def _rank(runs: Sequence[CaseRuns]) -> float:
    return min(case.verdict.share for case in runs) if all(c.outcomes for c in runs) else -1.0


def _option(
    name: str, runs: Sequence[CaseRuns], rule: StabilityRule, usual: Mapping[str, str] | None = None
) -> TriedOption:
    verdicts = {case.id: judge_case(case.outcomes, case.options, rule) for case in runs}
    ended = [case for case in verdicts.values() if case.runs]
    if not ended:
        return TriedOption(name, None, 0.0, 1.0, 0, None, None, None, UNDECIDED)
    least = min(ended, key=lambda case: case.share)
    calls, dollars = _spent(runs)
    return TriedOption(
        name=name,
        share=keep_finite(least.share),
        low=min(case.low for case in ended),
        high=least.high,
        runs=sum(case.runs for case in ended),
        calls=calls,
        dollars=dollars,
        accuracy=_accuracy(runs),
        verdict=judge_family(verdicts, rule).verdict,
        constant=_is_constant(verdicts, usual),
    )


def _is_constant(cases: Mapping[str, CaseVerdict], usual: Mapping[str, str] | None) -> bool:
    """Return whether this variant decides one label always, but the original program doesn't."""
    modes = {case.mode for case in cases.values() if case.share > 0.5}
    differ = usual is not None and len(set(usual.values())) > 1
    return differ and len(cases) > 1 and len(modes) == 1


def _accuracy(runs: Sequence[CaseRuns]) -> float | None:
    """Return the mean over cases of the share of runs with the right answer."""
    answers = ((case, require_program(case.job.condition).case.answer) for case in runs)
    shares = [
        float(np.mean([outcome == answer for outcome in case.outcomes]))
        for case, answer in answers
        if answer and case.outcomes
    ]
    return float(np.mean(shares)) if shares else None


def _spent(runs: Sequence[CaseRuns]) -> tuple[float | None, float | None]:
    """Return the mean calls and dollars of a run."""
    totals = [run.totals() for case in runs for run in list_ended(case.job)]
    calls, dollars = (np.mean([each[name] for each in totals]) for name in ("calls", "cost"))
    return keep_finite(float(calls)), keep_finite(float(dollars))


def _together(verdicts: set[str]) -> str:
    if UNSTABLE in verdicts:
        return UNSTABLE
    return STABLE if verdicts == {STABLE} else UNDECIDED


def _name(knobs: Mapping[str, Any], overrides: Mapping[str, Any]) -> str:
    return format_settings(knobs) if knobs else f"{format_settings(overrides)} in every request"
