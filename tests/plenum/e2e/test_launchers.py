"""Whichever launcher runs a sweep, it leaves the same behind; ``concurrent`` is the default."""

import sqlite3
from pathlib import Path

import pytest
from command_line import Run, journals, runs

pytestmark = pytest.mark.long

SMALL = ("replicates=2", "rounds=2", "hydra.sweep.dir=sweep")
LAUNCHERS = ["concurrent", "basic", "joblib"]


def tracked(folder: Path) -> list[int]:
    """How many conditions and replicates are in the store, which is whole."""
    with sqlite3.connect(folder / "mlruns/mlflow.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    return [len(runs(folder, "default", kind)) for kind in ("condition", "replicate")]


@pytest.mark.long
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_two_conditions_of_which_one_fails_by_each_launcher(
    run: Run, tmp_path: Path, launcher: str
) -> None:
    """The processes of ``joblib`` open one fresh store at once."""
    subdir = "hydra.sweep.subdir=${hydra.job.num}_${hydra.job.override_dirname}"
    rates = "backend.malformed_rate=1,0"
    done = run("-m", f"hydra/launcher={launcher}", rates, *SMALL, subdir, status=1)
    assert len(journals(tmp_path)) == 4
    assert tracked(tmp_path) == [2, 4]
    assert "4 replicates = 2 completed + 2 failed + 0 pending" in done.stderr
    assert "malformed_rate=1: 2 x parse" in done.stderr
    assert "Study default: two conditions" in done.stdout
    for number, rate in enumerate((1, 0)):
        named = f"#{number} : backend.malformed_rate={rate} replicates=2 rounds=2"
        assert (named in done.stdout) == (launcher != "concurrent")  # it names conditions instead
        job = tmp_path / f"sweep/{number}_backend.malformed_rate={rate},replicates=2,rounds=2"
        kept = sorted(str(file.relative_to(job)) for file in job.rglob("*.yaml"))
        assert kept == [f".hydra/{name}.yaml" for name in ("config", "hydra", "overrides")]
        overrides = (job / ".hydra/overrides.yaml").read_text()
        assert overrides.startswith(f"- backend.malformed_rate={rate}\n")
        assert (job / "outcome.json").exists()
    assert f"hydra/launcher: {launcher}" in (tmp_path / "sweep/multirun.yaml").read_text()


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_mistake_in_a_later_job_ends_in_its_line(run: Run, tmp_path: Path, launcher: str) -> None:
    done = run("-m", f"hydra/launcher={launcher}", "protocol.window=3,0", *SMALL, status=2)
    assert "error: protocol.window: 0 is not allowed" in done.stderr
    assert "Traceback" not in done.stderr
    late = run(
        "-m", f"hydra/launcher={launcher}", "roles=on,bogus", *SMALL, "study=other", status=2
    )
    assert "error: roles: bogus is none of ablate_chair" in late.stderr
    assert len(journals(tmp_path)) == (0 if launcher == "concurrent" else 2)


@pytest.mark.usefixtures("stored")
def test_batches_are_numbered_on(run: Run, tmp_path: Path) -> None:
    run("-m", "hydra.sweeper.max_batch_size=2", "seed=range(3)", *SMALL)
    assert sorted(job.name for job in (tmp_path / "sweep").iterdir() if job.is_dir()) == [*"012"]


def test_the_environment_of_the_jobs_is_set(run: Run) -> None:
    job = ("study=${oc.env:LABORATORY}", "+hydra.job.env_set.LABORATORY=here", "dry_run=true")
    run("-m", *job)


def test_many_conditions_say_that_they_are_being_composed(run: Run) -> None:
    done = run("-m", "seed=range(21)", "dry_run=true")
    assert done.stderr.splitlines()[0] == "composing 21 conditions"
    assert "in all 21 conditions" in done.stdout
