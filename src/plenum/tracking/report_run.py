"""The run of a study that holds its reports: files and folders that scripts make of it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plenum.tracking import experiments, runs, server, store, views


def log_report(study: str, uri: str, files: Sequence[Path]) -> None:
    """Log files and folders to the study's report run, which is created at first use."""
    client = store.open_client(uri)
    with server.require_permission(uri):
        experiment = experiments.find_experiment(client, uri, study)
        views.save(client, experiment)
        _log_report(client, experiment, files)


def _log_report(client: Any, experiment: str, files: Sequence[Path]) -> None:
    reports = runs.search_runs(client, experiment, "tags.`plenum.kind` = 'report'")
    if reports:
        run = reports[0]
    else:
        tags = {"plenum.kind": "report", **views.source_tags()}
        run = client.create_run(experiment, run_name="report", tags=tags)
    run_id = run.info.run_id
    if run.info.status != "FINISHED":  # a fresh one, or one whose first writer was killed
        client.set_terminated(run_id)
    for file in files:
        log = client.log_artifacts if file.is_dir() else client.log_artifact
        log(run_id, str(file), file.name if file.is_dir() else None)
