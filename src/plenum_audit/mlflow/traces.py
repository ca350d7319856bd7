"""Runs of a suite, read from the traces of evaluations."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plenum.base import UserError
from plenum_audit.mlflow.case_names import CASE, distinct, format_value, short_name
from plenum_verdicts.suites import SuiteRuns

_YES_NO = {"yes": 1.0, "no": 0.0}


@dataclass(frozen=True)
class EvaluatedRun:
    """A run of a case, as its trace holds it.

    Attributes
    ----------
    outcome
        Its decision; a text that no other run has if it failed, or has no decision.
    failed
        True if the function raised an error.
    score
        From 0 to 1, and 0 if it failed; ``None`` if it isn't known.
    """

    trace_id: str
    case: str
    outcome: str
    failed: bool
    score: float | None


def read_runs(traces: Sequence[Any], decision: str, score: str) -> list[EvaluatedRun]:
    """Return how each trace's run ended, in the order of the traces.

    Parameters
    ----------
    traces
        Traces of MLflow, with their data.
    decision, score
        Names of scorers, or empty.

    Raises
    ------
    UserError
        A scorer isn't known, doesn't give scores, or several might be the score.
    """
    values = [_read_scores(trace) for trace in traces]
    failed = [str(trace.info.state) not in ("OK", "TraceState.OK") for trace in traces]
    for option, name in (("decision", decision), ("score", score)):
        known = sorted({name for each in values for name in each})
        if name and name not in known:
            raise UserError(f"{option}: {name!r}; the scorers are {', '.join(known) or 'none'}")
    scorer = score or _only_score(values, failed, decision)
    cases = _cases(traces)
    runs = []
    for number, trace in enumerate(traces):
        outcome = f"\0failed {number}"  # failing each time isn't stable: it agrees with no run
        value = values[number].get(scorer)
        if not failed[number]:
            outcome = _outcome(trace, decision, values[number], number)
        points = 0.0 if failed[number] else _points(value)
        if score and points is None:
            raise UserError(
                f"score: {score} of the trace {trace.info.trace_id} is {value!r}; it is right or "
                "wrong, yes or no, or a number from 0 to 1"
            )
        runs.append(
            EvaluatedRun(
                trace.info.trace_id,
                cases[number],
                outcome,
                failed[number],
                points if scorer else None,
            )
        )
    return runs


def _outcome(trace: Any, decision: str, values: Mapping[str, Any], number: int) -> str:
    """Return what the run decided; a scorer that read nothing leaves a run without a decision."""
    if not decision:
        return format_value(trace.data.response)
    value = values.get(decision)
    return f"\0none {number}" if value is None else format_value(value)


def _read_scores(trace: Any) -> dict[str, Any]:
    """Return the last valid value of each scorer of a trace; not of what is written here."""
    values: dict[str, Any] = {}
    for each in trace.info.assessments or ():
        feedback = getattr(each, "feedback", None)
        if feedback is not None and each.valid is not False and not each.name.startswith("plenum."):
            values[each.name] = None if each.error else feedback.value
    return values


def _only_score(values: Sequence[Mapping[str, Any]], failed: Sequence[bool], decision: str) -> str:
    """Return the scorer that scores every run that ended; empty without one."""
    ended = [each for each, lost in zip(values, failed, strict=True) if not lost]
    names = dict.fromkeys(name for each in ended for name in each if name != decision)
    scorers = [n for n in names if all(_points(each.get(n)) is not None for each in ended)]
    if len(scorers) > 1:
        raise UserError(f"score: {', '.join(scorers)} might be it; name one")
    return scorers[0] if scorers else ""


def _points(value: Any) -> float | None:
    """Return a scorer's value as a number from 0 to 1; ``None`` for any other."""
    if isinstance(value, str):
        return _YES_NO.get(value.lower())
    if isinstance(value, bool | int | float) and 0 <= value <= 1:
        return float(value)
    return None


def _cases(traces: Sequence[Any]) -> list[str]:
    """Return the case of each trace: its tag, or else its inputs."""
    inputs = [trace.info.tags.get(CASE) or format_value(trace.data.request) for trace in traces]
    names = list(dict.fromkeys(inputs))
    tagged = {trace.info.tags[CASE] for trace in traces if CASE in trace.info.tags}
    shown = distinct([name if name in tagged else short_name(name) for name in names])
    by_inputs = dict(zip(names, shown, strict=True))
    return [by_inputs[each] for each in inputs]


def collect_suite(ended: Sequence[EvaluatedRun]) -> SuiteRuns:
    """Return the runs by case.

    Raises
    ------
    UserError
        Every run failed, or no case has two runs.
    """
    outcomes, scores = defaultdict(list), defaultdict(list)
    for run in ended:
        outcomes[run.case].append(run.outcome)
        scores[run.case].append(math.nan if run.score is None else run.score)
    if all(run.failed for run in ended):
        raise UserError("evaluation: every run of it failed")
    runs = SuiteRuns.of(outcomes, scores)
    if not runs.where_repeated(2).cases:
        raise UserError("evaluation: no case has two runs; see plenum_audit.mlflow.repeat")
    return runs
