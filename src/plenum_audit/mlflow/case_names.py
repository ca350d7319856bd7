"""Names of cases, and the tags that hold them."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from plenum.base import flatten

CASE, RUN = "plenum.case", "plenum.run"
"""Tags of a trace: the name of its case, and the number of the run from 1."""
LONGEST = 80
"""Number of a text's letters that are shown."""


def format_value(value: Any) -> str:
    """Return a value as canonical JSON; a text as it is, in one line."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return flatten(value)
    if isinstance(value, str):
        return flatten(value)
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def short_name(inputs: Any) -> str:
    """Return a short name of a case: its only input, or all of them."""
    if isinstance(inputs, str):
        try:
            inputs = json.loads(inputs)
        except ValueError:
            return flatten(inputs)[:LONGEST]
    if isinstance(inputs, dict) and len(inputs) == 1:
        inputs = next(iter(inputs.values()))
    return format_value(inputs)[:LONGEST] or "(empty)"


def distinct(names: Sequence[str]) -> list[str]:
    """Return names of which none occurs twice: later ones are numbered from 2 on."""
    return list(_number(names))


def _number(names: Sequence[str]) -> Iterator[str]:
    seen: set[str] = set()
    for name in names:
        number, unique = 1, name
        while unique in seen:
            number += 1
            unique = f"{name} ({number})"
        seen.add(unique)
        yield unique
