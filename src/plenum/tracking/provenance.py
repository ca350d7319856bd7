"""Who sat at the table and which code wrote the runs, read back from MLflow."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from plenum.tracking.query import opened, search


@dataclass(frozen=True)
class Origin:
    """What a condition's runs say of their making.

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


def origins(study: str, uri: str) -> dict[str, Origin]:
    """The origin of every condition of a study, by its run.

    Raises
    ------
    UserError
        There is no such study at ``uri``, or nothing in it.
    """
    client, experiment, runs = opened(study, uri)
    versions: dict[str, dict[str, None]] = {run.info.run_id: _version(run) for run in runs}
    for child in search(client, experiment, "tags.`plenum.kind` = 'replicate'"):
        own = versions.get(child.data.tags.get("mlflow.parentRunId", ""))
        if own is not None:
            own.update(_version(child))
    return {run.info.run_id: _origin(run, versions[run.info.run_id]) for run in runs}


def _origin(run: Any, versions: dict[str, None]) -> Origin:
    params = run.data.params
    seats = [entry.partition(":") for entry in params.get("models", "").split()]
    return Origin(
        models=tuple((seat, model) for seat, _, model in seats),
        clerk=params.get("clerk", ""),
        options=params.get("options", ""),
        wordings=params.get("variants", ""),
        versions=tuple(versions),
        begun=datetime.fromtimestamp(run.info.start_time / 1000, UTC),
    )


def _version(run: Any) -> dict[str, None]:
    version = run.data.tags.get("plenum.version")
    return {version: None} if version else {}
