"""A suite is run by the command line: a fixed number of runs of each case, and one verdict."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command_line import call, journals, replicates, start, wait_for
from mlflow import MlflowClient

from plenum.tracking.study import Study

pytestmark = pytest.mark.long

GIVEN = ("committee=program.py:committee", "case=cases.jsonl", "suite=true", "repeats=3")
PROGRAM = """
import time
from pathlib import Path

HERE = Path(__file__).parent

def committee(case, run):
    time.sleep(0.5 * (HERE / "slow").exists())
    if (HERE / "broken").exists() and case.id == "c7":
        raise SystemExit(3)
    return "AB"[case.id in ("c1", "c2") and run.index % 2]
"""


def audit(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return call(folder, "scripts/audit.py", "tracking=none", *GIVEN, *arguments, status=None)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A folder with a program and thirty cases, of which the first is right."""
    (tmp_path / "program.py").write_text(PROGRAM)
    cases = [
        {"id": f"c{n}", "text": f"Case {n}?", "options": {"A": "a", "B": "b"}, "answer": "A"}
        for n in range(30)
    ]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    return tmp_path


def held(folder: Path, out: str = "outputs/audit") -> Any:
    return json.loads((folder / out / "suite.json").read_text())


def test_each_case_is_run_as_often_and_all_get_one_verdict(suite: Path) -> None:
    planned = audit(suite, "dry_run=true")
    assert planned.returncode == 0, planned.stderr
    assert not (suite / "outputs").exists()
    done = audit(suite)
    found = held(suite)
    assert done.returncode == found["exit_status"] == 3, done.stderr
    assert found["repeats"] == [3, 3]
    assert "rehearsal" not in done.stdout  # this program asks no model
    assert sorted(found["contradicted"]) == ["c1", "c2"]
    assert found["disagreement"]["value"] == pytest.approx(2 / 30 * 2 / 3)
    assert found["score"]["score"]["value"] == pytest.approx(1 - 2 / 90)
    before = journals(suite)
    assert len(before) == 90
    again = audit(suite, "decide=.3")
    assert again.returncode == 3
    assert journals(suite) == before  # nothing was run again
    assert held(suite)["acting"]["chosen"] == {"runs": 1, "agreeing": 1}


def test_a_rehearsal_with_simulated_agents_says_so_wherever_its_verdict_stands(
    suite: Path,
) -> None:
    done = audit(suite, "backend=simulated", "repeats=2")
    assert "rehearsal with simulated agents, not evidence" in done.stdout
    assert "rehearsal" in held(suite)["doubts"][0]
    for kind in ("md", "html"):
        assert "rehearsal" in (suite / "outputs/audit" / f"suite.{kind}").read_text()


def test_the_verdict_is_a_run_in_mlflow_with_its_files(suite: Path) -> None:
    given = ("tracking=local", "study=nightly", "tested_by=Ada Lovelace", *GIVEN)
    for _ in range(2):
        call(suite, "scripts/audit.py", *given, status=3)
    client = MlflowClient(f"sqlite:///{suite}/mlruns/mlflow.db")
    (experiment,) = client.search_experiments(filter_string="name = 'nightly'")
    query = "tags.`plenum.kind` = 'audit'"
    runs = client.search_runs([experiment.experiment_id], query)
    assert [run.data.tags["plenum.verdict"] for run in runs] == ["undecided"] * 2
    metrics = runs[0].data.metrics
    assert (metrics["runs"], metrics["cases"], metrics["cases_contradicted"]) == (90, 30, 2)
    assert metrics["disagreement"] == pytest.approx(2 / 30 * 2 / 3)
    assert metrics["score"] == pytest.approx(1 - 2 / 90)
    files = {file.path for file in client.list_artifacts(runs[0].info.run_id)}
    assert files >= {"suite.json", "suite.html", "suite.md", "suite.csv"}


def test_many_runs_are_rows_of_mlflow_and_all_are_there_at_the_end(suite: Path) -> None:
    given = ("scripts/audit.py", "study=suite", *GIVEN[:3], "repeats=17")  # 510 runs
    call(suite, *given, "committee.isolate=none", status=None)
    study = Study("suite", f"sqlite:///{suite}/mlruns/mlflow.db")
    assert study.nested_runs == []
    rows = replicates(study)
    assert len(rows) == 510
    assert {(row.info.status, row.data.tags["plenum.status"]) for row in rows} == {
        ("FINISHED", "completed")
    }
    ended = [row.data.tags["plenum.decision"] for row in rows]
    assert ended.count("B") == held(suite, "outputs/suite")["repeats"][0] // 2 * 2
    assert len(study.conditions) == 30
    assert all(condition.completed == 17 for condition in study.conditions)


def test_a_few_runs_are_tracked_as_the_setting_says(suite: Path) -> None:
    given = ("scripts/audit.py", *GIVEN, "committee.isolate=none")
    for wanted, nested in (("none", 0), ("auto", 90)):
        call(suite, *given, f"study={wanted}", f"tracking.replicates={wanted}", status=None)
        study = Study(wanted, f"sqlite:///{suite}/mlruns/mlflow.db")
        assert (len(study.nested_runs), len(replicates(study))) == (nested, 90)


def test_a_case_that_always_fails_agrees_with_nothing(suite: Path) -> None:
    (suite / "broken").touch()
    done = audit(suite)
    assert done.returncode == 3, done.stderr
    assert "c7" in held(suite)["contradicted"]


def test_a_killed_suite_has_no_verdict_and_continues(suite: Path) -> None:
    (suite / "slow").touch()
    child = start(suite, "scripts/audit.py", "tracking=none", *GIVEN)
    wait_for(child, lambda: len(journals(suite)) > 3)
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    assert (held(suite)["verdict"], held(suite)["exit_status"]) == (None, 4)
    (suite / "slow").unlink()
    assert audit(suite).returncode == 3
    assert held(suite)["repeats"] == [3, 3]
    assert len(journals(suite)) == 90
