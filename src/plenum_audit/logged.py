"""Runs that a log has, counted: what is known of them where each has no journal of its own."""

from collections.abc import Mapping
from dataclasses import dataclass

MOST_JOURNALS = 5_000
"""A log of more runs gets no journals, and no run in MLflow for each case: one for all."""


@dataclass(frozen=True)
class LoggedCase:
    """A case of a log, and what its runs used up and failed of.

    Attributes
    ----------
    calls
        Runs whose use the log tells.
    unpriced
        Those of them whose cost it doesn't tell.
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
    """The program whose runs were logged: its identity, what names it, and its models."""

    identity: str
    named_by: Mapping[str, object]
    committee: str
    models: tuple[str, ...]
    cases: Mapping[str, LoggedCase]
