"""A run as the tracking store holds it, in MLflow's form, made without MLflow."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plenum.tracking import artifacts


def is_estimated(run: Any) -> bool:
    """Return whether a condition has been run to its estimates."""
    return "n_target" in run.data.metrics


@dataclass(frozen=True)
class StoredRun:
    """An active run in the store, or a replicate that is a row of its condition's run.

    Its ``info`` and ``data`` are itself, so that it is read as MLflow's runs are; ``metrics`` are
    the last values.
    """

    run_id: str
    run_name: str = ""
    status: str = ""
    artifact_uri: str = ""
    start_time: int = 0
    end_time: int | None = None
    experiment_id: str = ""
    tags: dict[str, str] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)

    @property
    def info(self) -> "StoredRun":
        """Itself, as MLflow's runs have their names and times."""
        return self

    @property
    def data(self) -> "StoredRun":
        """Itself, as MLflow's runs have their values."""
        return self

    @property
    def artifacts(self) -> Path | None:
        """The folder of its artifacts on this disk; ``None`` if they are elsewhere."""
        return artifacts.folder(self.artifact_uri)

    @property
    def cell(self) -> str:
        """The name of its condition under its labels."""
        return self.tags.get("plenum.cell", "")

    @property
    def target(self) -> int:
        """The number of replicates that a condition wants."""
        return int(self.tags.get("plenum.target", 0))
