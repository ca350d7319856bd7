"""Experiments of Phoenix, as its page or its API exports them: in CSV, in JSON, in lines of JSON.

An example of the data set is a case, its repetitions are the runs, annotations are the scores.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from plenum_verdicts.readers.fields import drop_missing, find_decision, list_records, make_label
from plenum_verdicts.readers.log_reader import LogReader, LogSource, Records

_MARKS = {"example_id", "reference_output", "output"}
"""Fields that only Phoenix has together."""

_ANNOTATION = re.compile("annotation_(.+)_(score|label)")


def _recognises(source: LogSource) -> bool:
    keys = {key.removeprefix("[].") for key in source.keys}
    return source.columns >= _MARKS or keys >= _MARKS


def _read(source: LogSource) -> Records:
    for place, record in list_records(source):
        yield place, _row({name: _unpack(value) for name, value in record.items()})


def _row(run: Mapping[str, Any]) -> dict[str, Any]:
    return drop_missing(
        case=str(run["example_id"]),
        text=make_label(run.get("input")),
        decision=find_decision(run.get("output")),
        expected=run.get("reference_output"),
        run=run.get("repetition_number"),
        time=run.get("start_time"),
        id=run.get("trace_id"),
        latency_ms=run.get("latency_ms"),
        tokens_in=run.get("prompt_token_count"),
        tokens_out=run.get("completion_token_count"),
        error=run.get("error"),
        scores=_scores(run),
    )


def _scores(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the score of each annotation, or its label where it has no score."""
    found: dict[str, dict[str, Any]] = {}
    for each in run.get("annotations") or []:
        found[each["name"]] = {"score": each.get("score"), "label": each.get("label")}
    for name, value in run.items():
        if part := _ANNOTATION.fullmatch(name):
            found.setdefault(part[1], {})[part[2]] = value
    return {
        name: each.get("label") if each.get("score") in (None, "") else each["score"]
        for name, each in found.items()
    }


def _unpack(value: Any) -> Any:
    """Return an object that a cell of a CSV holds as JSON; other values as they are."""
    if isinstance(value, str) and value[:1] == "{":
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return None if value == "" else value


READER = LogReader("phoenix", "an experiment of Phoenix", _recognises, _read)
