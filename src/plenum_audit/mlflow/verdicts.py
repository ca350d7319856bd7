"""Verdicts on evaluations, written to their traces and to an evaluation run of the suite."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from plenum.base import UserError
from plenum_audit.mlflow.case_names import LONGEST
from plenum_audit.mlflow.traces import EvaluatedRun, collect_suite, read_runs
from plenum_verdicts.reports import explain_suite
from plenum_verdicts.suites import SuiteAssessment, SuiteRule, SuiteRuns, assess_suite

AGREES, DISAGREEMENT = "plenum.agrees", "plenum.disagreement"
"""Assessments of a trace: of its run, and of its case."""

_SOURCE = "plenum_audit"
_MOST_LINKED = 100
"""Number of traces that MLflow links to a run at once."""


def write_verdicts(
    evaluation: Any,
    *,
    decision: str = "",
    score: str = "",
    acceptable: float = 0.05,
    unacceptable: float = 0.15,
) -> SuiteAssessment:
    """Judge the suite of one or more evaluations, and write the verdicts to MLflow.

    Each trace gets two assessments: whether its run decides like most runs of its case, and the
    case's disagreement. A new evaluation run, linked to the traces, gets the metrics of the suite;
    the runs that were evaluated get tags that name the verdict and this run. Assessments that were
    written earlier are replaced.

    Parameters
    ----------
    evaluation
        The result of an evaluation, the id of its run, or several of either, whose traces with
        equal inputs then are runs of one case.
    decision
        The scorer whose value is the decision; by default the decision is the whole output.
    score
        The scorer whose value is right or wrong, ``yes`` or ``no``, or a number from 0 to 1; by
        default the only one of this kind. A failed run has the score 0.
    acceptable, unacceptable
        Chances that two runs of a case end differently: the criterion of the verdict.

    Returns
    -------
    SuiteAssessment
        The verdict and the estimates; ``verdict.verdict`` is ``stable``, ``unstable`` or
        ``undecided``.

    Raises
    ------
    UserError
        A run has no traces, no case has two runs, no run ended, a scorer isn't known, or several
        might be the score.
    """
    import mlflow

    ids = _run_ids(evaluation)
    traces = [
        trace
        for run_id in ids
        for trace in reversed(mlflow.search_traces(run_id=run_id, return_type="list", flush=True))
    ]
    if not traces:
        raise UserError(f"evaluation: no traces of the run {', '.join(ids)}")
    ended = read_runs(traces, decision, score)
    runs = collect_suite(ended)
    rule = SuiteRule(acceptable, unacceptable)
    suite = assess_suite(runs, rule)
    _write_assessments(traces, ended, runs)
    told = "\n".join(explain_suite(suite, runs)) + "\n"
    _write_run(ids, [trace.info.trace_id for trace in traces], suite, told)
    return suite


def _run_ids(evaluation: Any) -> list[str]:
    several = evaluation if isinstance(evaluation, list | tuple) else [evaluation]
    ids = [str(getattr(each, "run_id", each)) for each in several]
    return list(dict.fromkeys(ids))


def _write_assessments(
    traces: Sequence[Any], ended: Sequence[EvaluatedRun], runs: SuiteRuns
) -> None:
    import mlflow
    from mlflow.entities import AssessmentSource

    source = AssessmentSource(source_type="CODE", source_id=_SOURCE)
    apart = dict(zip(runs.cases, runs.disagreements(), strict=True))
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for run in ended:
        counts[run.case][run.outcome] += 1
    for trace, run in zip(traces, ended, strict=True):
        for each in trace.info.assessments or ():
            if each.name in (AGREES, DISAGREEMENT) and each.source.source_id == _SOURCE:
                mlflow.delete_assessment(run.trace_id, each.assessment_id)
        repeats = counts[run.case].total()
        if repeats < 2:
            continue  # one run says nothing about agreement
        mode, most = counts[run.case].most_common(1)[0]
        about = {"case": run.case, "runs": str(repeats)}
        agreed = f"{most} of {repeats} runs of this case end alike"
        mlflow.log_feedback(
            trace_id=run.trace_id,
            name=AGREES,
            value=bool(counts[run.case][run.outcome] == most and most > 1),
            source=source,
            rationale=f"{agreed}: {mode[:LONGEST]}" if most > 1 else "No two runs end alike.",
            metadata=about,
        )
        mlflow.log_feedback(
            trace_id=run.trace_id,
            name=DISAGREEMENT,
            value=round(float(apart[run.case]), 6),
            source=source,
            rationale="How likely two runs of this case end differently.",
            metadata=about,
        )


def _write_run(ids: list[str], trace_ids: list[str], suite: SuiteAssessment, told: str) -> None:
    """Write the evaluation run of the suite, which is told in sentences."""
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param

    client = MlflowClient()
    tags = {"mlflow.runType": "genai_evaluate", "plenum.kind": "suite"}
    experiment = client.get_run(ids[0]).info.experiment_id
    run = client.create_run(experiment, run_name="plenum suite", tags=tags)
    run_id, now = str(run.info.run_id), int(run.info.start_time)
    rule = {"acceptable_disagreement": suite.rule.acceptable}
    rule |= {"unacceptable_disagreement": suite.rule.unacceptable, "alpha": suite.rule.alpha}
    client.log_batch(
        run_id,
        metrics=[Metric(name, value, now, 0) for name, value in suite_metrics(suite).items()],
        params=[Param(name, str(value)) for name, value in {**rule, "of": " ".join(ids)}.items()],
    )
    client.log_text(run_id, told, "suite.txt")
    for at in range(0, len(trace_ids), _MOST_LINKED):
        client.link_traces_to_run(list(trace_ids[at : at + _MOST_LINKED]), run_id)
    client.set_tag(run_id, "plenum.verdict", suite.verdict.verdict)
    client.set_terminated(run_id)
    for each in ids:
        client.set_tag(each, "plenum.verdict", suite.verdict.verdict)
        client.set_tag(each, "plenum.suite_run", run_id)


def suite_metrics(suite: SuiteAssessment) -> dict[str, float]:
    """Return the metrics of a suite in MLflow by name, without those that don't exist.

    Intervals are those for cases like these, for which the verdict is.
    """
    estimates = {"disagreement": suite.disagreement}
    metrics = {
        "cases": float(suite.verdict.cases),
        "contradicted": float(len(suite.contradicted)),
        "log_e_stable": suite.verdict.log_stable,
        "log_e_unstable": suite.verdict.log_unstable,
    }
    if (score := suite.score) is not None:
        estimates |= {"score": score.score, "noise_floor": score.floor}
        estimates |= {f"pass_{k}": each for k, each in enumerate(score.passing, 1)}
        estimates |= {"consistency": score.consistency} if score.consistency else {}
        metrics["smallest_difference"] = score.smallest_difference
    for name, each in estimates.items():
        metrics |= {name: each.value, f"{name}_ci_low": each.like[0]}
        metrics[f"{name}_ci_high"] = each.like[1]
    return {f"suite.{n}": float(v) for n, v in metrics.items() if math.isfinite(v)}
