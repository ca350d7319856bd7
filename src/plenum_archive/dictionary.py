"""The data dictionary: what every column and field of an archive means."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pandas as pd

from plenum.reports import table

_FILE = Path(__file__).with_name("dictionary.csv")
_EARLIER = Path(__file__).with_name("dictionary_earlier.csv")
"""Lines that archives of earlier versions may have: a line that is changed above moves here."""


@dataclass(frozen=True)
class Entry:
    """A column or field, or several that are alike.

    Attributes
    ----------
    file
        Names of files, ``*`` for any; of a transcript with ``#`` and the kind of line.
    field
        Its name, ``*`` for any; fields within fields are joined by dots.
    """

    file: str
    field: str
    type: str
    unit: str
    range: str
    meaning: str

    def of(self, name: str) -> bool:
        """Whether it belongs to a file, whatever the kind of line."""
        return any(fnmatchcase(name, pattern.partition("#")[0]) for pattern in self.file.split())

    def describes(self, name: str, field: str) -> bool:
        """Whether it says what a field of a file means; ``name`` may have the kind of line."""
        in_file = any(fnmatchcase(name, pattern) for pattern in self.file.split())
        return in_file and any(fnmatchcase(field, pattern) for pattern in self.field.split())


@cache
def entries() -> tuple[Entry, ...]:
    """The whole dictionary."""
    with _FILE.open(encoding="utf-8", newline="") as file:
        return tuple(Entry(**row) for row in csv.DictReader(file))


def problem(data: bytes, names: Iterable[str], *, same_version: bool) -> str:
    """What is wrong with the dictionary of an archive that has these files; empty if nothing is.

    Parameters
    ----------
    same_version
        Whether this version of plenum wrote the archive. Another one may have known fewer columns,
        or have said the same in the words of :data:`_EARLIER`.
    """
    expected = of(names)
    if data == expected:
        return ""
    if not same_version:
        known = {*expected.splitlines(), *_EARLIER.read_bytes().splitlines()}
        header, *rows = data.splitlines() or [b""]
        if header == expected.splitlines()[0] and known.issuperset(rows):
            return ""
    return "it isn't what plenum says of these files"


def of(names: Iterable[str]) -> bytes:
    """The dictionary of the files that an archive has, as CSV."""
    names = list(names)
    described = [entry for entry in entries() if any(map(entry.of, names))]
    return table.csv(pd.DataFrame(described, columns=[f.name for f in fields(Entry)])).encode()
