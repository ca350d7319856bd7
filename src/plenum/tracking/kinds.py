"""What kind a study is of, asked before anything is run for it, without MLflow's client."""

import json
import sqlite3
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any

from plenum.errors import UserError
from plenum.tracking import store

KINDS = {True: "worlds", False: "committees"}

_LOCAL = """
    SELECT DISTINCT EXISTS (
        SELECT 1 FROM params WHERE params.run_uuid = runs.run_uuid AND params.key = 'task'
    )
    FROM runs JOIN experiments USING (experiment_id) JOIN tags USING (run_uuid)
    WHERE experiments.name = ? AND runs.lifecycle_stage = 'active'
      AND tags.key = 'plenum.kind' AND tags.value = 'condition'
"""


def require_kind(study: str, uri: str, *, worlds: bool) -> None:
    """Refuse to write worlds into a study of committees, and the other way round.

    Raises
    ------
    UserError
        The study holds the other kind already.
    """
    found = _local(study, uri) if uri.startswith("sqlite:///") else _served(study, uri)
    if (not worlds) in found:
        raise UserError(
            f"study: {study!r} holds {KINDS[not worlds]} already, and can't hold "
            f"{KINDS[worlds]} as well; give these a study of their own"
        )


def _local(study: str, uri: str) -> set[bool]:
    path = Path(uri.removeprefix("sqlite:///"))
    if not path.exists():
        return set()
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            return {bool(kind) for (kind,) in connection.execute(_LOCAL, (study,))}
    except sqlite3.OperationalError:  # no store yet, or one that is being made
        return set()


def _served(study: str, uri: str) -> set[bool]:
    name = study.replace("'", "\\'")
    query: dict[str, Any] = {"filter": f"name = '{name}'", "max_results": 1}
    experiments = post(uri, "experiments/search", query).get("experiments", [])
    found = set()
    for experiment in experiments:
        query = {
            "experiment_ids": [experiment["experiment_id"]],
            "filter": "tags.`plenum.kind` = 'condition'",
            "max_results": 1,
        }
        for run in post(uri, "runs/search", query).get("runs", []):
            params = run["data"].get("params", [])
            found.add(any(param["key"] == "task" for param in params))
    return found


def post(uri: str, path: str, query: dict[str, Any]) -> Any:
    """What a tracking server answers to a request of its REST interface."""
    request = urllib.request.Request(
        f"{uri}/api/2.0/mlflow/{path}",
        data=json.dumps(query).encode(),
        headers={"Content-Type": "application/json", **store.login()},
    )
    with store.answering(uri), urllib.request.urlopen(request, timeout=10) as response:
        return json.loads(response.read())
