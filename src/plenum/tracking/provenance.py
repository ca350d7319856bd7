"""The provenance of a condition: its committee, and the versions of the code that wrote it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True)
class Provenance:
    """The seats and models of a condition, and the code versions that wrote its runs.

    Attributes
    ----------
    models
        The model of each seat, in speaking order.
    clerk, options
        The model that reads the vote, and the labels of the options.
    wordings
        How many wordings there are of each family; empty where the scenario isn't perturbed.
    versions
        The code versions that wrote the condition and its replicates, each once.
    begun
        When the condition was first opened, in UTC.
    """

    models: tuple[tuple[str, str], ...]
    clerk: str
    options: str
    wordings: str
    versions: tuple[str, ...]
    begun: datetime


def provenance(run: Any, replicates: Sequence[Any]) -> Provenance:
    """Read the provenance of a condition from its run and those of its replicates."""
    params = run.data.params
    seats = [entry.partition(":") for entry in params.get("models", "").split()]
    versions = [each.data.tags.get("plenum.version") for each in (run, *replicates)]
    return Provenance(
        models=tuple((seat, model) for seat, _, model in seats),
        clerk=params.get("clerk", ""),
        options=params.get("options", ""),
        wordings=params.get("variants", ""),
        versions=tuple(dict.fromkeys(filter(None, versions))),
        begun=datetime.fromtimestamp(run.info.start_time / 1000, UTC),
    )
