"""The layout of an archive: names of files and the form of their contents."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from plenum.base.identity import canonical_json
from plenum.design.kinds import Kind, find_kind

FORMAT = 1
KIND = "plenum study"
MANIFEST, README, DICTIONARY = "manifest.json", "README.md", "dictionary.csv"
CONDITIONS, TABLES, TRANSCRIPTS, RUNS = "conditions", "tables", "transcripts", "runs.json"

SERIES = ("D", "log_D")
"""Metrics of a condition's run that have one value per round."""

STATUSES = ("RUNNING", "FINISHED", "FAILED", "KILLED")
ENDS = ("completed", "failed", "pending")
COUNTS = ("target", *ENDS)

KEPT = ("mlflow.runColor",)
"""Tags of an archive's runs in addition to plenum's own."""

_PLACE = re.compile(rf"{CONDITIONS}/\d{{3,}}-[0-9A-Za-z_]+")


@dataclass(frozen=True)
class ArchivedRun:
    """An MLflow run without the fields that only its store knows.

    Attributes
    ----------
    run_id
        The id that the run was first tracked under; after an import, the store has another id.
    start, end
        Milliseconds since 1970; ``end`` is ``None`` while the status is ``RUNNING``.
    tags
        The tags of plenum, and the run's colour.
    metrics
        The last value of each metric.
    series
        For a condition, metrics by round, as pairs of round and value.
    """

    run_id: str
    name: str
    status: str
    start: int
    end: int | None
    tags: dict[str, str]
    params: dict[str, str]
    metrics: dict[str, float]
    series: dict[str, list[list[float]]] = field(default_factory=dict)

    @property
    def replicate(self) -> int:
        """The number of the replicate."""
        return int(self.tags["plenum.replicate"])

    @property
    def target(self) -> int:
        """The number of replicates that the condition asks for."""
        return int(self.tags.get("plenum.target", 0))

    @property
    def kind(self) -> Kind:
        """The kind of the condition."""
        return find_kind(self.params)


def list_artifacts(kind: Kind) -> list[str]:
    """List the files that a condition's run may have; which exist depends on the condition."""
    tables = [f"{name}.parquet" for name in kind.tabulate([])]  # no transcript, no rows
    return ["condition.json", "config.yaml", "environment.json", "accounts.json", *tables]


def transcript(place: str, replicate: int) -> str:
    """Return the name of a replicate's transcript."""
    return f"{place}/{TRANSCRIPTS}/{replicate:03d}.jsonl"


def is_place(name: object) -> bool:
    """Return whether a name is that of a condition's folder."""
    return isinstance(name, str) and _PLACE.fullmatch(name) is not None


def pack_archive(value: Any) -> bytes:
    """Return a value as JSON bytes; equal values give equal bytes."""
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def list_archived_runs(condition: ArchivedRun, replicates: list[ArchivedRun]) -> bytes:
    """Return the contents of a condition's ``runs.json``."""
    return pack_archive(
        {
            "condition": asdict(condition),
            "replicates": [asdict(replicate) for replicate in replicates],
        }
    )


def read_runs(data: bytes) -> tuple[ArchivedRun, list[ArchivedRun]]:
    """Return a condition's run and its replicates' runs.

    Raises
    ------
    ValueError, TypeError, KeyError
        The data isn't in the form that :func:`list_archived_runs` writes.
    """
    parsed = json.loads(data)
    return _run(parsed["condition"]), [_run(replicate) for replicate in parsed["replicates"]]


def _run(value: Any) -> ArchivedRun:
    run = ArchivedRun(**value)
    for texts in (run.tags, run.params, {"run_id": run.run_id, "name": run.name}):
        if not all(isinstance(text, str) for text in texts.values()):
            raise TypeError("a tag, a param or a name is no text")
    pairs = [pair for points in run.series.values() for pair in points]
    integers = [run.start, *(step for step, _ in pairs)]
    if run.end is not None:
        integers.append(run.end)
    if not all(type(number) is int for number in integers):
        raise TypeError("a time or a round is no whole number")
    numbers = [*run.metrics.values(), *(value for _, value in pairs)]
    if not all(type(number) in (int, float) for number in numbers):
        raise TypeError("a metric is no number")
    strange = [key for key in run.tags if key not in KEPT and not key.startswith("plenum.")]
    if strange:
        raise ValueError(f"tag {strange[0]!r}")
    if run.status not in STATUSES:
        raise ValueError(f"status {run.status!r}")
    return run


def content(files: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the SHA-256 that identifies what was tracked, whatever the study's name and reports.

    Parameters
    ----------
    files
        Entries of the manifest, by file name; ``sha256`` of each is used.
    """
    digests = [
        (name, files[name]["sha256"]) for name in sorted(files) if name.startswith(CONDITIONS)
    ]
    return hashlib.sha256(canonical_json(digests)).hexdigest()
