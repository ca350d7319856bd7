"""A study's report from the command line: committees and worlds."""

import re
from pathlib import Path

from mlflow import MlflowClient

from .conftest import Run


def test_a_study_becomes_a_page(run: Run, stored: Path) -> None:
    run("-m", "roles=on,off", "rounds=5", "replicates=4", "study=two", cwd=stored)
    done = run("study=two", "draws=200", "out=there", script="scripts/report.py", cwd=stored)
    assert done.returncode == 0, done.stderr
    page = (stored / "there/report.html").read_text(encoding="utf-8")
    text = (stored / "there/report.md").read_text(encoding="utf-8")
    assert "All agents were simulated" in page.partition("<nav")[0]
    assert "All 8 replicates that were wanted were completed" in page
    assert "<h1>Study two</h1>" in page
    assert not re.search(r"<script|https?://", page)
    shown = re.findall(r"!\[.*\]\((.+)\)", text)
    assert shown
    assert all((stored / "there" / name).exists() for name in shown)
    assert page.count("<img ") == len(shown)
    client = MlflowClient(f"sqlite:///{stored}/mlruns/mlflow.db")
    experiment = client.get_experiment_by_name("two")
    assert experiment is not None
    (report,) = client.search_runs([experiment.experiment_id], "tags.`plenum.kind` = 'report'")
    logged = {file.path for file in client.list_artifacts(report.info.run_id)}
    assert {"report.html", "report.md", *shown} <= logged
    parents = client.search_runs([experiment.experiment_id], "tags.`plenum.kind` = 'condition'")
    assert all(parent.info.run_id in page for parent in parents)


def test_a_study_of_worlds_becomes_one_too(run: Run, stored: Path) -> None:
    run("task=public_goods", "study=pg", "rounds=2", "replicates=1", cwd=stored)
    done = run("study=pg", script="scripts/report.py", cwd=stored)
    assert done.returncode == 0, done.stderr
    page = (stored / "outputs/pg/report.html").read_text(encoding="utf-8")
    assert "act together in the world public goods" in page
    assert "The one run that was wanted was completed." in page
    assert page.count("<img ") == 3


def test_nothing_is_written_of_no_study(run: Run, tmp_path: Path) -> None:
    done = run("study=nothing", script="scripts/report.py")
    assert done.returncode == 2
    (line,) = done.stderr.strip().splitlines()
    assert "study: nothing has been tracked here yet" in line
    assert not (tmp_path / "outputs").exists()
