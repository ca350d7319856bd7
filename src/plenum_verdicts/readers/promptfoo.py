"""Results of promptfoo, ``-o results.json`` or ``.jsonl``, or what ``evaluate()`` of Node returns.

``--repeat 3`` writes each test three times, under other numbers; they are equal in their variables,
description, assertions and threshold.
"""

import re
from collections.abc import Mapping
from typing import Any

from plenum.base.errors import UserError
from plenum_verdicts.readers.fields import drop_missing, list_records, make_label, make_text
from plenum_verdicts.readers.log_reader import LogReader, LogSource, Records

_OF_TABLE = re.compile(rb"\[(PASS|FAIL|ERROR)\] |Grader Reason,Comment")
"""Marks that only its CSV has: those in cells, or the columns of a grader."""

_ERROR = 2
"""The ``failureReason`` of a run that ended in an error; 1 is a failed assertion."""


def _recognises(source: LogSource) -> bool:
    keys = source.keys
    inside = "evalId" in keys and any(key.startswith("results.") for key in keys)
    line = {"promptIdx", "testIdx"} <= keys
    whole = inside or line or "results.results[].testIdx" in keys
    return whole or _is_of_node(source) or _is_table(source)


def _is_of_node(source: LogSource) -> bool:
    return bool({"results[].promptIdx", "_resultsLoaded"} & source.keys)


def _is_table(source: LogSource) -> bool:
    """Return whether this is the CSV of its page, which has a column for each prompt."""
    prompts = any(name[:1] == "[" for name in source.columns)  # the provider of each
    return prompts and bool(_OF_TABLE.search(source.head))


def _read(source: LogSource) -> Records:
    if source.columns:
        raise UserError(
            f"logs={source.name}: a CSV of promptfoo has a test in each row and no repeats, costs "
            "or assertions; export promptfoo eval --repeat 3 -o results.json"
        )
    keys = ("results",) if _is_of_node(source) else ("results", "results")
    for place, result in list_records(source, *keys):
        yield place, _row(result)


def _row(result: Mapping[str, Any]) -> dict[str, Any]:
    test = result.get("testCase") or {}
    given = result.get("vars") or test.get("vars") or {}
    response, prompt = result.get("response") or {}, result.get("prompt") or {}
    asked = {key: each for key, each in given.items() if not key.startswith("_")}
    used = response.get("tokenUsage") or result.get("tokenUsage") or {}
    checked = [test.get(name) for name in ("description", "assert", "threshold")]
    return drop_missing(
        label=str(test.get("description") or make_label(asked) or prompt.get("raw") or ""),
        content=[asked, *checked],
        decision=make_text(response.get("output")),
        right=bool(result["success"]),
        score=result.get("score"),
        cost=result.get("cost"),
        latency_ms=result.get("latencyMs"),
        tokens_in=used.get("prompt"),
        tokens_out=used.get("completion"),
        model=_provider(result.get("provider")),
        wording=prompt.get("label"),
        text=prompt.get("raw"),
        scores=result.get("namedScores"),
        vars=asked,
        cached=response.get("cached") or None,
        error=_error(result),
    )


def _error(result: Mapping[str, Any]) -> str | None:
    """Return why a run failed; ``None`` for a failed assertion.

    Versions before 3 have no ``failureReason`` and write the reason of a failed assertion into
    ``error``, too; a run that failed wasn't graded.
    """
    graded = isinstance(result.get("gradingResult"), Mapping)
    failed = result.get("failureReason", 0 if graded else _ERROR) == _ERROR
    return make_text(result["error"]) if failed and result.get("error") else None


def _provider(provider: Any) -> str | None:
    if isinstance(provider, Mapping):
        return make_text(provider.get("label") or provider.get("id"))
    return None if provider is None else make_text(provider)


READER = LogReader("promptfoo", "results of promptfoo", _recognises, _read, verdict="success")
