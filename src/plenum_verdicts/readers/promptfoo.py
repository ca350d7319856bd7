"""Results of promptfoo, ``-o results.json`` or ``.jsonl``: its tests are cases, repeats are runs.

``--repeat 3`` writes each test three times, under other numbers; they are equal in their variables,
description and assertions.
"""

from collections.abc import Mapping
from typing import Any

from plenum_verdicts.readers.fields import (
    CaseNames,
    drop_missing,
    list_records,
    make_label,
    make_text,
)
from plenum_verdicts.readers.log_reader import LogReader, LogSource, Records

_ERROR = 2
"""The ``failureReason`` of a run that ended in an error; 1 is a failed assertion."""


def _recognises(source: LogSource) -> bool:
    keys = source.keys
    inside = "evalId" in keys and any(key.startswith("results.") for key in keys)
    line = {"promptIdx", "testIdx"} <= keys
    return inside or line or "results.results[].testIdx" in keys


def _read(source: LogSource) -> Records:
    names = CaseNames()
    for place, result in list_records(source.path, "results", "results"):
        yield place, _row(result, names)


def _row(result: Mapping[str, Any], names: CaseNames) -> dict[str, Any]:
    test = result.get("testCase") or {}
    given = result.get("vars") or test.get("vars") or {}
    response, prompt = result.get("response") or {}, result.get("prompt") or {}
    asked = {key: each for key, each in given.items() if not key.startswith("_")}
    told = str(test.get("description") or make_label(asked) or prompt.get("raw") or "")
    used = response.get("tokenUsage") or result.get("tokenUsage") or {}
    row = drop_missing(
        case=names.name(told, asked, test.get("assert")),
        decision=make_text(response.get("output")),
        right=bool(result["success"]),
        score=result.get("score"),
        cost=result.get("cost"),
        latency_ms=result.get("latencyMs"),
        tokens_in=used.get("prompt"),
        tokens_out=used.get("completion"),
        model=_provider(result.get("provider")),
        wording=prompt.get("label"),
        scores=result.get("namedScores"),
        vars=asked,
    )
    if result.get("failureReason", _ERROR) == _ERROR and result.get("error"):
        row["error"] = make_text(result["error"])
    return row


def _provider(provider: Any) -> str | None:
    if isinstance(provider, Mapping):
        return make_text(provider.get("label") or provider.get("id"))
    return None if provider is None else make_text(provider)


READER = LogReader("promptfoo", "results of promptfoo", _recognises, _read)
