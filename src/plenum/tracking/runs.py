"""The runs of a study in the tracking store, and their artifacts."""

import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from plenum.base.errors import UserError
from plenum.tracking import artifacts, experiments, rows, server, store, stored_runs
from plenum.tracking.order import order_runs
from plenum.tracking.run_writer import is_cut, name_whole
from plenum.tracking.stored_run import StoredRun, is_estimated

_AT_ONCE = 8
"""The largest number of requests that are sent to a server at a time."""

_Part = TypeVar("_Part")

CONDITIONS = "tags.`plenum.kind` = 'condition'"
REPLICATES = "tags.`plenum.kind` = 'replicate'"


def open_existing(uri: str) -> Any:
    """Open a client of a store; ``None`` if nothing has been tracked there yet."""
    path = store.local(store.absolute_uri(uri))
    if path is not None and not path.exists():
        return None
    if path is not None and not os.access(path.parent, os.W_OK):
        why = "can't be written to, and MLflow reads no store without writing"
        raise UserError(f"tracking.uri: {path.parent} {why}; copy the folder, and read the copy")
    store.require_writable_store(store.absolute_uri(uri))
    return store.open_client(uri)


def open_study(study: str, uri: str) -> tuple[Any, Any, list[Any]]:
    """Open a client, the study's experiment, and the runs of its conditions.

    Raises
    ------
    UserError
        There is no such study at ``uri``, or nothing in it.
    """
    client = open_existing(uri)
    if client is None:
        raise UserError(f"study: nothing has been tracked here yet ({uri} doesn't exist)")
    with server.require_permission(uri):
        experiment = client.get_experiment_by_name(study)
    if experiment is None:
        names = sorted(e.name for e in client.search_experiments() if e.name != "Default")
        raise UserError(f"study: there is no study {study!r}; known: {', '.join(names) or 'none'}")
    if experiment.lifecycle_stage != "active":
        raise experiments.make_trash_error(study, experiment.experiment_id, uri)
    path = store.local(store.absolute_uri(uri))
    if path is None:
        runs = search_runs(client, experiment.experiment_id, CONDITIONS)
    else:  # MLflow takes a millisecond and 50 kB a run
        runs = [*stored_runs.list_stored_runs(path, study, "plenum.kind", "condition")]
    if not runs:
        raise UserError(f"study: {study!r} holds no condition yet")
    if path is not None:
        _require_files(runs, study, path)
    for run in runs:
        for key, text in run.data.params.items():
            if is_cut(text):
                whole = read_artifacts(client, run, [name_whole(key)]).values()
                run.data.params[key] = next((each.decode() for each in whole), text)
    return client, experiment, order_runs(runs)


def _require_files(runs: Sequence[Any], study: str, path: Path) -> None:
    """Refuse a study whose files are gone, which the store alone doesn't hold."""
    folders = [artifacts.folder(run.info.artifact_uri) for run in runs if is_estimated(run)]
    gone = [folder for folder in folders if folder is not None and not folder.is_dir()]
    if gone:
        raise UserError(
            f"study: the files of {len(gone)} conditions of {study!r} aren't where the store "
            f"{path} has them, as in {gone[0]}; bring them back, or delete {path.name} and repeat "
            "the study's run.py command, which makes all from the journals"
        )


def search_runs(client: Any, experiment: str, query: str, *, deleted: bool = False) -> list[Any]:
    """Search the runs of an experiment by a filter, the oldest first; maybe also deleted ones."""
    from mlflow.entities import ViewType

    view = ViewType.ALL if deleted else ViewType.ACTIVE_ONLY
    runs: list[Any] = []
    token = None
    while True:
        page = client.search_runs(
            [experiment], query, view, 1000, order_by=["start_time ASC"], page_token=token
        )
        runs += page
        token = page.token
        if not token:
            return runs


def each(read: Callable[..., _Part], *arguments: Sequence[Any]) -> list[_Part]:
    """Call ``read`` for each run, several at a time, and list the results in order."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(read, *arguments))


def count_interrupted(client: Any, experiment: str, runs: Sequence[Any]) -> dict[str, Counter[str]]:
    """Count replicates by status and by cell, for conditions that were stopped before estimates."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for run in (run for run in runs if not is_estimated(run)):
        cell = run.data.tags["plenum.cell"]
        query = f"{REPLICATES} and tags.`plenum.cell` = '{cell}'"
        for replicate in (*search_runs(client, experiment, query), *read_rows(client, run)):
            tags = replicate.data.tags
            counts[cell][tags["plenum.failure"] or tags["plenum.status"]] += 1
    return counts


def read_rows(client: Any, run: Any, *, whole: bool = False) -> list[StoredRun]:
    """Read the replicates that are rows of a condition's run; :func:`plenum.tracking.rows.read`."""
    if rows.ROWS_TAG not in run.data.tags:
        return []
    data = read_artifacts(client, run, [rows.ROWS_FILE]).get(rows.ROWS_FILE)
    return rows.read(data, run, whole=whole) if data else []


def read_artifacts(client: Any, run: Any, names: Sequence[str]) -> dict[str, bytes]:
    """Read those artifacts of a run that exist, by name."""
    folder = artifacts.folder(run.info.artifact_uri)
    if folder is not None:
        return {name: (folder / name).read_bytes() for name in names if (folder / name).exists()}
    stored = {file.path for file in client.list_artifacts(run.info.run_id)}
    with tempfile.TemporaryDirectory() as scratch:
        return {
            name: local_copy(client, run, name, Path(scratch)).read_bytes()
            for name in names
            if name in stored
        }


def local_copy(client: Any, run: Any, name: str, scratch: Path) -> Path:
    """Return an artifact's file: in place if it is on this disk, else downloaded."""
    folder = artifacts.folder(run.info.artifact_uri)
    if folder is not None:
        return folder / name
    return Path(client.download_artifacts(run.info.run_id, name, str(scratch)))
