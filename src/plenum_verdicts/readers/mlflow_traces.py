"""Traces of MLflow: equal inputs or tags are a case, several evaluation runs are its repeats.

``mlflow:EXPERIMENT`` names an experiment by name or id, ``runs:/ID`` one evaluation run. They are
found where ``MLFLOW_TRACKING_URI`` says.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.base.secrets import redact
from plenum_verdicts.readers.fields import drop_missing, find_decision, make_label
from plenum_verdicts.readers.log_reader import LogReader, LogSource, Records

_CASE_TAG = "plenum.case"
"""The tag of a trace that names its case."""

_OWN = "plenum."
"""Prefix of the assessments that version 0.2.0 wrote, which score nothing."""

_EXPERIMENT, _RUN = "mlflow:", "runs:/"
_SQLITE = "sqlite:///"
_PAGE = 500


def _read(source: LogSource) -> Records:
    for number, trace in enumerate(_list_traces(source.name), 1):
        yield f"trace {number}", _read_trace(trace)


def _list_traces(name: str) -> Iterator[Any]:
    """Yield the traces of an experiment or a run in the order of their time.

    Raises
    ------
    UserError
        MLflow doesn't have it, or can't be reached.
    """
    import mlflow
    from mlflow.exceptions import MlflowException

    _require_store(name)
    try:
        client = mlflow.MlflowClient()
        if name.startswith(_RUN):
            run = name.removeprefix(_RUN)
            experiment, only = client.get_run(run).info.experiment_id, f"run_id = '{run}'"
        else:
            wanted, only = name.removeprefix(_EXPERIMENT), None
            found = client.get_experiment_by_name(wanted)
            if found is None and wanted.isdecimal():
                found = client.get_experiment(wanted)
            if found is None:
                raise UserError(f"logs={name}: MLflow at {_show()} has no such experiment")
            experiment = found.experiment_id
        token = None
        while True:
            page = client.search_traces(
                locations=[experiment],
                filter_string=only,
                order_by=["timestamp_ms ASC"],
                max_results=_PAGE,
                page_token=token,
                include_spans=True,
            )
            yield from page
            if not (token := page.token):
                return
    except MlflowException as problem:
        raise UserError(f"logs={name}: MLflow at {_show()} says: {problem.message}") from None


def _require_store(name: str) -> None:
    """Refuse a database that isn't there, which MLflow would make."""
    import mlflow

    uri = mlflow.get_tracking_uri()
    if uri.startswith(_SQLITE) and not Path(uri.removeprefix(_SQLITE)).exists():
        raise UserError(f"logs={name}: MLflow has nothing at {_show()}; set MLFLOW_TRACKING_URI")


def _show() -> str:
    """Return the address of the tracking server, without a password."""
    import mlflow

    return redact(mlflow.get_tracking_uri())


def _read_trace(trace: Any) -> dict[str, Any]:
    """Return the row of a trace, with its whole ``output`` besides the decision in it."""
    about = trace.info.trace_metadata
    inputs, output = _parse(trace.data.request), _parse(trace.data.response)
    used = _parse(about.get("mlflow.trace.tokenUsage")) or {}
    cost = _parse(about.get("mlflow.trace.cost")) or {}
    feedback, expected = {}, {}
    for each in trace.info.assessments or []:
        if each.name.startswith(_OWN) or each.valid is False:
            continue
        if each.feedback is not None:
            feedback[each.name] = each.feedback.value  # None where the judge failed
        elif each.expectation is not None:
            expected[each.name] = each.expectation.value
    tag = trace.info.tags.get(_CASE_TAG) or None
    return drop_missing(
        case=tag,
        label=make_label(inputs) or "(empty)",
        content=None if tag else inputs,
        text=make_label(inputs),
        decision=find_decision(output),
        output=output,
        expected=expected,
        tokens_in=used.get("input_tokens"),
        tokens_out=used.get("output_tokens"),
        cost=cost.get("total_cost"),
        model=_model(trace),
        version=about.get("mlflow.modelId") or about.get("mlflow.source.git.commit") or None,
        source_run=about.get("mlflow.sourceRun"),
        time=datetime.fromtimestamp(trace.info.request_time / 1000, UTC).isoformat(),
        error="error" if str(trace.info.state) in ("ERROR", "TraceState.ERROR") else None,
        scores=feedback,
        id=trace.info.trace_id,
    )


def _parse(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return text


def _model(trace: Any) -> str | None:
    """Return the models that the spans name, in the order of their names."""
    found = {span.attributes.get("mlflow.llm.model") for span in trace.data.spans} - {None}
    return " ".join(sorted(map(str, found))) or None


READER = LogReader(
    "mlflow",
    "traces of MLflow",
    lambda source: source.name.startswith((_EXPERIMENT, _RUN)) and not source.is_file,
    _read,
    lambda source: {"task": source.name.removeprefix(_EXPERIMENT)},
)
