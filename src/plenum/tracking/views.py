"""Saved views of a study in MLflow's UI, which it reads from tags of the experiment.

``python -m plenum.tracking.views mlruns/mlflow.db http://127.0.0.1:5000`` prints the pages on which
the studies of a local store are compared.
"""

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from plenum.base.errors import UserError
from plenum.base.project import as_typed
from plenum.tracking import experiments, runs, store

if TYPE_CHECKING:
    from mlflow import MlflowClient

TAG = "mlflow.sharedViewState."
"""MLflow's prefix of the tags that hold saved views; the rest of the name is the view's key."""

CONDITIONS = "plenum-conditions"
"""The key of the view that compares conditions."""

_TRACE_TAG = "mlflow.tracesV4ViewState."
"""MLflow's prefix of the tags that hold saved views of traces."""

_TRACES = "plenum-traces"
"""The key of the view that lists replicates with their outcomes."""

_NOTE_TAG = "mlflow.note.content"

_COLUMNS = (
    "attributes.`Source`", "metrics.`lambda`", "metrics.`lambda_ci_low`",
    "metrics.`lambda_ci_high`", "metrics.`typical_growth`", "metrics.`typical_growth_ci_low`",
    "metrics.`typical_growth_ci_high`", "metrics.`flip_rate`", "metrics.`gamma`",
    "metrics.`m.coverage`", "metrics.`m.mean_spread`", "metrics.`m.provision_rate`",
    "metrics.`n_completed`", "metrics.`n_failed`",
)  # fmt: skip
"""Columns of the list of runs; MLflow hides those that no run has."""

_SECTIONS = {
    "Divergence by round": {"D": "LINE", "log_D": "LINE"},
    "Decisions, growth λ̂": {
        "flip_rate": "BAR",
        "lambda": "BAR",
        "lambda_ci_low": "BAR",
        "lambda_ci_high": "BAR",
        "typical_growth": "BAR",
        "typical_growth_ci_low": "BAR",
        "typical_growth_ci_high": "BAR",
    },
}
"""Charts at the top of the page, by section: metrics, and their type. MLflow heads a chart of this
page by the key of its metric, so the sections say what these mean; longer names would be cut."""

_OTHERS = "Model metrics"
"""The section to which MLflow adds a chart of each metric that has none."""

_TRACE_COLUMNS = ("input", "output", "state", "tokens", "start_time")
"""Columns of the list of traces: the replicate and its condition, the outcome, and so on."""

_TRACE_TAGS = ("plenum.simulated",)
"""Tags of traces that get columns of their own, after the others."""


def tags() -> dict[str, str]:
    """Make the tags of an experiment that hold its views.

    Views of runs leave out the report run, which is no condition and has no numbers to chart.
    """
    return {
        f"{TAG}{CONDITIONS}": _view("Conditions", "tags.`plenum.kind` = 'condition'"),
        f"{TAG}plenum-replicates": _view(
            "Conditions and their replicates", "tags.`plenum.kind` != 'report'"
        ),
        f"{_TRACE_TAG}{_TRACES}": _trace_view("Replicates and their outcomes"),
    }


def source_tags(version: str = "") -> dict[str, str]:
    """Make the tags of a run by which the UI shows its source.

    Parameters
    ----------
    version
        The code version, as :func:`plenum.base.project.code_version` tells it.
    """
    # "VERSION+HASH", or after a git tag "VERSION+TAG-COUNT-gHASH".
    tags = {"mlflow.source.name": "plenum", "mlflow.source.type": "LOCAL"}
    if commit := re.search(r"[+g]([0-9a-f]{7,40})(-dirty)?$", version):
        tags["mlflow.source.git.commit"] = commit[1]
    return tags


def save(client: "MlflowClient", experiment: str) -> None:
    """Write an experiment's views, and the links to them in its description.

    Only tags that differ are written. A description that a user wrote or changed stays.
    """
    current = client.get_experiment(experiment).tags
    wanted = tags()
    if current.get(_NOTE_TAG) == experiments.NOTE:
        wanted[_NOTE_TAG] = _format_note(experiment)
    for key, value in wanted.items():
        if current.get(key) != value:
            client.set_experiment_tag(experiment, key, value)


def link(server: str, experiment: str) -> str:
    """Make the URL of a server's page that compares the conditions of an experiment by charts.

    Parameters
    ----------
    server
        The server's address, without a slash at the end.
    experiment
        The experiment's id.
    """
    query = {"workflowType": "machine_learning", "compareRunsMode": "CHART"}
    query |= {"viewStateShareKey": CONDITIONS}
    return f"{server}/#/experiments/{experiment}/runs?{urlencode(query)}"


def refresh(database: Path, server: str) -> dict[str, str]:
    """Give the studies of a local store today's views in place of an earlier version's.

    Parameters
    ----------
    database
        The SQLite file of the store.
    server
        The address at which it is served.

    Returns
    -------
    dict
        The URLs of the pages that compare each study's conditions.

    Raises
    ------
    UserError
        The file is no SQLite database, or a damaged one.
    """
    client = store.open_client(f"sqlite:///{database}")
    pages = {}
    for experiment in client.search_experiments(order_by=["name ASC"]):
        number = experiment.experiment_id
        if client.search_runs([number], runs.CONDITIONS, max_results=1):
            save(client, number)
            pages[experiment.name] = link(server, number)
    return pages


def main() -> None:
    """Update the views of a store's studies, and print the page of each."""
    database, server = sys.argv[1:]
    try:
        pages = refresh(Path(database), server)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    none = as_typed("no study here yet: python run.py")
    print("conditions by chart, once the server is up:" if pages else none)
    width = max(map(len, pages), default=0)
    for study, page in pages.items():
        print(f"  {study:{width}}  {page}")


def _view(name: str, query: str) -> str:
    """Encode a view as MLflow's UI saves it: the runs that match a query, the oldest first."""
    state = {
        "searchFilter": query,
        "orderByKey": "attributes.start_time",
        "orderByAsc": True,
        "selectedColumns": _COLUMNS,
        "runsHiddenMode": "FIRST_20_RUNS",
        "compareRunCharts": [
            _chart(metric, kind, section)
            for section, charts in _SECTIONS.items()
            for metric, kind in charts.items()
        ],
        "compareRunSections": [
            *(_section(name) for name in _SECTIONS),
            {**_section(_OTHERS), "display": False},  # folded
        ],
        "isAccordionReordered": True,  # else MLflow sorts sections by name
        "hideEmptyCharts": True,
    }
    return _save(name, state)


def _chart(metric: str, kind: str, section: str) -> dict[str, Any]:
    chart = {"type": kind, "uuid": metric, "metricKey": metric, "metricSectionId": section}
    return {**chart, "lineSmoothness": 0} if kind == "LINE" else chart


def _section(name: str) -> dict[str, Any]:
    """Describe a section with two charts per row: a third would cut their names."""
    return {"uuid": name, "name": name, "display": True, "columns": 2}


def _trace_view(name: str) -> str:
    """Encode a view of traces as MLflow's UI saves it: traces of any age, with their outcomes."""
    state = {
        "single": {"cols": ",".join(_TRACE_COLUMNS), "startTimeLabel": "ALL"},
        "multi": {},
        "customColumns": {f"tag:{tag}": True for tag in _TRACE_TAGS},
    }
    return _save(name, state)


def _save(name: str, state: dict[str, Any]) -> str:
    return json.dumps({"name": name, "createdAt": 0, "updatedAt": 0, "state": json.dumps(state)})


def _format_note(experiment: str) -> str:
    """Write the description of an experiment; its first line shows when it is folded."""
    query = {"workflowType": "genai", "startTimeLabel": "ALL", "traceViewShareKey": _TRACES}
    traces = f"#/experiments/{experiment}/traces?{urlencode(query)}"
    charts = link("", experiment).removeprefix("/")
    return (
        f"See the [conditions compared by charts]({charts}), "
        f"or [replicates, turn by turn]({traces}).\n\n{experiments.NOTE}"
    )


if __name__ == "__main__":
    main()
