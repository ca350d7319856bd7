"""The wheel, installed elsewhere: the commands of the README in an empty folder."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import time
import urllib.request
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest
from command_line import ROOT, free_port
from forking import environment

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]

SOURCES = ("MANIFEST.in", "LICENSE", "README.md", "pyproject.toml", "run.py", "setup.py")
FOLDERS = ("conf", "reference", "scenarios", "scripts", "src")
PACKED = ("conf", "reference", "run.py", "scenarios", "scripts")
"""What lies beside `src` and is in the wheel."""
SDIST = "from setuptools import build_meta; print(build_meta.build_sdist({!r}))"
SWEEP = ("-m", "roles=on,off", "model=uniform,mixed", "replicates=2", "rounds=3")
PROGRAM = "def committee(case, run):\n    return 'AB'[run.index % 2]\n"


class Installed(NamedTuple):
    """An environment with the wheel, and an empty folder beside it."""

    python: Path
    package: Path
    folder: Path

    def run(self, *arguments: str, status: int | None = 0, **extra: str) -> str:
        """Run a command of the environment in the folder; return what it printed."""
        command, *rest = arguments
        done = subprocess.run(
            [self.python.parent / command, *rest],
            cwd=self.folder,
            env=outside(**extra),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        assert status is None or done.returncode == status, done.stdout + done.stderr
        return done.stdout if status == 0 else done.stdout + done.stderr

    def files(self) -> dict[str, int]:
        """Every file of the installation, and when it was written."""
        files = (f for f in self.package.parent.rglob("*") if f.is_file() and f.suffix != ".pyc")
        return {str(file): file.stat().st_mtime_ns for file in files}


def outside(**extra: str) -> dict[str, str]:
    """The environment of a shell that knows nothing of the checkout."""
    kept = environment(COLUMNS="80", **extra)
    return {name: value for name, value in kept.items() if not name.startswith("PYTHON")}


def build(folder: Path, target: Path) -> Path:
    """Build the wheel of a source folder, offline."""
    offline = ("--no-deps", "--no-build-isolation", "--no-index")
    command = [sys.executable, "-m", "pip", "wheel", *offline, "-q", "-w", target, folder]
    subprocess.run(command, env=outside(), check=True)
    (wheel,) = target.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources: a build leaves files beside them, which the next one would pack."""
    source = tmp_path_factory.mktemp("source")
    for name in SOURCES:
        shutil.copyfile(ROOT / name, source / name)
    ignored = ["__pycache__", "*.egg-info"]
    for name in FOLDERS:
        # Only there are the authors' texts, which are fetched and aren't the project's.
        fetched = ["published"] if name in ("conf", "scenarios") else []
        left_out = shutil.ignore_patterns(*ignored, *fetched)
        shutil.copytree(ROOT / name, source / name, ignore=left_out)
    return source


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(source, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel in an environment that finds all other packages where the tests find theirs."""
    home = tmp_path_factory.mktemp("installed")
    venv.create(home / "venv", symlinks=True)
    python = home / "venv/bin/python"
    (site,) = home.glob("venv/lib/*/site-packages")
    others = [path for path in sys.path if path.endswith("-packages")]
    (site / "others.pth").write_text("\n".join(others))
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps"]
    subprocess.run([*pip, "--no-index", "-q", str(wheel)], env=outside(), check=True)
    (home / "empty").mkdir()
    return Installed(python, site / "plenum", home / "empty")


def test_the_wheel_has_every_file_of_the_project_s(source: Path, wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    kept = {
        str(path.relative_to(source / "src"))
        for path in (source / "src").rglob("*")
        if path.is_file() and "egg-info" not in str(path)
    }
    packed = {name for name in names if name.startswith("plenum/_project/")}
    assert {name.split("/")[2] for name in packed} == set(PACKED)
    assert names - packed == kept
    for folder in ("conf", "reference", "scenarios"):
        held = {f"plenum/_project/{f.relative_to(source)}" for f in (source / folder).rglob("*.*")}
        assert held - packed == set()


def test_a_source_distribution_makes_the_same_wheel(
    source: Path, wheel: Path, tmp_path: Path
) -> None:
    given = [sys.executable, "-c", SDIST.format(str(tmp_path))]
    done = subprocess.run(given, cwd=source, env=outside(), capture_output=True, text=True)
    archive = tmp_path / done.stdout.split()[-1]
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    again = build(archive.with_name(archive.name.removesuffix(".tar.gz")), tmp_path / "again")
    assert set(zipfile.ZipFile(again).namelist()) == set(zipfile.ZipFile(wheel).namelist())


def test_a_study_from_its_sweep_to_its_explorer(installed: Installed) -> None:
    where = "import plenum, plenum_audit; print(plenum.__file__, plenum_audit.__file__)"
    for file in installed.run("python", "-c", where).split():
        assert Path(file).is_relative_to(installed.package.parent)
    before = installed.files()
    folder = installed.folder

    printed = installed.run("plenum", "run", *SWEEP)
    assert {path.name for path in folder.iterdir()} == {"mlruns", "multirun", "outputs"}
    assert len(list((folder / "mlruns/journals").glob("*/[0-9]*.jsonl"))) == 8
    # What it says can be done next is typed as it stands there.
    steps = re.findall(r"^ +[a-z ,]+?  +(plenum .*\S)$", printed, re.MULTILINE)
    assert [shlex.split(step)[1] for step in steps] == ["tables", "report", "figures", "explore"]
    for step in steps:
        installed.run(*shlex.split(step))
    made = {path.name for path in (folder / "outputs/default").iterdir()}
    assert {"conditions.csv", "divergence.png", "report.html", "explorer.html"} <= made

    assert "completed" in installed.run("plenum", "status", "study=default")
    installed.run("plenum", "export", "study=default", "out=s1.zip")
    installed.run("plenum", "export", "--verify", "s1.zip")
    notebook = "import plenum; print(len(plenum.study('default').frame()))"
    assert installed.run("python", "-c", notebook).split()[-1] == "4"
    plan = installed.run("plenum", "run", "scenario=HL-01", "task=none", "dry_run=true")
    assert "HL-01" in plan
    assert installed.files() == before


def test_a_verdict_on_a_log_and_an_audit_of_a_program(installed: Installed) -> None:
    before, folder = installed.files(), installed.folder
    rows = [{"case": f"c{n % 8}", "decision": "AB"[n % 3 == 0]} for n in range(40)]
    (folder / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    installed.run("plenum", "verdict", "logs=x.jsonl", status=3)
    found = json.loads((folder / "outputs/verdict/verdict.json").read_text())
    assert found["exit_status"] == 3

    (folder / "program.py").write_text(PROGRAM)
    case = {"id": "easy", "text": "?", "options": {"A": "yes", "B": "no"}}
    (folder / "easy.yaml").write_text(json.dumps(case))
    given = ("committee=program.py:committee", "case=easy.yaml", "tracking=none")
    installed.run("plenum", "audit", *given, status=1)
    found = json.loads((folder / "outputs/audit/audit.json").read_text())
    assert found["exit_status"] == 1
    assert installed.files() == before


def test_what_goes_wrong_has_its_status_and_a_line(installed: Installed) -> None:
    for given in (["tabels"], ["tables", "study=nothing"], ["ui", "store=nowhere.db"]):
        (line,) = installed.run("plenum", *given, status=2).splitlines()
        assert line.startswith("error: ")


def test_every_command_shows_what_can_be_set_and_names_itself(installed: Installed) -> None:
    before = installed.files()
    commands = re.findall(r"^  (\w+)", installed.run("plenum"), re.MULTILINE)
    assert len(commands) > 20
    for name in commands:
        shown = installed.run("plenum", name, "--help")
        assert f"plenum {name}" in shown, name
        assert not re.findall(r"\bscripts/\w+\.py|\brun\.py", shown), name
    assert installed.files() == before


def test_the_ui_serves_the_store_of_the_folder(installed: Installed) -> None:
    if not (installed.folder / "mlruns/mlflow.db").exists():
        installed.run("plenum", "run", *SWEEP)
    port = free_port()
    command = [installed.python.parent / "plenum", "ui", f"port={port}"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen(
        command, cwd=installed.folder, env=outside(), start_new_session=True, **quiet
    )
    try:
        deadline = time.monotonic() + 120
        while True:
            assert server.poll() is None
            assert time.monotonic() < deadline
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2) as answer:
                    assert answer.status == 200
                    return
            except OSError:
                time.sleep(0.3)
    finally:
        server.terminate()
        server.wait(30)
