"""Sweeps of more conditions than there may be open files, or lines on a terminal."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Run, runs

from plenum.tracking.study import Study

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[3]
MANY = 150


def test_more_conditions_than_open_files_run_and_are_summed_up(tmp_path: Path) -> None:
    sweep = [*("-m", f"seed=range({MANY})", "protocol=one_shot", "rounds=1", "replicates=1")]
    command = [sys.executable, str(ROOT / "run.py"), *sweep, "tracking=none", "hydra.sweep.dir=out"]
    done = subprocess.run(
        ["sh", "-c", 'ulimit -n 280; exec "$@"', "sh", *command],
        cwd=tmp_path,
        env={**os.environ, "PLENUM_ROOT": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert f"{MANY} replicates = {MANY} completed + 0 failed + 0 pending" in output
    assert output.count("1/1 completed") == 100  # the first ones; all are in the output folders
    outcomes = [json.loads(file.read_text()) for file in tmp_path.glob("out/*/outcome.json")]
    assert len({each["identity"] for each in outcomes}) == MANY
    assert all(each["completed"] == 1 for each in outcomes)


def test_a_hundred_seats_are_whole_in_mlflow_and_no_library_speaks(
    run: Run, tmp_path: Path
) -> None:
    model = "m" * 90
    seats = (f"model.default={model}", "roles.agents=100", "rounds=1", "replicates=2")
    done = run("-m", "study=many", *seats, "temperature=t0,t0.7")
    assert not re.findall(
        r"Warning|INFO|alembic", done.stdout.replace("warnings", "") + done.stderr
    )
    for one in runs(tmp_path, "many", "condition"):
        assert one.data.params["models"].endswith("m ... whole in param.models.txt")
    run("study=many", "out=many.zip", script="scripts/export.py")
    run("archive=many.zip", "study=back", script="scripts/import.py")
    for name in ("many", "back"):
        study = Study(name, f"sqlite:///{tmp_path}/mlruns/mlflow.db")
        for known in study.provenance.values():
            assert [named for _, named in known.models] == [model] * 100
