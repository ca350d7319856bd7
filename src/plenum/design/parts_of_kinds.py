"""Kinds of packages of version 0.2, which named the code of a station by a dotted text."""

from collections.abc import Callable, Mapping
from functools import partial
from pkgutil import resolve_name
from typing import Any

from plenum.base.extensions import blame_part
from plenum.base.moved import warn_once

_PARTS = {
    "compose": "compose", "converse": "conversation", "find_longest_run": "longest_run",
    "find_longest_answer": "longest_answer", "require_context": "require_context",
    "answer": "simulated_agent", "estimate": "estimates", "tabulate": "tables", "plan": "plan",
    "read_fields": "tracked", "measure_rounds": "by_round", "publish_tables": "report_tables",
    "make_frames": "report_frames", "publish_figures": "report_figures", "explore": "explorer",
    "compose_report": "report",
}  # fmt: skip
"""Names in version 0.2 of the stations of :class:`plenum.design.kinds.Kind`."""


def adopt_parts(kind: object, name: str, parts: Mapping[str, str]) -> None:
    """Give a kind the stations that it names as ``module:attribute``, and warn in a line.

    Parts are loaded when they are used. What ``report_tables`` returned, ``findings`` made
    sentences of.
    """
    warn_once(
        f"deprecated: the kind of study {name} names its parts by dotted texts; they are methods "
        "of plenum.design.kinds.Kind now, and texts of version 0.2 are read until 0.5"
    )
    made = {each: partial(_call, parts[part]) for each, part in _PARTS.items() if part in parts}
    if "publish_tables" in made:
        made["publish_tables"] = partial(_publish, made["publish_tables"], parts.get("findings"))
    vars(kind).update(made, splits="split" in parts)  # around the lock of a frozen dataclass


def _call(path: str, *given: Any) -> Any:
    with blame_part(f"kind of study: {path}"):
        part = resolve_name(path)
    return part(*given) if given else part  # how studies are explored is a value


def _publish(publish_tables: Callable[..., Any], findings: str | None, chosen: object) -> Any:
    shown = publish_tables(chosen)
    return _call(findings, shown) if findings else []
