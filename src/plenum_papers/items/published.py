"""The papers' numbers as data: `reference/*.csv`, looked up by the factors of a condition.

Published numbers stand beside those of a run. They are never subtracted from them, pooled with
them or tested against them: their replicates aren't here.
"""

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from plenum.base import project
from plenum.base.errors import UserError
from plenum.design.factors import FACTORS
from plenum.reports.formats import NONE

_SAME = {"gpt-4.1-mini": "uniform"}
"""Two labels of one committee: the papers' baseline model in every seat."""


class Published(dict[str, str]):
    """A line of a file: numbers and words as they are printed; a dash where the paper has none."""

    def __getitem__(self, name: str) -> str:
        return self.get(name) or NONE

    @property
    def factors(self) -> dict[str, str]:
        """The condition that it is about, in the terms of our own conditions."""
        return {name: self.get(name, "") for name in FACTORS if name in self}

    def about(self, factors: Mapping[str, object]) -> bool:
        """Whether it is about a condition, by those of its factors that the file has."""
        return key(self.factors) == key({name: factors.get(name, "") for name in self.factors})


@cache
def _read(path: Path) -> tuple[Published, ...]:
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(map(Published, csv.DictReader(file)))


def names() -> tuple[str, ...]:
    """The files, without their ending."""
    return tuple(sorted(path.stem for path in (project.root() / "reference").glob("*.csv")))


def published(name: str) -> tuple[Published, ...]:
    """All lines of a file.

    Raises
    ------
    UserError
        There is no such file.
    """
    path = project.root() / "reference" / f"{name}.csv"
    if not path.exists():
        raise UserError(f"published: {name}; one of {', '.join(names())}")
    return _read(path)


def matching(name: str, factors: Mapping[str, object], **values: str) -> list[Published]:
    """The lines of a file about the condition with these factors, and with these values."""
    return [
        line
        for line in published(name)
        if line.about(factors) and all(line[n] == value for n, value in values.items())
    ]


def beside(files: Sequence[str], factors: Mapping[str, object], **values: str) -> Published | None:
    """The line of the condition with these factors, in the first of some files that has one.

    One-shot votes, reruns, branches, other orders and other numbers of seats have no line.
    """
    protocol = str(factors.get("protocol", "deliberation"))
    settings = str(factors.get("settings", "default"))
    others = ("rerun=", "branches", "order=", "agents=")
    if protocol != "deliberation" or any(other in settings for other in others):
        return None
    return next((line for name in files for line in matching(name, factors, **values)), None)


def key(factors: Mapping[str, object]) -> tuple[str, ...]:
    """The factors that a number is looked up by, in order."""
    values = (str(factors.get(name, "")) for name in FACTORS)
    return tuple(_SAME.get(value, value) for value in values)
