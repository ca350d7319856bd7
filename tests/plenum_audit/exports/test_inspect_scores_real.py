"""Verdicts as scores in the real inspect, in its environment, with its mock model."""

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


@pytest.mark.parametrize("suite", ["suite=false", "suite=true"])
def test_verdicts_come_back_as_scores_of_the_log(tmp_path: Path, suite: str) -> None:
    done = inspect("eval", tmp_path, 5)
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
