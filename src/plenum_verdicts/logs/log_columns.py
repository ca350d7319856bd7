"""Columns of a log by the field of a run."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from plenum.base.errors import UserError
from plenum.base.json_reply import strip_fence
from plenum.base.reasoning import strip_reasoning
from plenum_verdicts.cases.cases import CASE_COLUMNS as OF_DATA_SETS
from plenum_verdicts.readers.data_sets import Row

FIELDS = (
    "case", "decision", "right", "score", "run", "error", "messages", "cost", "tokens_in",
    "tokens_out", "model", "version", "fingerprint", "wording", "time", "seed", "text", "options",
    "answer", "scores", "cached", "domain", "scorer",
)  # fmt: skip
"""Fields of a log's row, about a run and its case."""

_KNOWN = frozenset(FIELDS)

_OTHER_NAMES = {
    "text": ("question", "problem", "query", "input", "prompt", "instruction"),
    "domain": ("task", "dataset", "benchmark", "subset"),
    "scorer": ("judge", "grader", "evaluator"),
    "cached": ("cachehit", "fromcache", "iscached", "cachestatus", "cache"),
}
"""Names of a field in tables of people's own, in lower case and without underscores."""

DOCS = "docs/audit-logs.md"
"""The page on the format of logs."""

HOW = (
    "give case and decision, right or score, or name your columns by "
    f"columns={{case: ..., decision: ...}}: {DOCS}"
)

NOT_RENAMED: Mapping[str, Any] = OF_DATA_SETS
"""The config's columns if the user named none."""


@dataclass
class Columns:
    """The columns that a user named, and those found in rows so far.

    Attributes
    ----------
    named
        Columns by field; for ``options`` several columns, or names by label. A column in a column
        is named with dots: ``scores.exact_match``.
    kept
        Columns that are kept besides the fields.
    moved
        Columns that ``named`` gives to a field.
    """

    named: Mapping[str, Any]
    kept: Sequence[str] = ()
    moved: frozenset[str] = frozenset()
    _unseen: set[str] = field(default_factory=set)
    _first: Sequence[str] = ()

    @cached_property
    def known(self) -> frozenset[str]:
        """Columns that are fields, or given to one."""
        return _KNOWN | self.moved

    @classmethod
    def of(cls, columns: Mapping[str, Any], kept: Sequence[str] = ()) -> "Columns":
        """Return the columns of a log, given those in the config, which may be of data sets.

        Raises
        ------
        UserError
            One is of an unknown field, or isn't a name.
        """
        named = {name: of for name, of in columns.items() if NOT_RENAMED.get(name) != of}
        if unknown := [name for name in named if name not in FIELDS]:
            raise UserError(
                f"columns.{unknown[0]}: unknown for logs=; the fields of a log are "
                f"{', '.join(FIELDS)} ({DOCS})"
            )
        for name, of in named.items():
            if not (isinstance(of, str) and of) and not (name == "options" and of):
                raise UserError(f"columns.{name}: {of!r}; give the name of a column ({DOCS})")
        seen = {column for name in named for column in _columns(named[name])}
        return cls(named, kept, frozenset(seen), seen)

    def fields(self, row: Row) -> dict[str, Any]:
        """Return a row's fields under their standard names, and the columns that are kept."""
        self._first = self._first or tuple(map(str, row))
        if self._unseen:
            self._unseen = {c for c in self._unseen if read_column(row, c) is ABSENT}
        own = _KNOWN - self.moved - self.named.keys()
        found = {  # without the scores of a tool that named none: each row would keep the dict
            name: value
            for name, value in row.items()
            if (name in own or name in self.kept) and (value or name != "scores")
        }
        for name in self.named:
            if (value := self._value(row, name)) is not None:
                found[name] = value
        return found

    def add_others(self, row: Row, found: dict[str, Any]) -> None:
        """Add the fields that a table of one's own has under other names.

        Of several questions the first counts; a domain may be a data set and its part.
        """
        for name, column in _list_others(tuple(row)):
            value, given = row[column], found.get(name) or ""
            if value not in (None, "") and column not in self.moved and name not in self.named:
                joined = f"{given}, {value}" if given and name != "text" else given
                found[name] = joined or str(value)

    def explain_missing(self, name: str) -> str:
        """Return the reason why a field is missing: it, or its named column, isn't in the row."""
        if name not in self.named:
            return f"no {name}; {HOW}"
        known = ", ".join(self._first)[:300]
        return f"no column {self.named[name]}, which columns.{name} names; there are {known}"

    def require_seen(self, place: str) -> None:
        """Refuse columns that no row has.

        Raises
        ------
        UserError
            There is one.
        """
        for name, of in self.named.items():
            if missing := self._unseen.intersection(_columns(of)):
                known = ", ".join(self._first)[:300]
                raise UserError(
                    f"columns.{name}: no row of {place} has a column {min(missing)}; the first one "
                    f"has {known}"
                )

    def _value(self, row: Row, name: str) -> Any:
        of = self.named[name]
        if isinstance(of, str):
            return _read_given(row, of)
        if isinstance(of, Mapping):
            return dict(of)
        found = (_read_given(row, column) for column in of)
        return [value for value in found if value not in (None, "")] or None


@lru_cache(64)
def _list_others(columns: Sequence[str]) -> list[tuple[str, str]]:
    """Return the fields that columns are other names of, each with its column."""
    plain = {re.sub(r"[\W_]", "", str(column)).lower(): column for column in columns}
    return [(n, plain[o]) for n, others in _OTHER_NAMES.items() for o in others if o in plain]


ABSENT = object()


def read_column(row: Row, name: str) -> Any:
    """Return a column, or one in a column, which may be JSON, by its path; else ``ABSENT``."""
    if name in row or not ("." in name or "[" in name):
        return row.get(name, ABSENT)
    value: Any = row
    for key, item in _PART.findall(name):
        value = _item(value, item) if item else _unpack(value)
        if not item:
            value = value.get(key, ABSENT) if isinstance(value, Mapping) else ABSENT
    return value


_PART = re.compile(r"([^.\[\]]+)|\[([^\]]*)\]")
"""A part of a path: a key, or an item of a list in brackets."""


def _item(value: Any, item: str) -> Any:
    """Return an item of a list by its place, or the one with a value: ``name=quality``."""
    value = _unpack(value)
    key, _, wanted = item.partition("=")
    for number, each in enumerate(value if isinstance(value, list) else ()):
        if str(number) == item or (isinstance(each, Mapping) and str(each.get(key)) == wanted):
            return each
    return ABSENT


def _unpack(value: Any) -> Any:
    """Read JSON in a cell, which a model may have fenced, or reasoned about before."""
    if isinstance(value, str) and value.lstrip()[:1] in _BEGINNINGS:
        with suppress(ValueError, RecursionError):
            return json.loads(strip_fence(strip_reasoning(value)))
    return value


_BEGINNINGS = ("{", "[", "`", "<")
"""Beginnings of JSON, of a fence, and of reasoning."""


def is_chosen(row: Row, where: Mapping[str, Any]) -> bool:
    """Return whether a row counts, by a value or a list of values of columns.

    Examples
    --------
    >>> is_chosen({"type": "match", "data": {"n": 1}}, {"type": ["match", "metrics"], "data.n": 1})
    True
    """
    return all(
        str(read_column(row, name)) in map(str, of if isinstance(of, list | tuple) else [of])
        for name, of in where.items()
    )


def _read_given(row: Row, name: str) -> Any:
    value = read_column(row, name)
    return None if value is ABSENT else value


def _columns(of: Any) -> Sequence[str]:
    """Return the names of a field's columns."""
    if isinstance(of, Mapping):
        return ()
    return (of,) if isinstance(of, str) else tuple(map(str, of))
