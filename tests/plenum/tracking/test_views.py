"""What MLflow's UI is told of a study: its views, and the links to them."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from plenum.tracking import experiments, store, views
from plenum.tracking.report_run import log_report

CELL = {"plenum.kind": "condition", "plenum.cell": "c"}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Studies: one of today, one without a view, one without a run, and a deleted one."""
    path = tmp_path_factory.mktemp("a store") / "mlflow.db"
    client = store.open_client(f"sqlite:///{path}")
    for name in ("today", "old", "empty", "deleted"):
        experiment = client.create_experiment(name)
        if name != "empty":
            client.create_run(experiment, tags=CELL)
        if name == "today":
            views.save(client, experiment)
        if name == "deleted":
            client.delete_experiment(experiment)
    return path


def test_every_study_has_a_link_to_its_charts(database: Path) -> None:
    found = views.refresh(database, "http://127.0.0.1:5001")
    assert list(found) == ["old", "today"]
    for link in found.values():
        page, _, asked = urlsplit(link).fragment.partition("?")
        assert page.startswith("/experiments/")
        assert urlsplit(link).netloc == "127.0.0.1:5001"
        wanted = {"workflowType": ["machine_learning"], "compareRunsMode": ["CHART"]}
        assert parse_qs(asked) == {**wanted, "viewStateShareKey": [views.CONDITIONS]}


def test_a_view_shows_conditions_with_their_estimates_and_no_report() -> None:
    states = {key: json.loads(json.loads(view)["state"]) for key, view in views.tags().items()}
    shown = states[f"mlflow.sharedViewState.{views.CONDITIONS}"]
    assert shown["searchFilter"] == "tags.`plenum.kind` = 'condition'"
    assert {"metrics.`lambda`", "metrics.`flip_rate`"} <= set(shown["selectedColumns"])
    runs = [state for key, state in states.items() if key.startswith(views.TAG)]
    assert all("plenum.kind" in state["searchFilter"] for state in runs)
    assert all(len(view) < 5000 for view in views.tags().values())  # MLflow's limit of a tag


def test_the_view_heads_few_charts_by_sections_and_folds_the_others() -> None:
    view = views.tags()[f"{views.TAG}{views.CONDITIONS}"]
    state = json.loads(json.loads(view)["state"])
    sections = {each["uuid"]: each for each in state["compareRunSections"]}
    charts = state["compareRunCharts"]
    metrics = [chart["metricKey"] for chart in charts]
    limits = ("", "_ci_low", "_ci_high")
    growth = [f"{name}{limit}" for name in ("lambda", "typical_growth") for limit in limits]
    assert metrics == ["D", "log_D", "flip_rate", *growth]
    opened = [name for name, section in sections.items() if section["display"]]
    assert {chart["metricSectionId"] for chart in charts} == set(opened)
    assert [name for name in sections if name not in opened] == ["Model metrics"]


def test_a_description_links_to_the_views_unless_somebody_wrote_another(tmp_path: Path) -> None:
    client = store.open_client(f"sqlite:///{tmp_path}/mlflow.db")
    written = {"mlflow.note.content": "Ours."}
    own, ours = (client.create_experiment(name, tags=written) for name in ("own", "ours"))
    client.set_experiment_tag(ours, "mlflow.note.content", experiments.NOTE)
    for experiment in (own, ours):
        views.save(client, experiment)
        views.save(client, experiment)
    notes = [client.get_experiment(each).tags["mlflow.note.content"] for each in (own, ours)]
    first, rest = notes[1].split("\n\n", 1)
    assert notes[0] == "Ours."
    assert rest == experiments.NOTE
    assert f"(#/experiments/{ours}/runs?" in first
    assert f"(#/experiments/{ours}/traces?" in first


def test_studies_of_earlier_versions_get_the_views_before_links_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mlflow.db"
    client = store.open_client(f"sqlite:///{path}")
    earlier = {f"{views.TAG}{views.CONDITIONS}": "{}", "mlflow.note.content": experiments.NOTE}
    client.create_run(client.create_experiment("earlier", tags=earlier), tags=CELL)
    monkeypatch.setattr("sys.argv", ["views", str(path), "http://h"])
    views.main()
    assert "viewStateShareKey" in capsys.readouterr().out
    experiment = client.get_experiment_by_name("earlier")
    assert experiment is not None
    found = experiment.tags
    assert {key: found[key] for key in views.tags()} == views.tags()
    assert found["mlflow.note.content"] != experiments.NOTE


def test_an_old_study_gets_its_views_and_its_report_run_a_source(
    database: Path, tmp_path: Path
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("a")
    log_report("old", f"sqlite:///{database}", [file])
    with closing(sqlite3.connect(database)) as connection:
        names = connection.execute("SELECT value FROM tags WHERE key = 'mlflow.source.name'")
        assert names.fetchall() == [("plenum",)]
    client = store.open_client(f"sqlite:///{database}")
    assert views.tags().keys() <= client.get_experiment_by_name("old").tags.keys()


@pytest.mark.parametrize(
    ("version", "commit"),
    [
        ("0.9.0+43f92ec", "43f92ec"),
        ("0.9.0+43f92ec-dirty", "43f92ec"),
        ("0.9.0+v1.2-3-g43f92ec0", "43f92ec0"),
        ("0.9.0", None),
        ("", None),
    ],
)
def test_a_run_names_plenum_and_its_commit_as_its_source(version: str, commit: str | None) -> None:
    assert views.source_tags(version).get("mlflow.source.git.commit") == commit
    assert views.source_tags(version)["mlflow.source.name"] == "plenum"
