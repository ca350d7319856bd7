"""Test runs of deepeval: what it keeps in ``DEEPEVAL_RESULTS_FOLDER``, or as its latest run."""

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from plenum_verdicts.readers.fields import drop_missing, list_records, make_text
from plenum_verdicts.readers.json_stream import Missing
from plenum_verdicts.readers.log_reader import LogReader, LogSource, Records

_LATEST = "testRunData"
"""The key under which ``.deepeval/.latest_test_run.json`` has the test run."""

_LISTS = ("testCases", "conversationalTestCases")


def _read(source: LogSource) -> Records:
    # The latest run's file has the test run one level deeper than a results folder's.
    above = (_LATEST,) if _LATEST in source.keys else ()
    for place, test in list_records(source, *above, _LISTS[0]):
        yield place, _row(test)
    with suppress(Missing):  # an older version has no conversations
        for place, test in list_records(source, *above, _LISTS[1]):
            yield f"conversation, {place}", _row(test)


def _row(test: Mapping[str, Any]) -> dict[str, Any]:
    metrics = test.get("metricsData") or []
    scores = {each["name"]: each.get("score") for each in metrics}
    # A test that a metric didn't measure has neither passed nor failed, though deepeval writes it
    # down as a failure.
    whole = all(score is not None and not math.isnan(score) for score in scores.values())
    asked = test["input"] if "input" in test else test.get("scenario") or test.get("name")
    return drop_missing(
        label=make_text(asked),
        content=[asked, test.get("expectedOutput"), test.get("context")],
        decision=test.get("actualOutput") or _last_turn(test),
        right=test.get("success") if whole else math.nan,
        scores=scores,
        expected=test.get("expectedOutput"),
        cost=test.get("tokenCost"),
        tokens_in=test.get("inputTokenCount"),
        tokens_out=test.get("outputTokenCount"),
        text=make_text(asked),
    )


def _last_turn(test: Mapping[str, Any]) -> str:
    """Return what the program said last in a conversation."""
    turns = test.get("turns") or []
    return next((t.get("content") or "" for t in turns[::-1] if t["role"] == "assistant"), "")


READER = LogReader(
    "deepeval",
    "a test run of deepeval",
    lambda source: bool({*_LISTS, _LATEST} & source.keys),
    _read,
    verdict="success",
)
