"""Values of rows that several readers need: texts, labels of cases, decisions."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from plenum_verdicts.readers import json_stream
from plenum_verdicts.readers.data_sets import Wrong, read_rows

if TYPE_CHECKING:
    from plenum_verdicts.readers.log_reader import LogSource

_ANSWERS = ("decision", "answer", "output", "label", "result", "response")
"""Keys of an output whose value is the decision, in this order."""


def make_text(value: Any) -> str:
    """Return a text as it is, nothing as empty, and other values as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def make_label(inputs: Any) -> str:
    """Return a case's inputs in words: the only value, or ``name=value, ...``."""
    if isinstance(inputs, Mapping) and len(inputs) == 1:
        return make_text(next(iter(inputs.values())))
    if isinstance(inputs, Mapping):
        return ", ".join(f"{name}={make_text(value)}" for name, value in inputs.items())
    return make_text(inputs)


def find_decision(output: Any) -> str:
    """Return the decision in an output: itself, its only value, or that of a telling key."""
    if isinstance(output, Mapping | list) and not output:
        return ""
    if isinstance(output, Mapping):
        known = [output[key] for key in _ANSWERS if key in output]
        if known or len(output) == 1:
            return make_text((known or list(output.values()))[0])
    return make_text(output)


def list_records(source: "LogSource", *keys: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects of a JSON list, which may lie at some keys, of lines of JSON, or of a CSV.

    Raises
    ------
    Wrong
        One of them is no object.
    """
    placed: Iterable[tuple[str, Any]]
    if source.columns or source.is_lines:
        placed = read_rows(source.path, "" if source.columns else ".jsonl")
    else:
        listed = json_stream.items(source.path, *keys)
        placed = ((f"record {n}", each) for n, each in enumerate(listed, 1))
    for place, record in placed:
        if isinstance(record, Wrong):
            raise Wrong(f"{place}: {record}")
        if not isinstance(record, Mapping):
            raise Wrong(f"{place} is no object")
        yield place, record


def drop_missing(**values: Any) -> dict[str, Any]:
    """Return the fields that have a value."""
    return {name: value for name, value in values.items() if value is not None}
