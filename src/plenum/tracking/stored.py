"""What a study holds, read before anything is run for it, without MLflow's client.

Importing MLflow takes seconds: an SQLite store is asked by SQL, a server by its REST interface.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from plenum.base.errors import UserError
from plenum.design.kinds import KINDS, of_condition
from plenum.tracking import database, store

KIND_TAG = "plenum.study_kind"
"""Tag of an experiment: the kind of its conditions. Older studies' follows from their runs."""

_EXPERIMENT = """
    SELECT experiment_id, lifecycle_stage, (
        SELECT value FROM experiment_tags
        WHERE experiment_tags.experiment_id = experiments.experiment_id AND key = ?
    )
    FROM experiments WHERE name = ?
"""

_CONDITIONS = """
    WITH conditions AS (
        SELECT run_uuid FROM runs JOIN experiments USING (experiment_id) JOIN tags USING (run_uuid)
        WHERE experiments.name = ? AND experiments.lifecycle_stage = 'active'
          AND runs.lifecycle_stage = 'active'
          AND tags.key = 'plenum.kind' AND tags.value = 'condition'
    )
    SELECT run_uuid, key, value FROM params JOIN conditions USING (run_uuid)
    UNION ALL
    SELECT run_uuid, key, value FROM tags JOIN conditions USING (run_uuid)
    WHERE key IN ('plenum.cell', 'plenum.target')
"""


@dataclass(frozen=True)
class StoredCondition:
    """A condition as the store has it: ``cell`` names it under its labels, ``params`` by name."""

    cell: str
    target: int
    params: Mapping[str, str]


def require_kind(study: str, uri: str, kind: str) -> None:
    """Refuse a study that holds conditions of another kind.

    Raises
    ------
    UserError
        The study holds another kind already, or is in MLflow's trash.
    """
    tag = require_active(study, uri)
    kinds = {tag} if tag else {of_condition(c.params).name for c in stored_conditions(study, uri)}
    for other in sorted(kinds - {kind}):
        raise UserError(
            f"study: {study!r} holds {KINDS[other].plural} already, and can't hold "
            f"{KINDS[kind].plural} as well; give these a study of their own"
        )


def require_active(study: str, uri: str) -> str | None:
    """Refuse a study whose name is taken by an experiment to which nothing can be written.

    Returns
    -------
    str or None
        The kind of study that it is tagged as; ``None`` for a new or an older one.

    Raises
    ------
    UserError
        It is in MLflow's trash.
    """
    for number, stage, kind in _experiments(study, uri):
        if stage != "active":
            raise store.deleted(study, number, uri)
        return kind
    return None


def stored_conditions(study: str, uri: str) -> list[StoredCondition]:
    """The conditions of a study; none where there is no such study, or no store yet."""
    path = store.local(uri)
    rows = database.rows(path, _CONDITIONS, study) if path else _served_conditions(study, uri)
    runs: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for run, key, value in rows:
        runs[run][key] = value
    return [
        StoredCondition(run.pop("plenum.cell", ""), int(run.pop("plenum.target", 0)), run)
        for run in runs.values()
    ]


def _experiments(study: str, uri: str) -> list[tuple[str, str, str | None]]:
    """Id, stage and kind of a study's experiment, if there is one."""
    path = store.local(uri)
    if path is not None:
        rows = database.rows(path, _EXPERIMENT, KIND_TAG, study)
        return [(str(number), stage, kind) for number, stage, kind in rows]
    return [
        (each["experiment_id"], each["lifecycle_stage"], _tag(each))
        for each in _served(study, uri, "ALL")
    ]


def _tag(experiment: Mapping[str, Any]) -> str | None:
    values = [t.get("value") for t in experiment.get("tags", []) if t["key"] == KIND_TAG]
    return values[0] if values else None


def _served(study: str, uri: str, stages: str) -> list[dict[str, Any]]:
    name = study.replace("'", "\\'")
    query = {"filter": f"name = '{name}'", "max_results": 1, "view_type": stages}
    return list(store.post(uri, "experiments/search", query).get("experiments", []))


def _served_conditions(study: str, uri: str) -> Iterable[tuple[str, str, str]]:
    for experiment in _served(study, uri, "ACTIVE_ONLY"):
        query: dict[str, Any] = {
            "experiment_ids": [experiment["experiment_id"]],
            "filter": "tags.`plenum.kind` = 'condition'",
            "max_results": 1000,
        }
        while True:
            page = store.post(uri, "runs/search", query)
            for run in page.get("runs", []):
                for entry in [*run["data"].get("params", []), *run["data"].get("tags", [])]:
                    yield run["info"]["run_id"], entry["key"], entry.get("value", "")
            if not page.get("next_page_token"):
                break
            query["page_token"] = page["next_page_token"]
