"""The data dictionary: the meaning of every column and field of an archive."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pandas as pd

from plenum.show.table import format_csv

_FILE = Path(__file__).with_name("dictionary.csv")
_EARLIER = Path(__file__).with_name("dictionary_earlier.csv")
"""Lines of earlier versions' dictionaries. A line that changes above moves here."""


@dataclass(frozen=True)
class DictionaryEntry:
    """The description of a column or field, or of several with the same meaning.

    Attributes
    ----------
    file
        Patterns of file names, ``*`` for any; for a transcript followed by ``#`` and the kind of
        line.
    field
        Patterns of field names, ``*`` for any; nested fields are joined by dots.
    """

    file: str
    field: str
    type: str
    unit: str
    range: str
    meaning: str

    def of(self, name: str) -> bool:
        """Return whether the entry is about a file, ignoring the kind of line."""
        return any(fnmatchcase(name, pattern.partition("#")[0]) for pattern in self.file.split())


@cache
def entries() -> tuple[DictionaryEntry, ...]:
    """Return the whole dictionary."""
    with _FILE.open(encoding="utf-8", newline="") as file:
        return tuple(DictionaryEntry(**row) for row in csv.DictReader(file))


def problem(data: bytes, names: Iterable[str], *, same_version: bool) -> str:
    """Describe what is wrong with an archive's dictionary; return an empty text if nothing is.

    Parameters
    ----------
    same_version
        True if this version of plenum wrote the archive. Another version may have known fewer
        columns, or have described them in the words of :data:`_EARLIER`.
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
    """Return the dictionary of the given files, as CSV."""
    names = list(names)
    described = [entry for entry in entries() if any(map(entry.of, names))]
    return format_csv(
        pd.DataFrame(described, columns=[f.name for f in fields(DictionaryEntry)])
    ).encode()
