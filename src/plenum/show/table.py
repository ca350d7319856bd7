"""Tables as data: a frame, and columns that format its values.

The CSV of a table is its frame. What a reader sees in a terminal, in Markdown, LaTeX or HTML is
formatted by the columns, and nowhere else: see `plenum.show.terminal_tables`, `markdown` and
`latex`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from plenum.show.formats import format_text

Format = Callable[..., str]
"""A function that makes a cell of a value, or of several."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name
        The column of the frame, or several that share a cell. One that the frame lacks has no
        values.
    label
        The head; the name, with spaces, where none is given.
    format
        Makes the cell of the values, given by position.
    key
        True if it names a line: it is repeated where a page is too narrow for all columns.
    """

    name: str | tuple[str, ...]
    label: str | None = None
    format: Format = format_text
    key: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the frame that the cells are made of."""
        return (self.name,) if isinstance(self.name, str) else self.name

    @property
    def head(self) -> str:
        """Text above the cells."""
        return " ".join(self.names).replace("_", " ") if self.label is None else self.label

    def cells(self, frame: pd.DataFrame) -> list[str]:
        """Format the cells of every line of a frame."""
        missing = [None] * len(frame)
        values = [frame[name].tolist() if name in frame else missing for name in self.names]
        return [self.format(*line) for line in zip(*values, strict=True)]


@dataclass(frozen=True, eq=False)
class Table:
    """A table.

    Attributes
    ----------
    name
        Of its CSV file, without the ending. Tables of one name show the same frame.
    title
        What stands above it.
    frame
        One row a line, with all that the CSV has.
    columns
        What of the frame is shown; those that name a line come first.
    notes
        What a reader must know, a line each.
    totals
        Lines that sum the others up: shown below them, and left out of the CSV.
    """

    name: str
    title: str
    frame: pd.DataFrame
    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()
    totals: pd.DataFrame | None = None

    @property
    def head(self) -> tuple[str, ...]:
        """The heads of the columns."""
        return tuple(column.head for column in self.columns)

    @cached_property
    def body(self) -> tuple[tuple[str, ...], ...]:
        """The cells, line by line."""
        frames = [self.frame] if self.totals is None else [self.frame, self.totals]
        return tuple(
            line
            for frame in frames
            for line in zip(*(column.cells(frame) for column in self.columns), strict=True)
        )

    @property
    def keys(self) -> int:
        """The number of columns that name a line."""
        return sum(column.key for column in self.columns)

    def __len__(self) -> int:
        return len(self.frame) + (0 if self.totals is None else len(self.totals))

    def first(self, count: int, ordered: pd.DataFrame | None = None, which: str = "") -> "Table":
        """Cut to the first lines, with a note that counts all of them.

        Parameters
        ----------
        ordered, which
            The frame in another order, and which lines come first there.
        """
        if len(self.frame) <= count:
            return self
        frame = self.frame if ordered is None else ordered
        first = (
            f"{count} of {len(frame):,} lines, {which}"
            if which
            else f"the first {count} of {len(frame)} lines"
        )
        cut = f"{first}; the CSV files have all"
        return replace(self, frame=frame.head(count), notes=(cut, *self.notes))

    def with_columns(self, columns: Sequence[Column]) -> "Table":
        """Return the same table with other columns shown."""
        return replace(self, columns=tuple(columns))


def make_keys(names: Sequence[str]) -> tuple[Column, ...]:
    """Make columns that name a line, under their own names."""
    return tuple(Column(name, name, key=True) for name in names)


def format_csv(frame: pd.DataFrame) -> str:
    """Write a frame as CSV; several values in a cell are separated by spaces."""
    several = {
        str(name): [_side_by_side(value) for value in values]
        for name, values in frame.items()
        if any(issubclass(kind, Mapping | tuple) for kind in set(map(type, values)))
    }
    return frame.assign(**several).to_csv(index=False, lineterminator="\n")


def _side_by_side(value: Any) -> Any:
    if isinstance(value, Mapping):
        return " ".join(f"{name}:{part:.2f}" for name, part in value.items())
    if isinstance(value, tuple):
        return " ".join(f"{part:.6g}" if isinstance(part, float) else str(part) for part in value)
    return value
