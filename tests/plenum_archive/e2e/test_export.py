"""Studies written to a file, checked and brought back, over the real command line."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from command_line import Run, call, with_store

from plenum.reports.settings import Settings
from plenum.reports.study import find_study_kind
from plenum_archive import dictionary, import_

pytestmark = pytest.mark.long

STUDIES = {
    "xcut": (
        *("scenario=HL-01", "perturbation=variants20", "roles=on,off", "rounds=3", "replicates=4"),
        *("backend.malformed_rate=0.1", "budget.calls=90"),
    ),
    "xworlds": ("task=disaster", "task.runs=2", "rounds=3", "replicates=2"),
}
"""A sweep with failures whose budget ends before its replicates do, and a world."""


@pytest.fixture(scope="module")
def tracked(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Path:
    """A store with all of these studies, each written to a file and accounted for."""
    folder = with_store(empty_store, tmp_path_factory.mktemp("tracked"))
    for study, given in STUDIES.items():
        call(folder, "run.py", "-m", *given, f"study={study}", status=None)
        arguments = (f"study={study}", f"out={study}.zip", "draws=100")
        done = call(folder, "scripts/export.py", *arguments)
        assert "written and checked" in done.stdout
    return folder


def tables(run: Run, folder: Path, study: str, out: str, *more: str) -> dict[str, str]:
    """What the scripts write of a study, but for its name and the ids of its runs."""
    for script in ("scripts/tables.py", "scripts/accounting.py"):
        arguments = ("draws=100",) * (script == "scripts/tables.py")
        run(f"study={study}", f"out={out}", *arguments, *more, script=script, cwd=folder)
    return {
        path.name: re.sub(rf"\b[0-9a-f]{{32}}\b|\b{study}\b", "NAMED", path.read_text())
        for path in (folder / out).iterdir()
    }


def test_tables_of_an_imported_study_are_those_of_the_original(
    run: Run, stored: Path, tracked: Path
) -> None:
    archive = tracked / "xcut.zip"
    done = run(f"archive={archive}", "study=theirs", script="scripts/import.py", cwd=stored)
    assert "imported" in done.stdout
    assert tables(run, stored, "theirs", "out") == tables(run, tracked, "xcut", "out")


def test_tables_of_an_imported_world_are_those_of_the_original(
    tracked: Path, tmp_path: Path
) -> None:
    uri = f"sqlite:///{tracked}/mlruns/mlflow.db"
    import_.bring_back(import_.Import(tracked / "xworlds.zip", "theirs", uri, None))
    published = []
    for study in ("xworlds", "theirs"):
        chosen = Settings(study, uri, tmp_path / study, draws=100)
        find_study_kind(study, uri).publish_tables(chosen)
        files = {path.name: path.read_text() for path in (tmp_path / study).iterdir()}
        published.append({name: text.replace(study, "NAMED") for name, text in files.items()})
    assert published[0] == published[1]


@pytest.mark.long
def test_an_archive_goes_to_a_server_and_has_the_same_bytes_from_there(
    run: Run, tmp_path: Path, tracked: Path, mlflow_server: str
) -> None:
    published = ("tracking=server", f"tracking.uri={mlflow_server}")
    archive = tracked / "xcut.zip"
    for says in ("imported", "nothing to do"):
        done = run(f"archive={archive}", *published, script="scripts/import.py")
        assert says in done.stdout
    again = ("study=xcut", "out=again.zip", "draws=100")
    done = run(*again, *published, script="scripts/export.py")
    assert (tmp_path / "again.zip").read_bytes() == archive.read_bytes()


def test_a_check_ends_with_0_or_2(run: Run, tmp_path: Path, tracked: Path) -> None:
    archive = tracked / "xworlds.zip"
    done = run("--verify", str(archive), script="scripts/export.py")
    assert done.stderr == ""
    assert "whole" in done.stdout
    bad = tmp_path / "bad.zip"
    bad.write_bytes(archive.read_bytes().replace(b"README.md", b"README.mx"))
    done = run(f"--verify={bad}", script="scripts/export.py", status=2)
    assert "README.md: missing" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("given", "published"),
    [
        (("--verify", "nowhere.zip"), "there is no file nowhere.zip"),
        (("study=xworlds", "out=xworlds.zip"), "is there already"),
    ],
)
def test_bad_input_is_one_line(
    run: Run, tracked: Path, given: tuple[str, ...], published: str
) -> None:
    done = run(*given, script="scripts/export.py", cwd=tracked, status=2)
    assert published in done.stderr
    assert len(done.stderr.splitlines()) == 1


def fields(value: Any, name: str = "") -> Iterator[str]:
    """The names of what a JSON value holds; members of lists have the list's."""
    if isinstance(value, dict) and value:
        for key, arguments in value.items():
            yield from fields(arguments, f"{name}.{key}" if name else key)
    elif isinstance(value, list) and any(isinstance(arguments, dict) for arguments in value):
        for arguments in value:
            yield from fields(arguments, name)
    else:
        yield name


def columns(archive: Path) -> Iterator[tuple[str, str]]:
    """Every column and field in an archive, with the file that it is in."""
    with zipfile.ZipFile(archive) as opened:
        for name in opened.namelist():
            data = opened.read(name)
            match name.rpartition(".")[2]:
                case "parquet":
                    yield from ((name, key) for key in pd.read_parquet(io.BytesIO(data)))
                case "csv":
                    yield from ((name, k) for k in next(csv.reader(io.StringIO(data.decode()))))
                case "json":
                    yield from ((name, key) for key in fields(json.loads(data)))
                case "jsonl":
                    for line in data.splitlines():
                        entry = json.loads(line)
                        yield from ((f"{name}#{entry['kind']}", key) for key in fields(entry))


@pytest.mark.parametrize("study", STUDIES)
def test_the_dictionary_says_what_everything_means(tracked: Path, study: str) -> None:
    archive = tracked / f"{study}.zip"
    with zipfile.ZipFile(archive) as opened:
        arguments = csv.DictReader(io.StringIO(opened.read("dictionary.csv").decode()))
        entries = [dictionary.DictionaryEntry(**row) for row in arguments]
    assert all(entry.meaning for entry in entries)
    unknown = {
        (name.rpartition("/")[2], key)
        for name, key in set(columns(archive))
        if not any(
            any(fnmatchcase(name, pattern) for pattern in entry.file.split())
            and any(fnmatchcase(key, pattern) for pattern in entry.field.split())
            for entry in entries
        )
    }
    assert unknown == set()


def test_the_readme_s_own_code_reads_a_transcript(tracked: Path, tmp_path: Path) -> None:
    archive = tracked / "xcut.zip"
    with zipfile.ZipFile(archive) as opened:
        text = opened.read("README.md").decode()
    assert "no evidence about language models" in text
    code = text.partition("```python\n")[2].partition("```")[0]
    (tmp_path / "xcut.zip").symlink_to(archive)
    printed: list[tuple[object, ...]] = []
    code = code.replace('"xcut.zip"', repr(str(tmp_path / "xcut.zip")))
    exec(code, {"print": lambda *words: printed.append(words)})
    assert printed[0][0] == "head"
    assert printed[-1][0] == "end"
