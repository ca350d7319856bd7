"""The papers' numbers as data: `reference/*.csv`, looked up by the factors of a condition.

Published numbers are shown with those of a run. They are never subtracted from them, pooled with
them or tested against them, since their replicates aren't available here.
"""

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from plenum.base.errors import UserError
from plenum.base.project import project_root
from plenum.design.factors import FACTORS
from plenum.show.formats import NONE

_SAME = {"gpt-4.1-mini": "uniform"}
"""Labels of the same committee: the papers' baseline model in every seat."""


class PublishedLine(dict[str, str]):
    """A line of a file: numbers and words as printed; a dash if the paper has none."""

    def __getitem__(self, name: str) -> str:
        return self.get(name) or NONE

    @property
    def factors(self) -> dict[str, str]:
        """The factors of its condition, in our own terms."""
        return {name: self.get(name, "") for name in FACTORS if name in self}

    def about(self, factors: Mapping[str, object]) -> bool:
        """Return whether the line is about a condition, by the factors that the file has."""
        return key(self.factors) == key({name: factors.get(name, "") for name in self.factors})


@cache
def _read(path: Path) -> tuple[PublishedLine, ...]:
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(map(PublishedLine, csv.DictReader(file)))


def names() -> tuple[str, ...]:
    """Return the names of the files without their suffix."""
    return tuple(sorted(path.stem for path in (project_root() / "reference").glob("*.csv")))


def read_numbers(name: str) -> tuple[PublishedLine, ...]:
    """Return all lines of a file.

    Raises
    ------
    UserError
        There is no such file.
    """
    path = project_root() / "reference" / f"{name}.csv"
    if not path.exists():
        raise UserError(f"published: {name}; one of {', '.join(names())}")
    return _read(path)


def select_lines(name: str, factors: Mapping[str, object], **values: str) -> list[PublishedLine]:
    """Return a file's lines about the condition with these factors, and with these values."""
    return [
        line
        for line in read_numbers(name)
        if line.about(factors) and all(line[n] == value for n, value in values.items())
    ]


def find_published(
    files: Sequence[str], factors: Mapping[str, object], **values: str
) -> PublishedLine | None:
    """Return the line about these factors from the first of the files that has one.

    One-shot votes, reruns, branches, other orders and other numbers of seats have no line.
    """
    protocol = str(factors.get("protocol", "deliberation"))
    settings = str(factors.get("settings", "default"))
    others = ("rerun=", "branches", "order=", "agents=")
    if protocol != "deliberation" or any(other in settings for other in others):
        return None
    return next((line for name in files for line in select_lines(name, factors, **values)), None)


def key(factors: Mapping[str, object]) -> tuple[str, ...]:
    """Return the factors that identify a published number, in order."""
    values = (str(factors.get(name, "")) for name in FACTORS)
    return tuple(_SAME.get(value, value) for value in values)
