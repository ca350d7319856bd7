"""Experiments of LangSmith: examples are cases, repetitions are runs, feedback is the score.

The export is a list, in JSON or in lines, of examples with their runs (what the client's
``get_experiment_results`` yields), or of runs; or the CSV of ``to_pandas()``.
"""

import ast
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from plenum_verdicts.readers.fields import drop_missing, find_decision, list_records, make_label
from plenum_verdicts.readers.log_reader import LogReader, LogSource, Records


def _recognises(source: LogSource) -> bool:
    keys = {key.removeprefix("[].") for key in source.keys}
    with_runs = {"runs", "dataset_id"} <= keys or "runs[].reference_example_id" in keys
    # Phoenix has an example_id, too; only LangSmith's columns are parts of inputs and outputs.
    parts = {name.partition(".")[0] for name in source.columns}
    table = "example_id" in source.columns and {"inputs", "outputs"} <= parts
    return with_runs or "reference_example_id" in keys or table


def _read(source: LogSource) -> Records:
    if source.columns:
        yield from _of_csv(source)
        return
    for place, record in list_records(source):
        for number, (example, run) in enumerate(_runs(record), 1):
            yield f"{place}, run {number}", _row(example, run)


def _runs(record: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield each run with its example, which may be known by its id alone."""
    if "runs" in record:
        yield from ((record, run) for run in record["runs"])
    else:
        yield {"id": record["reference_example_id"], "inputs": record.get("inputs")}, record


def _row(example: Mapping[str, Any], run: Mapping[str, Any]) -> dict[str, Any]:
    feedback = {
        key: each.get("avg") if isinstance(each, Mapping) else each
        for key, each in (run.get("feedback_stats") or {}).items()
    }
    about = ((run.get("extra") or {}).get("metadata")) or {}
    cost = run.get("total_cost")
    return drop_missing(
        case=str(example["id"]),
        text=make_label(example.get("inputs")),
        decision=find_decision(run.get("outputs")),
        cost=None if cost is None else float(cost),
        tokens_in=run.get("prompt_tokens"),
        tokens_out=run.get("completion_tokens"),
        model=about.get("ls_model_name") or about.get("model"),
        version=about.get("revision_id"),
        time=run.get("start_time"),
        error=run.get("error"),
        scores=feedback,
        id=run.get("id"),
    )


def _of_csv(source: LogSource) -> Records:
    for place, row in list_records(source):
        parts: dict[str, dict[str, Any]] = {"inputs": {}, "outputs": {}, "feedback": {}}
        for column, value in row.items():
            part, _, name = column.partition(".")
            # An empty cell is a key that this row doesn't have, not an empty value.
            if part in parts and value != "":
                parts[part] |= {name: value} if name else _unpack(value)
        run = {"outputs": parts["outputs"], "error": row.get("error"), "id": row.get("id")}
        example = {"id": row["example_id"], "inputs": parts["inputs"]}
        yield place, _row(example, {**run, "feedback_stats": parts["feedback"]})


def _unpack(cell: str) -> dict[str, Any]:
    """Return a column of dicts, which pandas writes as Python or as JSON."""
    for read in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError, RecursionError):
            if isinstance(value := read(cell), dict):
                return value
    return {"output": cell}


READER = LogReader("langsmith", "an experiment of LangSmith", _recognises, _read)
