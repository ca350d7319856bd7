"""A store in a folder whose name means something in a URI, in SQL, or to Hydra."""

from pathlib import Path

import pytest

from plenum.tracking import database, store

NAMES = (
    *("p%41", "p%zz", "it's", 'a "q"', 'it\'s "q"', "a:b", "a?b", "a#b", "back\\slash", "a b"),
    *("${HOME}", "new\nline", "a=b,c{d}[e]", "é", "x;y", "--"),
)


@pytest.mark.parametrize("name", NAMES)
def test_a_store_lies_where_its_folder_is(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / name
    folder.mkdir()
    monkeypatch.chdir(folder)
    (tmp_path / "file.txt").write_text("x")
    client = store.open_client("sqlite:///mlruns/mlflow.db")
    experiment = store.experiment(client, "sqlite:///mlruns/mlflow.db", "odd")
    run = client.create_run(experiment)
    with store.artifacts(client, run) as place:
        (place / "a.txt").write_text("x")
    client.log_artifact(run.info.run_id, str(tmp_path / "file.txt"))
    assert {file.path for file in client.list_artifacts(run.info.run_id)} == {"a.txt", "file.txt"}
    assert [each.name for each in tmp_path.iterdir() if each.is_dir()] == [name]
    rows = database.rows(Path("mlruns/mlflow.db").resolve(), "SELECT name FROM experiments")
    assert {row[0] for row in rows} == {"Default", "odd"}
