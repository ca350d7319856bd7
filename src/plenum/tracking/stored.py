"""The conditions that a study holds, read before anything is run for it, without MLflow's client.

Importing MLflow takes seconds: an SQLite store is asked by SQL, a server by its REST interface.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from plenum.tracking import database, store

_LOCAL = """
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


def stored_conditions(study: str, uri: str) -> list[StoredCondition]:
    """The conditions of a study; none where there is no such study, or no store yet."""
    path = store.local(uri)
    rows = database.rows(path, _LOCAL, study) if path else _served(study, uri)
    runs: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for run, key, value in rows:
        runs[run][key] = value
    return [
        StoredCondition(run.pop("plenum.cell", ""), int(run.pop("plenum.target", 0)), run)
        for run in runs.values()
    ]


def _served(study: str, uri: str) -> Iterable[tuple[str, str, str]]:
    query: dict[str, Any] = {"filter": f"name = '{study}'", "max_results": 1}
    for experiment in store.post(uri, "experiments/search", query).get("experiments", []):
        query = {
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
