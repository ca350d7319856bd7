"""The contents of a study, read without MLflow's client where they are on this disk.

Importing MLflow takes seconds, which a sweep that begins, or has nothing left to do, doesn't spend:
an SQLite store is asked by SQL, any other by the client. Who imports MLflow anyway, to read
artifacts or to write, reads by :mod:`plenum.tracking.runs`.
"""

import hashlib
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from plenum.base.errors import UserError
from plenum.design.condition_names import name_conditions
from plenum.design.kinds import KINDS, find_kind
from plenum.tracking import artifacts, database, experiments, server, store
from plenum.tracking.order import ORDER_TAG, order_runs
from plenum.tracking.rows import ROWS_ARCHIVE

KIND_TAG = "plenum.study_kind"
"""Tag of an experiment: the kind of its conditions. Older studies' kind is read from their runs."""

_EXPERIMENT = """
    SELECT experiment_id, lifecycle_stage, (
        SELECT value FROM experiment_tags
        WHERE experiment_tags.experiment_id = experiments.experiment_id AND key = ?
    )
    FROM experiments WHERE name = ?
"""
_ACTIVE = """
    FROM runs JOIN experiments USING (experiment_id)
    WHERE experiments.name = ? AND experiments.lifecycle_stage = 'active'
      AND runs.lifecycle_stage = 'active'
      AND EXISTS (
        SELECT 1 FROM tags WHERE tags.run_uuid = runs.run_uuid AND key GLOB ? AND value GLOB ?
      )
"""
_RUNS = f"""
    SELECT run_uuid, runs.name, status, artifact_uri, start_time, CAST(experiment_id AS TEXT)
    {_ACTIVE} ORDER BY start_time, run_uuid
"""
_INFO = ("run_name", "status", "artifact_uri", "start_time", "end_time")
_INFOS = f"""
    SELECT run_uuid, runs.name, status, artifact_uri, start_time, end_time
    {_ACTIVE} ORDER BY start_time, run_uuid
"""
_GROUPS = ("tags", "params", "metrics")
_VALUES = {
    "tags": "value",
    "params": "value",
    "latest_metrics": "CAST(value AS TEXT) || ' ' || is_nan || ' ' || step",
}


@dataclass(frozen=True)
class StoredRun:
    """An active run in the store; ``metrics`` as texts, an SQLite store's with steps."""

    id: str
    name: str = ""
    status: str = ""
    artifact_uri: str = ""
    start_time: int = 0
    experiment: str = ""
    tags: dict[str, str] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    metrics: dict[str, str] = field(default_factory=dict)

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


def list_stored_runs(path: Path, study: str, tag: str = "*", value: str = "*") -> list[StoredRun]:
    """List the active runs of a study, the oldest first.

    Parameters
    ----------
    path
        The SQLite file.
    tag, value
        Only runs with such a tag; ``*`` stands for any.
    """
    # Runs first: one that is begun between the queries would have no tags yet.
    stored = {row[0]: StoredRun(*row) for row in database.rows(path, _RUNS, study, tag, value)}
    values = [
        database.rows(
            path,
            f"SELECT run_uuid, key, {shown} FROM {table} "
            f"WHERE run_uuid IN (SELECT run_uuid {_ACTIVE}) ORDER BY key",
            study,
            tag,
            value,
        )
        for table, shown in _VALUES.items()
    ]
    for name, rows in zip(("tags", "params", "metrics"), values, strict=True):
        for run, key, text in rows:
            if run in stored:  # else it was begun meanwhile
                getattr(stored[run], name)[key] = text
    return list(stored.values())


def conditions(path: Path, study: str) -> list[Any]:
    """List the runs of a study's conditions in MLflow's form, the oldest first.

    They have ``info``, and ``data`` with the last value of each metric.
    """
    given = (study, "plenum.kind", "condition")
    found: dict[str, Any] = {}
    for run, *values in database.rows(path, _INFOS, *given):
        info = SimpleNamespace(run_id=run, **dict(zip(_INFO, values, strict=True)))
        found[run] = SimpleNamespace(
            info=info, data=SimpleNamespace(tags={}, params={}, metrics={})
        )
    shown = {"tags": "value", "params": "value"}
    shown["latest_metrics"] = "CASE is_nan WHEN 1 THEN NULL ELSE value END"
    texts: dict[str, str] = {}  # runs share most of them
    for (table, value), group in zip(shown.items(), _GROUPS, strict=True):
        query = f"SELECT run_uuid, key, {value} FROM {table} WHERE run_uuid IN "
        for run, key, each in database.rows(path, f"{query}(SELECT run_uuid {_ACTIVE})", *given):
            if run in found:  # else it was begun meanwhile
                kept = texts.setdefault(each, each) if isinstance(each, str) else each
                held = getattr(found[run].data, group)
                held[texts.setdefault(key, key)] = math.nan if each is None else kept
    return list(found.values())


def require_kind(study: str, uri: str, kind: str) -> None:
    """Refuse a study that holds conditions of another kind, or that is read-only.

    Raises
    ------
    UserError
        The study holds another kind already, is in MLflow's trash, or can't be written to.
    """
    tag = require_active(study, uri)
    kinds = {tag} if tag else {find_kind(c.params).name for c in list_stored_conditions(study, uri)}
    for other in sorted(kinds - {kind}):
        raise UserError(
            f"study: {study!r} holds {KINDS[other].plural} already, and can't hold "
            f"{KINDS[kind].plural} as well; give these a study of their own"
        )
    if store.local(uri) is None:
        for number, *_ in _experiments(study, uri):
            with server.require_permission(uri):  # only writing shows whether we may
                store.open_client(uri).set_experiment_tag(number, KIND_TAG, kind)


def require_active(study: str, uri: str) -> str | None:
    """Refuse a study whose name belongs to an experiment that can't be written to.

    Returns
    -------
    str or None
        The kind of study that it is tagged as; ``None`` for a new or an older one.

    Raises
    ------
    UserError
        It is in MLflow's trash.
    """
    store.settle(uri)
    for number, stage, kind in _experiments(study, uri):
        if stage != "active":
            raise experiments.make_trash_error(study, number, uri)
        return kind
    return None


def list_stored_conditions(study: str, uri: str) -> list[StoredRun]:
    """List the runs of a study's conditions; empty if there is no such study, or no store yet."""
    found = order_runs(_find_conditions(study, uri), lambda run: run)
    named = name_conditions([run.params for run in found])
    return [  # a run that says its place was named when it was written, also by its models
        run if ORDER_TAG in run.tags else replace(run, name=name)
        for run, name in zip(found, named, strict=True)
    ]


def _find_conditions(study: str, uri: str) -> list[StoredRun]:
    store.settle(uri)
    path = store.local(uri)
    if path is not None:
        return list_stored_runs(path, study, "plenum.kind", "condition")
    from plenum.tracking import runs as with_mlflow

    with _client(uri) as client:
        return [
            _run(run.info.run_id, run.info.run_name, *(getattr(run.data, g) for g in _GROUPS))
            for number, stage, _ in _experiments(study, uri)
            if stage == "active"
            for run in with_mlflow.search_runs(client, number, with_mlflow.CONDITIONS)
        ]


def fingerprint(study: str, uri: str) -> str | None:
    """Digest a study's runs and the artifacts of its conditions.

    Returns
    -------
    str or None
        Equal digests mean equal contents; ``None`` where that can't be known without MLflow: of a
        server, or of artifacts that lie elsewhere.
    """
    path = store.local(store.absolute_uri(uri))
    if path is None:
        return None
    store.settle(uri)
    total = hashlib.blake2b(digest_size=16)
    # The order is that of starts and ids, and keys are sorted, so equal contents digest equally.
    for run in list_stored_runs(path, study):
        total.update(repr(run).encode())
        if run.artifacts is None:
            return None
        if run.tags.get("plenum.kind") == "replicate":
            continue
        for file in sorted(run.artifacts.rglob("*")):
            if file.is_file() and file.name != ROWS_ARCHIVE:  # whose members' ends are in the rows
                data = file.read_bytes()
                total.update(f"{file.relative_to(run.artifacts)} {len(data)} ".encode() + data)
    return total.hexdigest()


def _experiments(study: str, uri: str) -> list[tuple[str, str, str | None]]:
    """Query id, stage and kind of a study's experiment, if there is one."""
    path = store.local(uri)
    if path is not None:
        rows = database.rows(path, _EXPERIMENT, KIND_TAG, study)
        return [(str(number), stage, kind) for number, stage, kind in rows]
    with _client(uri) as client:
        each = client.get_experiment_by_name(study)
    return [(each.experiment_id, each.lifecycle_stage, each.tags.get(KIND_TAG))] if each else []


@contextmanager
def _client(uri: str) -> Iterator[Any]:
    """Open MLflow's client of a tracking server that answers."""
    store.require_writable_store(uri)  # the client itself waits long for one that doesn't
    with server.require_permission(uri):
        yield store.open_client(uri)


def _run(
    number: str, name: str, tags: dict[str, str], params: dict[str, str], metrics: dict[str, Any]
) -> StoredRun:
    shown = {key: str(value) for key, value in metrics.items()}
    return StoredRun(number, name, tags=tags, params=params, metrics=shown)
