"""Audits in the tracking store: one run each, so that they can be compared over time."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.tracking.experiments import find_experiment
from plenum.tracking.runs import open_study, read_artifacts, search_runs
from plenum.tracking.store import open_client
from plenum.tracking.views import source_tags

AUDITS = "tags.`plenum.kind` = 'audit'"
REPORT = "audit.json"


@dataclass(frozen=True)
class Verdict:
    """The stored part of a verdict, on a case or on all.

    Attributes
    ----------
    runs
        Number of runs that it is based on: the step of its metrics.
    """

    verdict: str
    runs: int
    metrics: Mapping[str, float] = field(default_factory=dict)


def log_audit(
    study: str,
    uri: str,
    verdict: Verdict,
    cases: Mapping[str, Verdict],
    params: Mapping[str, Any],
    files: Sequence[Path],
    simulated: bool,
) -> str:
    """Log an audit as its own run, and the verdicts on cases to the runs of their conditions.

    Parameters
    ----------
    cases
        Verdicts by the run of their condition.
    params
        The rule, and the program's description.
    files
        Artifacts of the audit's run.

    Returns
    -------
    str
        Id of the audit's run.
    """
    from mlflow.entities import Metric, Param, RunTag

    client = open_client(uri)
    experiment = find_experiment(client, uri, study)
    tags = {**source_tags(), "plenum.kind": "audit", "plenum.simulated": str(simulated).lower()}
    number = len(search_runs(client, experiment, AUDITS)) + 1
    run = client.create_run(experiment, run_name=f"audit {number}", tags=tags)
    now = int(run.info.start_time)
    for run_id, each in {**cases, run.info.run_id: verdict}.items():
        client.log_batch(
            run_id,
            metrics=[Metric(name, value, now, each.runs) for name, value in each.metrics.items()],
            tags=[RunTag("plenum.verdict", each.verdict)],
        )
    client.log_batch(
        run.info.run_id, params=[Param(name, str(value)) for name, value in params.items()]
    )
    for file in files:
        client.log_artifact(run.info.run_id, str(file))
    client.set_terminated(run.info.run_id)
    return str(run.info.run_id)


def read_last_report(study: str, uri: str) -> bytes:
    """Return the ``audit.json`` of a study's last audit.

    Raises
    ------
    UserError
        There is no such study at ``uri``, it is empty, no audit of it has ended, or the last one
        was of a suite or a log.
    """
    client, experiment, _ = open_study(study, uri)
    audits = search_runs(client, experiment.experiment_id, AUDITS)
    held = read_artifacts(client, audits[-1], [REPORT]) if audits else {}
    if not held:
        why = "no audit has ended; the same scripts/audit.py command goes on"
        if audits:
            why = "the last was of a suite: suite.html in its run in MLflow, or verdict.html"
        raise UserError(f"study: {study!r} has no tables: {why}")
    return held[REPORT]


def read_audited_programs(study: str, uri: str) -> set[str]:
    """Return the identities of the programs that the audits of a study were about.

    Settings that an audit tried, and its control, aren't among them.

    Raises
    ------
    UserError
        There is no such study at ``uri``, or it is empty.
    """
    client, experiment, _ = open_study(study, uri)
    audits = search_runs(client, experiment.experiment_id, AUDITS)
    named = (audit.data.params.get("program", "").split() for audit in audits)
    return {identity for each in named for identity in each}


def metric_part(name: str) -> str:
    """Convert a text to part of a metric's name, in which MLflow allows few characters."""
    return re.sub(r"[^\w. -]", "_", name, flags=re.ASCII)[:100] or "_"
