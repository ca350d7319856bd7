"""Values of rows that several readers need: names of cases, texts, the score that counts."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from plenum_verdicts.readers import json_stream
from plenum_verdicts.readers.data_sets import Wrong, read_rows

_RIGHT = ("correct", "correctness", "right", "accuracy", "exact_match", "success", "pass", "reward")
"""Names of scores that say whether a run is right."""

_ANSWERS = ("decision", "answer", "output", "label", "result", "response")
"""Keys of an output whose value is the decision, in this order."""

_LONGEST = 80
_encode = json.JSONEncoder(sort_keys=True, default=str).encode


class CaseNames:
    """Readable names of cases that a tool doesn't name, the same for equal cases."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()

    def name(self, label: str, *content: Any) -> str:
        """Return the name of a case: a label, and a number if another case has the same label."""
        key = _encode([label, content])
        if key not in self._names:
            short = " ".join(label.split())[:_LONGEST] or "case"
            name, number = short, 2
            while name in self._taken:
                name, number = f"{short} ({number})", number + 1
            self._names[key] = name
            self._taken.add(name)
        return self._names[key]


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
    if isinstance(output, Mapping) and output:
        known = [output[key] for key in _ANSWERS if key in output]
        if known or len(output) == 1:
            return make_text((known or list(output.values()))[0])
    return make_text(output)


def collect_scores(scores: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields ``scores``, and ``score`` and ``right`` if one of the scores counts.

    It counts if it is the only one, or the only one whose name says that it is about being right.
    A ``true`` or 1 is right, a ``false`` or 0 wrong.
    """
    numbers = {name: float(v) for name, v in scores.items() if isinstance(v, bool | int | float)}
    telling = [name for name in numbers if name.lower() in _RIGHT]
    counting = telling if len(telling) == 1 else list(numbers)
    if len(counting) != 1:
        return {"scores": numbers} if numbers else {}
    value = numbers[counting[0]]
    return {"scores": numbers, "score": value} | ({"right": bool(value)} if value in (0, 1) else {})


def list_records(path: Path, *keys: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects of a JSON list, which may lie at some keys, or of lines of JSON.

    Raises
    ------
    Wrong
        One of them is no object.
    """
    placed: Iterable[tuple[str, Any]]
    if path.suffix == ".jsonl":
        placed = read_rows(path)
    else:
        placed = ((f"record {n}", each) for n, each in enumerate(json_stream.items(path, *keys), 1))
    for place, record in placed:
        if isinstance(record, Wrong):
            raise record
        if not isinstance(record, Mapping):
            raise Wrong(f"{place} is no object")
        yield place, record


def drop_missing(**values: Any) -> dict[str, Any]:
    """Return the fields that have a value."""
    return {name: value for name, value in values.items() if value is not None}
