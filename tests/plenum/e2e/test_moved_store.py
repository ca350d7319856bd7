"""A study that is moved, copied or without its files: nothing is read or written elsewhere."""

import hashlib
import shutil
from pathlib import Path

import pytest
from command_line import Run, call, client

pytestmark = pytest.mark.slow
SCRIPTS = ("tables", "figures", "accounting", "status", "report", "explore", "export")
SWEEP = ("-m", "roles=on,off", "rounds=6", "replicates=3")


def digest(folder: Path) -> dict[str, str]:
    """Every file of a study's folder; the database is read, which may leave it other bytes."""
    files = [file for file in folder.rglob("*") if file.is_file() and "mlflow.db" not in file.name]
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("original")
    call(folder, "run.py", *SWEEP)
    return folder


@pytest.fixture
def copied(original: Path, tmp_path: Path) -> Path:
    shutil.copytree(original / "mlruns", tmp_path / "copy/mlruns")
    return tmp_path / "copy"


def test_a_copy_is_read_and_goes_on_in_its_own_files(
    original: Path, copied: Path, run: Run
) -> None:
    before = digest(original)
    for script in SCRIPTS:
        run("study=default", script=f"scripts/{script}.py", cwd=copied)
    assert "6 replicates were taken" in run(*SWEEP, "replicates=4", cwd=copied).stderr
    assert digest(original) == before
    store = client(copied)
    (experiment,) = store.search_experiments(filter_string="name = 'default'")
    runs = store.search_runs([experiment.experiment_id])
    own = (copied.resolve() / "mlruns").as_uri()
    assert len(runs) > 8
    assert all(run.info.artifact_uri.startswith(own) for run in runs)
    assert experiment.artifact_location.startswith(own)


def test_a_moved_study_is_read_where_its_first_folder_is_gone(copied: Path, run: Run) -> None:
    moved = copied.rename(copied.with_name("moved"))
    for script in ("tables", "accounting", "export"):
        run("study=default", script=f"scripts/{script}.py", cwd=moved)
    assert not copied.exists()


def test_a_store_without_its_files_names_both_folders_and_what_helps(
    original: Path, copied: Path, run: Run
) -> None:
    shutil.rmtree(copied / "mlruns/artifacts")
    told = run("study=default", script="scripts/tables.py", cwd=copied, status=2).stderr
    (line,) = told.splitlines()
    for part in (original, copied, "delete mlflow.db", "run.py"):
        assert str(part) in line
    (copied / "mlruns/mlflow.db").unlink()
    run(*SWEEP, cwd=copied)
    run("study=default", script="scripts/tables.py", cwd=copied)


def test_files_that_are_gone_are_named(copied: Path, run: Run) -> None:
    run("study=default", script="scripts/tables.py", cwd=copied)
    (one, *_) = sorted((copied / "mlruns/artifacts/default").iterdir())
    for folder in (copied / "mlruns/artifacts/default").iterdir():
        shutil.rmtree(folder)
    told = run("study=default", script="scripts/tables.py", cwd=copied, status=2).stderr
    assert len(told.splitlines()) == 1
    assert "delete mlflow.db" in told
    assert one.name
