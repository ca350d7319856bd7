"""Test runs of deepeval, ``DEEPEVAL_RESULTS_FOLDER``: equal inputs are a case."""

from plenum_verdicts.readers.fields import CaseNames, drop_missing, list_records
from plenum_verdicts.readers.log_reader import LogReader, LogSource, Records


def _read(source: LogSource) -> Records:
    names = CaseNames()
    for place, test in list_records(source.path, "testCases"):
        metrics = test.get("metricsData") or []
        scores = {each["name"]: each["score"] for each in metrics if each.get("score") is not None}
        errors = [each["error"] for each in metrics if each.get("error")]
        row = drop_missing(
            case=names.name(str(test["input"]), test.get("expectedOutput"), test.get("context")),
            decision=test.get("actualOutput") or "",
            right=test.get("success"),
            score=sum(scores.values()) / len(scores) if scores else None,
            scores=scores,
            expected=test.get("expectedOutput"),
            cost=test.get("tokenCost"),
            tokens_in=test.get("inputTokenCount"),
            tokens_out=test.get("outputTokenCount"),
            text=test["input"],
            error=errors[0] if errors and not scores else None,
        )
        yield place, row


READER = LogReader(
    "deepeval", "a test run of deepeval", lambda source: "testCases" in source.keys, _read
)
