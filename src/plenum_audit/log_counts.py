"""Counts of logged runs, for logs that are too large for a journal per run."""

from collections.abc import Mapping
from dataclasses import dataclass

MOST_JOURNALS = 5_000
"""Number of runs up to which a log gets journals, and its cases their own runs in MLflow."""


@dataclass(frozen=True)
class LoggedCase:
    """A case of a log, with the usage and the failures of its runs.

    Attributes
    ----------
    calls
        Number of runs whose usage the log contains.
    unpriced
        Number of those whose cost it doesn't contain.
    """

    question: str
    options: Mapping[str, str]
    answer: str | None
    condition: str
    failures: Mapping[str, int]
    calls: int
    unpriced: int
    tokens_in: int
    tokens_out: int
    dollars: float


@dataclass(frozen=True)
class LoggedProgram:
    """The program whose runs were logged: its identity, its description, and its models."""

    identity: str
    named_by: Mapping[str, object]
    committee: str
    models: tuple[str, ...]
    cases: Mapping[str, LoggedCase]
