"""Whether a store holds a condition already, exactly as it would be written; without MLflow."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plenum.tracking import database, states, store, traces

_RUNS = """
    WITH cell AS (
        SELECT run_uuid, status, artifact_uri, runs.experiment_id AS experiment
        FROM runs JOIN experiments USING (experiment_id) JOIN tags USING (run_uuid)
        WHERE experiments.name = ? AND experiments.lifecycle_stage = 'active'
          AND runs.lifecycle_stage = 'active'
          AND tags.key = 'plenum.cell' AND tags.value = ?
    )
    SELECT run_uuid, status, artifact_uri, experiment, key, value
    FROM cell JOIN tags USING (run_uuid)
"""


@dataclass
class _Run:
    """A run as the store's file has it."""

    id: str
    status: str
    artifacts: Path | None
    experiment: str
    tags: dict[str, str] = field(default_factory=dict)

    @property
    def state(self) -> str:
        return states.of_run(self.status, self.tags)


def holds(
    uri: str,
    study: str,
    condition: dict[str, Any],
    target: int,
    report: dict[str, Any],
    replicates: Mapping[str, str],
    traced: frozenset[str],
) -> bool:
    """Whether writing a condition would change nothing.

    Parameters
    ----------
    uri
        Of the store, absolute; of a server nothing is known without asking, so it never holds.
    condition
        As :meth:`StudyWriter.open <plenum.tracking.writer.StudyWriter.open>` takes it.
    report
        Its estimates and accounts.
    replicates
        What the run of each replicate is written from, by the name of its journal.
    traced
        The journals that are to have a trace.
    """
    path = store.local(uri)
    if path is None:
        return False
    runs = _runs(path, study, condition["cell"])
    parents = [run for run in runs if run.tags.get("plenum.kind") == "condition"]
    if len(parents) != 1:
        return False
    (parent,) = parents
    children = {
        f"{int(run.tags['plenum.replicate']):03d}": run
        for run in runs
        if run.tags.get("plenum.kind") == "replicate"
    }
    return _parent_holds(parent, condition, target, report) and all(
        name in children and _child_holds(children[name], parent, name, state, name in traced)
        for name, state in replicates.items()
    )


def _parent_holds(
    parent: _Run, condition: dict[str, Any], target: int, report: dict[str, Any]
) -> bool:
    if parent.artifacts is None or "mlflow.source.name" not in parent.tags:
        return False
    files = ("ensemble.parquet", "replicates.parquet", "config.yaml", "condition.json")
    accounts = parent.artifacts / "accounts.json"
    return (
        parent.state == states.of_condition(report, condition)
        and parent.tags.get("plenum.target") == str(target)
        and all((parent.artifacts / name).is_file() for name in files)
        and accounts.is_file()
        and accounts.read_text(encoding="utf-8") == states.accounts_text(report["accounts"])
    )


def _child_holds(child: _Run, parent: _Run, name: str, state: str, traced: bool) -> bool:
    trace = traces.identifier(child.experiment, child.tags["plenum.cell"], name, state)
    return (
        child.state == state
        and child.tags.get("mlflow.parentRunId") == parent.id
        and child.artifacts is not None
        and (child.artifacts / "transcript" / f"{name}.jsonl").is_file()
        and (not traced or child.tags.get(traces.TAG) == trace)
    )


def _runs(path: Path, study: str, cell: str) -> list[_Run]:
    """The active runs of a cell: its conditions and their replicates."""
    tags: defaultdict[tuple[str, str, str, str], dict[str, str]] = defaultdict(dict)
    for run, status, artifacts, experiment, key, value in database.rows(path, _RUNS, study, cell):
        tags[run, status, artifacts, str(experiment)][key] = value
    return [
        _Run(run, status, store.folder(artifacts), experiment, found)
        for (run, status, artifacts, experiment), found in tags.items()
    ]
