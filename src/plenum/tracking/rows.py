"""Replicates as rows of their condition's run, where a nested run each would take hours.

A row holds what a nested run would: its columns are those of the frame that MLflow's own
``search_runs`` gives. The transcripts of a condition are one archive next to it. MLflow isn't
needed to read them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from plenum.tracking import artifacts
from plenum.tracking.stored_run import StoredRun

ROWS_FILE, ROWS_ARCHIVE = "runs.parquet", "transcripts.zip"
"""Artifacts of a condition's run: the rows of its replicates, and their journals."""

ROWS_TAG = "plenum.rows"
"""Tag of a condition's run of which replicates are rows."""

MOST_NESTED = 2000
"""The largest sweep, in replicates, of which ``auto`` gives each a nested run."""

_GROUPS = ("tags", "params", "metrics")


def has_nested_runs(wanted: str, replicates: int) -> bool:
    """Return whether replicates get nested runs; ``wanted`` is ``tracking.replicates``."""
    return wanted == "all" or (wanted == "auto" and replicates <= MOST_NESTED)


@dataclass(frozen=True)
class Member:
    """A transcript in an archive; it is read as a file is."""

    archive: Path
    name: str

    def exists(self) -> bool:
        """Return whether the archive exists and holds this transcript."""
        return self.archive.exists() and self.name in self._open().NameToInfo

    def read_bytes(self) -> bytes:
        """Return the journal's bytes."""
        return self._open().read(self.name)

    def _open(self) -> ZipFile:
        # With its time of writing: a file that is written anew mustn't be read by the old table.
        return _open(self.archive, self.archive.stat().st_mtime_ns)

    def __str__(self) -> str:
        return f"{self.archive}/{self.name}"


@lru_cache(maxsize=16)
def _open(archive: Path, _written: int) -> ZipFile:
    """Open an archive and read its table of contents, which takes as long as it is large."""
    return ZipFile(archive)


def is_row(run: Any) -> bool:
    """Return whether the run of a replicate is a row."""
    return str(run.info.artifact_uri).endswith(f"/{ROWS_ARCHIVE}")


def transcript_file(replicate: int) -> str:
    """Return the file name of a replicate's transcript, in a nested run and in an archive."""
    return f"{replicate:03d}.jsonl"


def locate(artifact_uri: str, replicate: int) -> Path | Member | None:
    """Find a replicate's transcript on this machine's disk; ``None`` if it lies elsewhere.

    Parameters
    ----------
    artifact_uri
        Of the nested run; of a row that of the archive.
    """
    place = artifacts.folder(artifact_uri)
    if place is None:
        return None
    if place.name == ROWS_ARCHIVE:
        return Member(place, transcript_file(replicate))
    return place / "transcript" / transcript_file(replicate)


def make_row(
    info: Mapping[str, Any],
    tags: Mapping[str, str],
    params: Mapping[str, Any],
    metrics: Mapping[str, float],
) -> dict[str, Any]:
    """Build the row of a replicate.

    Parameters
    ----------
    info
        ``run_id``, ``run_name``, ``status``, ``start_time`` and ``end_time``.
    metrics
        The last value of each.
    """
    texts = {key: str(value) for key, value in params.items()}
    groups = zip(_GROUPS, (tags, texts, metrics), strict=True)
    return {**info, **{f"{name}.{k}": v for name, group in groups for k, v in group.items()}}


def read_row_values(data: bytes, *, whole: bool = True) -> list[dict[str, Any]]:
    """Return the rows of a file; each holds only what it has a value of.

    Parameters
    ----------
    whole
        With the params and metrics.
    """
    import pyarrow.parquet as parquet  # a sweep without rows doesn't wait for it

    file = parquet.ParquetFile(BytesIO(data))
    wanted = [n for n in file.schema_arrow.names if whole or not n.startswith(_GROUPS[1:])]
    texts: dict[str, str] = {}  # rows of a condition share most of them
    return [
        {
            column: texts.setdefault(value, value) if isinstance(value, str) else value
            for column, value in row.items()
            if value is not None
        }
        for row in file.read(columns=wanted).to_pylist()
    ]


def read(data: bytes, parent: Any, *, whole: bool = False) -> list[StoredRun]:
    """Read rows as the nested runs that they stand for.

    Parameters
    ----------
    data
        Of the file.
    parent
        The condition's run.
    whole
        With the params and metrics.
    """
    archive = f"{parent.info.artifact_uri}/{ROWS_ARCHIVE}"
    runs = []
    for row in read_row_values(data, whole=whole):
        values: dict[str, Any] = {name: {} for name in _GROUPS}
        for column, value in row.items():
            group, _, key = column.partition(".")
            (values[group] if key else values)[key or column] = value
        values["tags"]["mlflow.parentRunId"] = parent.info.run_id
        experiment = parent.info.experiment_id
        runs.append(StoredRun(artifact_uri=archive, experiment_id=experiment, **values))
    return runs
