"""Columns of a log by the field of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plenum.base import UserError
from plenum_audit.programs.cases import COLUMNS as OF_DATA_SETS
from plenum_audit.programs.data_sets import Row

FIELDS = (
    "case", "decision", "run", "error", "messages", "cost", "tokens_in", "tokens_out", "model",
    "text", "options", "answer",
)  # fmt: skip
"""Fields of a log's row, about a run and its case."""

DOCS = "docs/audit-logs.md"
"""The page on the format of logs."""

HOW = f"give case, decision, maybe run, or name your columns by columns={{case: ...}}: {DOCS}"

NOT_RENAMED: Mapping[str, Any] = OF_DATA_SETS
"""The config's columns if the user named none."""


@dataclass
class Columns:
    """The columns that a user named, and those found in rows so far.

    Attributes
    ----------
    named
        Columns by field; for ``options`` several columns, or names by label.
    """

    named: Mapping[str, Any]
    _unseen: set[str] = field(default_factory=set)
    _first: Sequence[str] = ()

    @classmethod
    def of(cls, columns: Mapping[str, Any]) -> "Columns":
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
        return cls(named, seen)

    def require_none(self, path: Path) -> None:
        """Refuse columns for a log with fixed fields.

        Raises
        ------
        UserError
            One was named.
        """
        for name in self.named:
            raise UserError(f"columns.{name}: {path} is a log of inspect, whose fields are known")

    def fields(self, row: Row) -> Row:
        """Return a row with its fields under their standard names."""
        if not self.named:
            return row
        self._first = self._first or tuple(map(str, row))
        self._unseen -= row.keys()
        moved = {column for of in self.named.values() for column in _columns(of)}
        kept = {name: value for name, value in row.items() if name not in moved | self.named.keys()}
        return kept | {
            name: value for name in self.named if (value := self._value(row, name)) is not None
        }

    def missing(self, name: str) -> str:
        """Return the reason why a field is missing: it, or its named column, isn't in the row."""
        if name not in self.named:
            return f"no {name}; {HOW}"
        known = ", ".join(self._first)[:300]
        return f"no column {self.named[name]}, which columns.{name} names; there are {known}"

    def require_seen(self, path: Path) -> None:
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
                    f"columns.{name}: no row of {path} has a column {min(missing)}; the first one "
                    f"has {known}"
                )

    def _value(self, row: Row, name: str) -> Any:
        of = self.named[name]
        if isinstance(of, str):
            return row.get(of)
        if isinstance(of, Mapping):
            return dict(of)
        return [row[column] for column in of if row.get(column) not in (None, "")] or None


def _columns(of: Any) -> Sequence[str]:
    """Return the names of a field's columns."""
    if isinstance(of, Mapping):
        return ()
    return (of,) if isinstance(of, str) else tuple(map(str, of))
