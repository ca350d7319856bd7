"""What a study's experiment is like, before anything is run for it, without MLflow's client."""

import json
import sqlite3
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any

from plenum.errors import UserError
from plenum.tracking import database, store

KINDS = {True: "worlds", False: "committees"}

_EXPERIMENT = "SELECT experiment_id, lifecycle_stage FROM experiments WHERE name = ?"

_LOCAL_KINDS = """
    SELECT DISTINCT EXISTS (
        SELECT 1 FROM params WHERE params.run_uuid = runs.run_uuid AND params.key = 'task'
    )
    FROM runs JOIN tags USING (run_uuid)
    WHERE runs.experiment_id = ? AND runs.lifecycle_stage = 'active'
      AND tags.key = 'plenum.kind' AND tags.value = 'condition'
"""


def require_kind(study: str, uri: str, *, worlds: bool) -> None:
    """Refuse to write worlds into a study of committees, and the other way round.

    Raises
    ------
    UserError
        The study holds the other kind already, or is in MLflow's trash.
    """
    experiment = require_active(study, uri)
    if experiment is None:
        return
    kinds = _local_kinds(experiment, uri) if _is_local(uri) else _served_kinds(experiment, uri)
    if (not worlds) in kinds:
        raise UserError(
            f"study: {study!r} holds {KINDS[not worlds]} already, and can't hold "
            f"{KINDS[worlds]} as well; give these a study of their own"
        )


def require_active(study: str, uri: str) -> str | None:
    """The id of a study's experiment; ``None`` where there is none yet.

    Raises
    ------
    UserError
        It is in MLflow's trash: its name is taken, and nothing can be written to it.
    """
    experiment = _local(study, uri) if _is_local(uri) else _served(study, uri)
    if experiment is None:
        return None
    number, stage = experiment
    if stage != "active":
        raise store.deleted(study, number, uri)
    return number


def _is_local(uri: str) -> bool:
    return uri.startswith("sqlite:///")


def _local(study: str, uri: str) -> tuple[str, str] | None:
    for number, stage in _rows(uri, _EXPERIMENT, study):
        return str(number), str(stage)
    return None


def _local_kinds(experiment: str, uri: str) -> set[bool]:
    return {bool(kind) for (kind,) in _rows(uri, _LOCAL_KINDS, int(experiment))}


def _rows(uri: str, query: str, value: str | int) -> list[tuple[Any, ...]]:
    path = Path(uri.removeprefix("sqlite:///"))
    database.check(path)
    if not path.exists():
        return []
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            return connection.execute(query, (value,)).fetchall()
    except sqlite3.OperationalError:  # no store yet, or one that is being made
        return []


def _served(study: str, uri: str) -> tuple[str, str] | None:
    name = study.replace("'", "\\'")
    query: dict[str, Any] = {"filter": f"name = '{name}'", "max_results": 1, "view_type": "ALL"}
    for experiment in post(uri, "experiments/search", query).get("experiments", []):
        return experiment["experiment_id"], experiment["lifecycle_stage"]
    return None


def _served_kinds(experiment: str, uri: str) -> set[bool]:
    query = {
        "experiment_ids": [experiment],
        "filter": "tags.`plenum.kind` = 'condition'",
        "max_results": 1,
    }
    runs = post(uri, "runs/search", query).get("runs", [])
    return {any(p["key"] == "task" for p in run["data"].get("params", [])) for run in runs}


def post(uri: str, path: str, query: dict[str, Any]) -> Any:
    """What a tracking server answers to a request of its REST interface."""
    request = urllib.request.Request(
        f"{uri}/api/2.0/mlflow/{path}",
        data=json.dumps(query).encode(),
        headers={"Content-Type": "application/json", **store.login()},
    )
    with store.answering(uri), urllib.request.urlopen(request, timeout=10) as response:
        return json.loads(response.read())
