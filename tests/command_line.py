"""The real command line, in a working directory of its own."""

import csv
import fcntl
import io
import json
import os
import pty
import re
import runpy
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import termios
import time
import tomllib
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import forking
import pytest
from forking import Process, environment
from hydra.core.global_hydra import GlobalHydra

from plenum.base import file_locks
from plenum.calls.call_log import read_attempts
from plenum.tracking import store

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run as TrackedRun
    from openai_server import Server

    from plenum.tracking.study import Study

ROOT = Path(__file__).resolve().parents[1]
KEY = "sk-canary-0123456789abcdef"
"""The key of requests to servers on loopback, which must never appear anywhere."""
Run = Callable[..., subprocess.CompletedProcess[str]]
Ended = Callable[..., tuple[object, str]]


def command(script: str, *arguments: str) -> list[str]:
    return [sys.executable, str(ROOT / script), *arguments]


def on_a_terminal(width: int, script: str, *arguments: str, cwd: Path) -> str:
    """What a script prints to a real terminal of some width, without colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    kept = environment(TERM="xterm")
    kept.pop("COLUMNS", None)
    child = Process(
        command(script, *arguments), cwd=cwd, env=kept, stdout=theirs, stderr=subprocess.PIPE
    )
    os.close(theirs)
    read = bytearray()
    with suppress(OSError):  # Linux ends a terminal's output with an error
        while part := os.read(ours, 65536):
            read += part
    os.close(ours)
    _, errors = child.communicate(timeout=60)
    assert child.returncode == 0, errors.decode()
    return re.sub(r"\x1b\[[0-9;]*m", "", read.decode()).replace("\r\n", "\n")


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tracking store that holds nothing yet: MLflow takes two seconds to make one."""
    database = tmp_path_factory.mktemp("store") / "mlflow.db"
    store.open_client(f"sqlite:///{database}")
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return database


@pytest.fixture
def stored(empty_store: Path, tmp_path: Path) -> Path:
    """The working directory of somebody whose tracking store is there already."""
    return with_store(empty_store, tmp_path)


def with_store(empty_store: Path, folder: Path) -> Path:
    """Put a copy of the empty store where ``tracking=local`` looks for it."""
    (folder / "mlruns").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(empty_store, folder / "mlruns/mlflow.db")
    return folder


def call(
    folder: Path,
    script: str,
    *arguments: str,
    status: int | None = 0,
    cold: bool = False,
    alone: bool = False,
    extended: bool = False,
    **extra: str,
) -> "subprocess.CompletedProcess[str]":
    """Run a script to its end in a folder; it has to end with ``status`` unless that is None."""
    env = environment(**extra)
    ways = {"cold": cold, "alone": alone, "extended": extended}
    done = forking.run(command(script, *arguments), cwd=folder, env=env, **ways)
    assert status is None or done.returncode == status, done.stdout + done.stderr
    return done


def start(folder: Path, script: str, *arguments: str, cold: bool = False, **extra: str) -> Process:
    """Start a script in a folder, as a shell would: in a process group of its own."""
    return Process(
        command(script, *arguments),
        cwd=folder,
        env=environment(**extra),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cold=cold,
    )


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers have in common."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@pytest.fixture(scope="session")
def gallery(shared_folder: Path) -> Path:
    """The study ``default``, a 2x2 of 4 replicates, to be read; ``stdout`` has what was printed."""
    folder = shared_folder / "gallery"
    with file_locks.hold_lock(shared_folder / "gallery.lock"):
        if not (folder / "stdout").exists():
            folder.mkdir()
            given = ("-m", "roles=on,off", "model=uniform,mixed", "replicates=4", "rounds=6")
            (folder / "stdout").write_text(call(folder, "run.py", *given).stdout)
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run ``run.py`` or a script to its end; it has to end with ``status`` unless that is None."""

    def called(
        *arguments: str, script: str = "run.py", cwd: Path = tmp_path, **extra: Any
    ) -> "subprocess.CompletedProcess[str]":
        return call(cwd, script, *arguments, **extra)

    return called


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Ended]:
    """``ended("run.py", "round=3")``: exit status and standard error of what ends in an error.

    The script is run in this process, which takes half of what a process of its own does.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setenv("HYDRA_FULL_ERROR", "")
    handler = signal.getsignal(signal.SIGTERM)

    def run_here(script: str, *arguments: str) -> tuple[object, str]:
        monkeypatch.setattr(sys, "argv", [str(ROOT / script), *arguments])
        monkeypatch.setattr(sys, "path", [str((ROOT / script).parent), *sys.path])
        output, error = io.StringIO(), io.StringIO()
        with redirect_stderr(error), redirect_stdout(output), pytest.raises(SystemExit) as end:
            runpy.run_path(str(ROOT / script), run_name="__main__")
        assert output.getvalue() == ""
        return end.value.code, error.getvalue()

    yield run_here
    signal.signal(signal.SIGTERM, handler)
    GlobalHydra.instance().clear()
    assert not (tmp_path / "mlruns").exists()


def wait_for(process: Process, reached: Callable[[], bool]) -> None:
    """Wait until something holds of what a process does, which must not end before."""
    deadline = time.monotonic() + 200
    while not reached():
        assert process.poll() is None, "it ended before it could be stopped"
        assert time.monotonic() < deadline
        time.sleep(0.002)


@pytest.fixture
def server() -> "Iterator[Server]":
    """A provider that answers by a script, and then as the simulated agent."""
    import openai_server

    with openai_server.serving() as running:
        yield running


# --- what a script left ---------------------------------------------------------------------------


def journals(folder: Path) -> dict[str, bytes]:
    """Every journal's bytes, by condition and replicate."""
    # A pattern of one part lists no folder that a script makes and takes away meanwhile.
    folders = sorted((folder / "mlruns" / "journals").glob("[!.]*"))
    files = [file for inner in folders for file in sorted(inner.glob("[0-9]*.jsonl"))]
    return {f"{f.parent.name}/{f.name}": f.read_bytes() for f in files}


def journaled(folder: Path) -> int:
    """Bytes of all journals."""
    return sum(map(len, journals(folder).values()))


def calls(folder: Path) -> list[dict[str, object]]:
    """Every attempt in the call logs."""
    logs = sorted((folder / "mlruns" / "journals").glob("*/calls.jsonl"))
    return [line for log in logs for line in read_attempts(log)]


def table(folder: Path, study: str, name: str = "conditions") -> list[dict[str, str]]:
    """A table that was written of a study, by its rows."""
    with (folder / f"outputs/{study}/{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def client(folder: Path) -> "MlflowClient":
    """MLflow on the store of a folder."""
    from mlflow import MlflowClient  # two seconds, which most tests need not

    return MlflowClient(f"sqlite:///{folder}/mlruns/mlflow.db")


def replicates(study: "Study") -> list[Any]:
    """The replicates of a study, as nested runs or as rows."""
    from plenum.tracking.runs import read_rows

    rows = (read_rows(study.client, run) for run in study.condition_runs)
    return [*study.nested_runs, *(row for each in rows for row in each)]


def runs(folder: Path, study: str, kind: str) -> "list[TrackedRun]":
    """A study's runs of a kind: ``condition``, ``replicate`` or ``report``."""
    experiment = client(folder).get_experiment_by_name(study)
    assert experiment is not None
    query = f"tags.`plenum.kind` = '{kind}'"
    return list(client(folder).search_runs([experiment.experiment_id], query))


def logged(folder: Path, study: str) -> set[str]:
    """The files of a study's report in MLflow."""
    (report,) = runs(folder, study, "report")
    return {file.path for file in client(folder).list_artifacts(report.info.run_id)}


# --- servers --------------------------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_mlflow(folder: Path) -> tuple[str, subprocess.Popen[bytes]]:
    """Start what ``make server`` starts in a folder; its URI and its process, a group's leader.

    Two workers write to the store at once, and no more of MLflow's jobs run than are needed.
    """
    port = free_port()
    process = subprocess.Popen(
        [
            *("make", "-f", str(ROOT / "Makefile"), "-o", ".venv/.base", "server"),
            *("VENV=.venv", f"BIN={Path(sys.executable).parent}", f"PORT={port}"),
        ],
        cwd=folder,
        env=environment(MLFLOW_WORKERS="2", MLFLOW_SERVER_ENABLE_JOB_EXECUTION="false"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    uri = f"http://127.0.0.1:{port}"
    try:
        _await(f"{uri}/health", process)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return uri, process


@pytest.fixture(scope="session")
def mlflow_server(shared_folder: Path) -> Iterator[str]:
    """A tracking server for all tests, those of other workers too; its last user ends it."""
    folder = shared_folder / "mlflow_server"
    folder.mkdir(exist_ok=True)
    file = folder / "users.json"
    with file_locks.hold_lock(folder / "lock"):
        known = json.loads(file.read_text()) if file.exists() else {"users": 0}
        if not known["users"]:
            known["uri"], process = start_mlflow(folder)
            known["group"] = process.pid
        file.write_text(json.dumps({**known, "users": known["users"] + 1}))
    yield known["uri"]
    with file_locks.hold_lock(folder / "lock"):
        known = json.loads(file.read_text())
        file.write_text(json.dumps({**known, "users": known["users"] - 1}))
        if known["users"] == 1:
            os.killpg(known["group"], signal.SIGKILL)


def _await(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server ended"
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.3)
    raise AssertionError(f"{url} did not answer")


def find_package(package: Path, site: Path) -> dict[str, Any]:
    """How a process finds a package, with the entry points that its installation would write."""
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    name, version = project["name"], project["version"]
    written = site / f"{name.replace('-', '_')}-{version}.dist-info"
    written.mkdir()
    (written / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    with (written / "entry_points.txt").open("w") as file:
        for group, entries in project["entry-points"].items():
            file.writelines([f"[{group}]\n", *(f"{k} = {v}\n" for k, v in entries.items())])
    return {"PYTHONPATH": os.pathsep.join(map(str, (package, site))), "extended": True}
