"""What the papers report, as data: `reference/*.csv`, looked up by the factors of a condition.

Published numbers stand beside those of a run. They are never subtracted from them, pooled with
them or tested against them: their replicates aren't here.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from plenum.base import project
from plenum.base.errors import UserError

FACTORS = ("scenario", "roles", "model", "memory", "temperature", "perturbation")
"""What a published number is looked up by."""

NOTE = (
    "published: the papers' own runs on real models, 20 rounds, up to 20 replicates a condition; "
    "printed beside this run, compared with nothing"
)

_SAME = {"gpt-4.1-mini": "uniform"}
"""Two labels of one committee: the papers' baseline model in every seat."""


@dataclass(frozen=True)
class Published:
    """A line of a file: the condition that it is about, and what the paper says of it.

    Attributes
    ----------
    factors
        In the terms of our own conditions.
    values
        Numbers and words as they are printed; empty for what the paper leaves out.
    source
        Where in which paper.
    """

    factors: Mapping[str, str]
    values: Mapping[str, str]
    source: str

    def __getitem__(self, name: str) -> str:
        """A value as it is printed, or a dash."""
        return self.values.get(name) or "-"


@cache
def _read(path: Path) -> tuple[Published, ...]:
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    return tuple(
        Published(
            factors={n: line[n] for n in FACTORS if n in line},
            values={n: v for n, v in line.items() if n not in (*FACTORS, "source")},
            source=line["source"],
        )
        for line in lines
    )


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


def beside(name: str, factors: Mapping[str, object]) -> Published | None:
    """What a file says of the condition with these factors.

    One-shot votes, reruns and branches have no line of their own: the papers don't know them.
    """
    if not usual(factors):
        return None
    own = key(factors)
    return next((one for one in published(name) if key(one.factors) == own), None)


def key(factors: Mapping[str, object]) -> tuple[str, ...]:
    """The factors that a number is looked up by, in order."""
    values = (str(factors.get(name, "")) for name in FACTORS)
    return tuple(_SAME.get(value, value) for value in values)


def usual(factors: Mapping[str, object]) -> bool:
    """Whether it is a deliberation from its first round on, and no rerun: the papers know these."""
    protocol = str(factors.get("protocol", "deliberation"))
    settings = str(factors.get("settings", "default"))
    return protocol == "deliberation" and "rerun=" not in settings and "branches" not in settings
