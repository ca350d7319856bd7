"""The papers' printed values: rows of the files in ``reference``."""

import csv
from collections.abc import Iterator

from plenum.base import resolve_path


def reference_rows(name: str) -> Iterator[dict[str, str]]:
    """Yield the rows of ``reference/NAME.csv``, as texts by column."""
    with resolve_path(f"reference/{name}.csv").open(encoding="utf-8") as file:
        yield from csv.DictReader(file)
