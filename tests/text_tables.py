"""Tables of cells that are text already."""

from collections.abc import Sequence

import pandas as pd

from plenum.show.table import Column, Table


def of_cells(
    title: str,
    head: Sequence[str],
    body: Sequence[Sequence[str]],
    notes: Sequence[str],
    keys: int = 1,
) -> Table:
    """A table of cells."""
    columns = tuple(Column(str(at), label, key=at < keys) for at, label in enumerate(head))
    frame = pd.DataFrame([list(line) for line in body], columns=[c.names[0] for c in columns])
    return Table("", title, frame, columns, tuple(notes))
