"""Audits in the tracking store: a run each, so that they compare over time."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plenum.tracking import runs, store, views

AUDITS = "tags.`plenum.kind` = 'audit'"


@dataclass(frozen=True)
class Verdict:
    """What is kept of a verdict, of a case or of all.

    Attributes
    ----------
    runs
        That it rests on: the step of its metrics.
    """

    verdict: str
    runs: int
    metrics: Mapping[str, float] = field(default_factory=dict)


def log(
    study: str,
    uri: str,
    verdict: Verdict,
    cases: Mapping[str, Verdict],
    params: Mapping[str, Any],
    files: Sequence[Path],
    simulated: bool,
) -> str:
    """Log an audit as a run of its own, and the verdicts of cases to the runs of their conditions.

    Parameters
    ----------
    cases
        By the run of their condition.
    params
        The rule, and what names the program.
    files
        Artifacts of the audit's run.

    Returns
    -------
    str
        The audit's run.
    """
    from mlflow.entities import Metric, Param, RunTag

    client = store.open_client(uri)
    experiment = store.experiment(client, uri, study)
    tags = {
        **views.source(),
        "plenum.kind": "audit",
        "plenum.simulated": str(simulated).lower(),
    }
    number = len(runs.search(client, experiment, AUDITS)) + 1
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


def latest(study: str, uri: str) -> dict[str, str]:
    """The params of a study's last audit; empty where there was none.

    Raises
    ------
    UserError
        There is no such study at ``uri``, or nothing in it.
    """
    client, experiment, _ = runs.opened(study, uri)
    audits = runs.search(client, experiment.experiment_id, AUDITS)
    return dict(audits[-1].data.params) if audits else {}


def metric(name: str) -> str:
    """A text as part of a metric's name, in which MLflow allows few signs."""
    return re.sub(r"[^\w. -]", "_", name, flags=re.ASCII)[:100] or "_"
