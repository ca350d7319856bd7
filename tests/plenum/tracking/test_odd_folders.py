"""A store in a folder whose name means something in a URI, in SQL, or to Hydra."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

NAMES = ("p%41", 'it\'s "q"', "a:b", "a?b#c", "back\\slash", "new\nline", "${HOME}")
WORK = """
from pathlib import Path
from plenum.tracking import artifacts, database, experiments, store

uri = "sqlite:///mlruns/mlflow.db"
client = store.open_client(uri)
run = client.create_run(experiments.find_experiment(client, uri, "odd"))
with artifacts.collect_artifacts(client, run) as place:
    (place / "a.txt").write_text("x")
client.log_artifact(run.info.run_id, "../file.txt")
assert {file.path for file in client.list_artifacts(run.info.run_id)} == {"a.txt", "file.txt"}
rows = database.rows(Path("mlruns/mlflow.db").resolve(), "SELECT name FROM experiments")
assert {name for (name,) in rows} == {"Default", "odd"}
"""


@pytest.mark.parametrize("name", NAMES)
def test_a_store_lies_where_its_folder_is(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / "file.txt").write_text("x")
    done = subprocess.run(
        [sys.executable, "-c", WORK], cwd=tmp_path / name, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert {each.name for each in tmp_path.iterdir()} == {name, "file.txt"}
    assert (tmp_path / name / "mlruns/mlflow.db").is_file()
