"""Early stopping and scores in the real inspect, in its environment, with its mock model."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / ".frameworks/inspect/bin/python"


def inspect(*arguments: object) -> Any:
    """What ``task_run.py`` prints last."""
    if not (ROOT / ".frameworks/inspect/versions.txt").exists():
        pytest.skip("no environment of inspect: sh scripts/frameworks.sh inspect")
    done = subprocess.run(
        [str(PYTHON), str(Path(__file__).parent / "task_run.py"), *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "INSPECT_DISPLAY": "none"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def evaluated(folder: Path, plan: str, epochs: int, **settings: object) -> Any:
    return inspect("eval", folder, plan, epochs, json.dumps(settings))


def test_epochs_end_when_each_sample_s_verdict_stands(tmp_path: Path) -> None:
    done = evaluated(tmp_path, "mixed", 40, whole_task=False)
    assert (done["status"], done["manager"]) == ("success", "plenum")
    found = {name: (c["verdict"], c["runs"]) for name, c in done["metadata"]["cases"].items()}
    assert done["metadata"]["verdict"] == "unstable"
    assert found["roof"] == found["well"] == ("stable", done["ran"]["roof"])
    assert found["bridge"] == ("unstable", done["ran"]["bridge"])
    assert 2 <= done["ran"]["bridge"] < done["ran"]["roof"] < 40
    assert sum(done["ran"].values()) + len(done["stopped"]) == 120
    assert ["roof", 40, f"stable after {found['roof'][1]} runs"] in done["stopped"]


def test_the_runs_until_a_verdict_are_those_of_an_audit(tmp_path: Path) -> None:
    from plenum_verdicts.dynamics import StabilityRule, judge_case

    done = evaluated(tmp_path, "stable", 40)
    verdict = judge_case(["A"] * 40, ("A", "B"), StabilityRule())
    assert done["metadata"]["verdict"] == "stable"
    assert set(done["ran"].values()) == {verdict.evidence.runs}


def test_all_epochs_end_when_the_task_is_shown_to_be_unstable(tmp_path: Path) -> None:
    done = evaluated(tmp_path, "mixed", 40)
    assert done["metadata"]["verdict"] == "unstable"
    assert done["metadata"]["cases"]["roof"]["verdict"] == "undecided"
    assert ["roof", 40, "the task is unstable"] in done["stopped"]
    assert max(done["ran"].values()) < 18


def test_a_sample_with_an_error_is_not_decided_on_the_others(tmp_path: Path) -> None:
    done = evaluated(tmp_path, "failing", 20)
    cases = done["metadata"]["cases"]
    assert (cases["well"]["verdict"], cases["well"]["runs"]) == ("undecided", 2)
    assert (cases["roof"]["verdict"], done["ran"]["well"]) == ("stable", 20)


@pytest.mark.parametrize("suite", ["suite=false", "suite=true"])
def test_verdicts_come_back_as_scores_of_the_log(tmp_path: Path, suite: str) -> None:
    done = evaluated(tmp_path, "mixed", 5, stop=False)
    audit = subprocess.run(
        [sys.executable, str(ROOT / "scripts/audit.py"), "tracking=none", f"logs={done['log']}",
         "inspect_scores=scores.jsonl", suite],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert audit.returncode in (1, 3), audit.stderr
    values, accuracy, about = inspect("score", done["log"], tmp_path / "scores.jsonl")
    assert {name: value for name, value in values.items() if value == "I"} == {
        "bridge 2": "I",
        "bridge 4": "I",
    }
    assert accuracy == pytest.approx(13 / 15)
    assert about["bridge"]["agreement"] == pytest.approx(0.4)  # 4 of 10 pairs
    assert about["bridge"]["runs"] == 5
    verdict = "contradicts itself" if suite == "suite=true" else "unstable"
    assert about["bridge"]["verdict"] in (verdict, "undecided")
