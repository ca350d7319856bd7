"""Test runs of deepeval: what it keeps in ``DEEPEVAL_RESULTS_FOLDER``, or as its latest run."""

from collections.abc import Iterator, Mapping
from typing import Any

from plenum_verdicts.readers.fields import drop_missing, list_records, make_text
from plenum_verdicts.readers.json_stream import Missing
from plenum_verdicts.readers.log_reader import LogReader, LogSource, Records

_LATEST = "testRunData"
"""The key under which ``.deepeval/.latest_test_run.json`` has the test run."""

_LISTS = ("testCases", "conversationalTestCases")


def _read(source: LogSource) -> Records:
    above = (_LATEST,) if _LATEST in source.keys else ()
    found = False
    for name in _LISTS:
        try:
            for place, test in list_records(source, *above, name):
                found = True
                yield f"{name}, {place}", _row(test)
        except Missing:  # an older version has no conversations
            if found or name == _LISTS[-1]:
                continue
            raise


def _row(test: Mapping[str, Any]) -> dict[str, Any]:
    metrics = test.get("metricsData") or []
    scores = {each["name"]: each.get("score") for each in metrics}
    # NaN is unequal to itself. A test that a metric didn't measure has neither passed nor failed,
    # though deepeval writes it down as a failure.
    whole = all(score is not None and score == score for score in scores.values())
    asked = test["input"] if "input" in test else test.get("scenario") or test.get("name")
    output = test.get("actualOutput")
    return drop_missing(
        label=make_text(asked),
        content=[asked, test.get("expectedOutput"), test.get("context")],
        decision=(_last_turn(test) if output is None else output) or "",
        right=test.get("success") if whole else None,
        scores=scores,
        expected=test.get("expectedOutput"),
        cost=test.get("tokenCost"),
        tokens_in=test.get("inputTokenCount"),
        tokens_out=test.get("outputTokenCount"),
        text=make_text(asked),
    )


def _last_turn(test: Mapping[str, Any]) -> Any:
    """Return what the program said last in a conversation."""
    said: Iterator[Any] = (
        turn.get("content")
        for turn in reversed(test.get("turns") or [])
        if turn.get("role") == "assistant"
    )
    return next(said, None)


READER = LogReader(
    "deepeval",
    "a test run of deepeval",
    lambda source: bool({*_LISTS, _LATEST} & source.keys),
    _read,
    verdict="success",
)
