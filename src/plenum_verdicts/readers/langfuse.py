"""Experiments of Langfuse: items of the data set are cases, several experiments are repeats.

The export is what the API returns for the items of experiments, with the fields ``io`` and
``scores``, alone or under ``data``; or items of older dataset runs, each with its ``trace``.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from plenum_verdicts.readers.data_sets import Wrong
from plenum_verdicts.readers.fields import drop_missing, find_decision, list_records, make_label
from plenum_verdicts.readers.log_reader import LogReader, LogSource, Records

_WRAPPED = ("data", "datasetRunItems")


def _recognises(source: LogSource) -> bool:
    keys = {key.split("[].")[-1] for key in source.keys}
    return "experimentItemId" in keys or "datasetItemId" in keys


def _read(source: LogSource) -> Records:
    wrapped = [key for key in _WRAPPED if key in source.keys][:1]
    for place, record in list_records(source, *wrapped):
        for item in _items(record):
            if "experimentItemId" not in item and item["trace"] is None:
                yield place, Wrong("its trace is null, as of a deleted one; take the record out")
            else:
                yield place, _row(item)


def _items(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the items of a page of the API, of a dataset run, or the item that this is."""
    lists = (record[key] for key in _WRAPPED if isinstance(record.get(key), list))
    yield from next(lists, [record])


def _row(item: Mapping[str, Any]) -> dict[str, Any]:
    case = item.get("experimentItemId")
    held = item if case else {**item, **item["trace"]}
    about = held.get("metadata")
    failed = held.get("level") == "ERROR"
    return drop_missing(
        case=str(case or item["datasetItemId"]),
        text=make_label(held.get("input")),
        decision=find_decision(held.get("output")),
        experiment=item.get("experimentName") or item.get("datasetRunName"),
        cost=held.get("totalCost"),
        model=about.get("model") if isinstance(about, Mapping) else None,
        version=held.get("version") or held.get("release"),
        time=held.get("startTime") or held.get("timestamp") or held.get("createdAt"),
        id=held.get("id"),
        error=(held.get("statusMessage") or "error") if failed else None,
        # A category has its name beside a number that may be null.
        scores={
            each["name"]: each.get("stringValue") if each.get("value") is None else each["value"]
            for each in held.get("scores") or []
        },
    )


READER = LogReader("langfuse", "an experiment of Langfuse", _recognises, _read)
