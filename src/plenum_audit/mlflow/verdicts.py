"""Verdicts on evaluations, written to their traces and to an evaluation run of the suite."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from plenum.base import UserError
from plenum_verdicts.logs import CaseLog, Columns, ComparedRuns, collect_log, settle_results
from plenum_verdicts.readers import READERS, list_traces, read_trace
from plenum_verdicts.reports import explain_suite
from plenum_verdicts.suites import SuiteAssessment, SuiteRule, SuiteRuns, assess_suite

AGREES, DISAGREEMENT = "plenum.agrees", "plenum.disagreement"
"""Assessments of a trace: of its run, and of its case."""

_MEANS = "How likely two runs of this case end differently."
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
        The result of an evaluation, the id of its run, or several of either. Traces with the same
        tag ``plenum.case``, or without one with equal inputs, are runs of one case.
    decision
        The scorer whose value is the decision; by default the decision is the whole output.
    score
        The scorer whose value is right or wrong, ``yes`` or ``no``, or a number from 0 to 1; by
        default the only one that says this of every run that ended. A failed run has the score 0.
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
        There is no such evaluation, no case has two runs, no run ended or decided, ``decision`` is
        no scorer, ``score`` doesn't score every run, or several scorers might.
    """
    import mlflow

    several = evaluation if isinstance(evaluation, list | tuple) else [evaluation]
    ids = list(dict.fromkeys(str(getattr(each, "run_id", each)) for each in several))
    mlflow.flush_trace_async_logging()
    found = (trace for run_id in ids for trace in list_traces(f"runs:/{run_id}"))
    traces = {trace.info.trace_id: trace for trace in found}
    rows = [read_trace(trace) for trace in traces.values()]
    _choose_results(rows, decision, score)
    placed = ((f"trace {row['id']}", row) for row in rows)
    cases = collect_log("evaluation", placed, READERS["mlflow"], Columns.of({}, ["id"])).cases
    runs = ComparedRuns(cases, "evaluation", "decisions").runs
    suite = assess_suite(runs, SuiteRule(acceptable, unacceptable))
    _write_assessments(traces, cases, runs)
    told = "\n".join(explain_suite(suite, runs)) + "\n"
    _write_run(ids, list(traces), suite, told)
    return suite


def _choose_results(rows: Sequence[dict[str, Any]], decision: str, score: str) -> None:
    """Leave in each row only the decision and the score that count."""
    ended = [row["scores"] for row in rows if "error" not in row]
    if not ended:
        raise UserError(f"evaluation: of its {len(rows)} traces, none is of a run that ended")
    known = sorted({name for row in rows for name in row["scores"]})
    if decision and decision not in known:
        raise UserError(f"decision: {decision!r}; the scorers are {', '.join(known) or 'none'}")
    fitting = [name for name in known if _scores_each(ended, name)]
    chosen = [score] if score else [name for name in fitting if name != decision]
    if len(chosen) > 1 or not {*chosen} <= {*fitting}:
        raise UserError(
            f"score: {score!r}; name one that says of every run that ended right or wrong, yes or "
            f"no, or a number from 0 to 1: {', '.join(fitting) or 'none does'}"
        )
    for row in rows:
        scores = row.pop("scores")
        said = scores.get(decision) if decision else row.get("output")
        row["decision"] = "" if said is None else said
        row |= {"score": scores.get(chosen[0])} if chosen else {}
        del row["text"]  # inputs in other words are one case if their tag says so


def _scores_each(ended: Sequence[Mapping[str, Any]], scorer: str) -> bool:
    """Return whether a scorer scores every run."""
    rows = [{"score": scores.get(scorer)} for scores in ended]
    try:
        settle_results(rows)
    except UserError:  # a text, or a number beyond 0 and 1
        return False
    return all("score" in row for row in rows)


def _write_assessments(
    traces: Mapping[str, Any], cases: Sequence[CaseLog], runs: SuiteRuns
) -> None:
    import mlflow
    from mlflow.entities import AssessmentSource

    source = AssessmentSource(source_type="CODE", source_id=_SOURCE)
    for trace_id, trace in traces.items():
        for each in trace.info.assessments or ():
            if each.name in (AGREES, DISAGREEMENT) and each.source.source_id == _SOURCE:
                mlflow.delete_assessment(trace_id, each.assessment_id)
    for number, (logged, apart) in enumerate(zip(cases, runs.disagreements(), strict=True)):
        counts = Counter(ended := runs.outcome[runs.case == number].tolist())
        most, repeats = max(counts.values()), len(ended)
        if repeats < 2:
            continue  # one run says nothing about agreement
        mode = runs.outcomes[counts.most_common(1)[0][0]]
        agreed = f"{most} of {repeats} runs of this case end alike: {mode}"
        why = agreed if most > 1 else "No two runs end alike."
        for row, outcome in zip(logged.rows, ended, strict=True):
            for name, value, rationale in (
                (AGREES, most > 1 and counts[outcome] == most, why),
                (DISAGREEMENT, round(float(apart), 6), _MEANS),
            ):
                mlflow.log_feedback(
                    trace_id=row["id"],
                    name=name,
                    value=value,
                    source=source,
                    rationale=rationale,
                    metadata={"case": logged.case.id, "runs": str(repeats)},
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
