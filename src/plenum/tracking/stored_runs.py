"""The contents of a study, read without MLflow's client where they are on this disk.

Importing MLflow takes seconds, which a sweep that begins, or has nothing left to do, doesn't spend:
an SQLite store is asked by SQL, any other by the client. Who imports MLflow anyway, to read
artifacts or to write, reads by :mod:`plenum.tracking.runs`.
"""

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.design.condition_names import name_conditions
from plenum.design.kinds import KINDS, find_kind
from plenum.tracking import database, experiments, server, store
from plenum.tracking.order import ORDER_TAG, order_runs
from plenum.tracking.stored_run import StoredRun

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
    SELECT run_uuid, runs.name, status, artifact_uri, start_time, end_time,
      CAST(experiment_id AS TEXT)
    {_ACTIVE} ORDER BY start_time, run_uuid
"""
_VALUES = {
    "tags": "value",
    "params": "value",
    "metrics": "CASE is_nan WHEN 1 THEN NULL ELSE value END",
}


def list_stored_runs(path: Path, study: str, tag: str = "*", value: str = "*") -> list[StoredRun]:
    """List the active runs of a study, the oldest first.

    Parameters
    ----------
    path
        The SQLite file.
    tag, value
        Only runs with such a tag; ``*`` stands for any.
    """
    given = (study, tag, value)
    # Runs first: one that is begun between the queries would have no tags yet.
    stored = {row[0]: StoredRun(*row) for row in database.rows(path, _RUNS, *given)}
    for group, shown in _VALUES.items():
        table = "latest_metrics" if group == "metrics" else group
        query = f"SELECT run_uuid, key, {shown} FROM {table} WHERE run_uuid IN "
        query += f"(SELECT run_uuid {_ACTIVE}) ORDER BY key"
        for run, key, each in database.rows(path, query, *given):
            if run in stored:  # else it was begun meanwhile
                # Runs share most of their texts.
                kept = sys.intern(each) if isinstance(each, str) else each
                getattr(stored[run], group)[sys.intern(key)] = math.nan if kept is None else kept
    return list(stored.values())


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
    found = order_runs(_find_conditions(study, uri))
    named = name_conditions([run.params for run in found])
    return [  # a run that says its place was named when it was written, also by its models
        run if ORDER_TAG in run.tags else replace(run, run_name=name)
        for run, name in zip(found, named, strict=True)
    ]


def _find_conditions(study: str, uri: str) -> list[StoredRun]:
    store.settle(uri)
    path = store.local(uri)
    if path is not None:
        return list_stored_runs(path, study, "plenum.kind", "condition")
    from plenum.tracking import runs as with_mlflow

    with _client(uri) as client:
        runs = [
            run
            for number, stage, _ in _experiments(study, uri)
            if stage == "active"
            for run in with_mlflow.search_runs(client, number, with_mlflow.CONDITIONS)
        ]
    values = [{group: getattr(run.data, group) for group in _VALUES} for run in runs]
    return [
        StoredRun(run.info.run_id, run.info.run_name, **each)
        for run, each in zip(runs, values, strict=True)
    ]


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
