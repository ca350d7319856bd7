"""A team's tracking server as deploy/compose.yaml makes it: PostgreSQL, logins, artifacts."""

import base64
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CompletedProcess

import forking
import postgres_server
import pytest
import yaml
from command_line import ROOT, _await, call, free_port, journals
from forking import environment

pytestmark = pytest.mark.long

SWEEP = ("-m", "roles=on,off", "replicates=3", "rounds=4")
BIN = Path(sys.executable).parent
ADMIN, READER = "a-password-of-the-admin", "a-password-of-a-reader"


@dataclass(frozen=True)
class Team:
    """The server, the environment of its parts, and a folder to work in.

    ``artifacts`` is the server's folder of them; ``printed`` all output.
    """

    uri: str
    parts: dict[str, str]
    artifacts: Path
    folder: Path
    printed: list[str] = field(default_factory=list)

    def run(
        self,
        script: str,
        *arguments: str,
        user: str = "admin",
        password: str = ADMIN,
        status: int = 0,
    ) -> CompletedProcess[str]:
        """Run a script with a login."""
        login = {"MLFLOW_TRACKING_USERNAME": user, "MLFLOW_TRACKING_PASSWORD": password}
        more = {"MLFLOW_TRACKING_URI": self.uri, "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1", **login}
        given = (*arguments, "tracking=server")
        done = call(self.folder, script, *given, status=status, **more)
        self.printed.extend((done.stdout, done.stderr))
        return done

    def mlflow(self, *arguments: str) -> CompletedProcess[str]:
        """Run MLflow's own command on the machine of the server."""
        login = {"MLFLOW_TRACKING_USERNAME": "admin", "MLFLOW_TRACKING_PASSWORD": ADMIN}
        command = [sys.executable, "-m", "mlflow.__main__", *arguments]
        return forking.run(command, env=environment(**self.parts, **login), timeout=120)


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    folder = tmp_path_factory.mktemp("team")
    artifacts = tmp_path_factory.mktemp("artifacts")
    with postgres_server.serving() as database:
        parts = {
            **database.variables,
            "MLFLOW_AUTH_CONFIG_PATH": str(ROOT / "deploy/basic_auth.ini"),
            "MLFLOW_AUTH_ADMIN_PASSWORD": ADMIN,
            "MLFLOW_FLASK_SERVER_SECRET_KEY": "a-secret-key-of-the-server",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "MLFLOW_DISABLE_TELEMETRY": "true",
            "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        }
        program, *upgrade = services()["prepare"]["entrypoint"]
        made = forking.run([str(BIN / program), *upgrade], env=environment(**parts), timeout=200)
        assert made.returncode == 0, made.stderr
        port = free_port()
        uri, process = f"http://127.0.0.1:{port}", start(parts, folder, artifacts, port)
        try:
            _await(f"{uri}/health", process)
            yield Team(uri, parts, artifacts, folder)
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def services() -> dict[str, dict[str, list[str]]]:
    """The services of the compose file."""
    read: dict[str, dict[str, list[str]]] = yaml.safe_load(
        (ROOT / "deploy/compose.yaml").read_text(encoding="utf-8")
    )["services"]
    return read


def start(
    parts: dict[str, str], folder: Path, artifacts: Path, port: int
) -> "subprocess.Popen[bytes]":
    """Start the server of the compose file on this machine, with one worker and no S3."""
    own = {"--host": "127.0.0.1", "--port": str(port), "--workers": "1"}
    own |= {"--allowed-hosts": f"127.0.0.1:{port}", "--artifacts-destination": str(artifacts)}
    named = [option.partition("=") for option in services()["mlflow"]["entrypoint"][2:]]
    with (folder / "server.log").open("w") as log:
        return subprocess.Popen(
            [
                *(str(BIN / "mlflow"), "server"),
                *(f"{name}={own.get(name, value)}" for name, _, value in named),
            ],
            cwd=folder,
            env=environment(**parts),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


@pytest.fixture(scope="module")
def served(team: Team) -> dict[str, bytes]:
    """The tables of the default sweep, tracked on the server."""
    team.run("run.py", *SWEEP)
    return tables(team)


def tables(team: Team, study: str = "default") -> dict[str, bytes]:
    team.run("scripts/tables.py", f"study={study}", f"out=outputs/served_{study}")
    return files(team.folder / f"outputs/served_{study}")


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.glob("*.csv"))}


def test_a_sweep_reads_back_as_from_sqlite(team: Team, served: dict[str, bytes]) -> None:
    call(team.folder, "run.py", *SWEEP)
    call(team.folder, "scripts/tables.py", "study=default", "out=outputs/local")
    assert served == files(team.folder / "outputs/local")
    assert {"conditions.csv", "contrasts.csv"} <= served.keys()
    kinds = {file.name for file in team.artifacts.rglob("*")}
    assert {"ensemble.parquet", "accounts.json", "000.jsonl", "tables.md"} <= kinds


def test_rows_read_back_from_a_server(team: Team, served: dict[str, bytes]) -> None:
    team.run("run.py", *SWEEP, "study=rows", "tracking.replicates=none")
    named = {name: re.sub(rb"(?m)^default,", b"rows,", data) for name, data in served.items()}
    assert tables(team, "rows") == named
    team.run("scripts/export.py", "study=rows", "out=rows.zip")
    with zipfile.ZipFile(team.folder / "rows.zip") as archive:
        kept = [archive.read(n) for n in archive.namelist() if n.endswith(".jsonl")]
    assert sorted(kept) == sorted(journals(team.folder).values())


def test_who_may_only_read_is_refused_before_the_first_call(
    team: Team, served: dict[str, bytes], tmp_path: Path
) -> None:
    basic = base64.b64encode(f"admin:{ADMIN}".encode()).decode()
    reader = json.dumps({"username": "reader", "password": READER}).encode()
    headers = {"Authorization": f"Basic {basic}", "Content-Type": "application/json"}
    url = f"{team.uri}/api/2.0/mlflow/users/create"
    with urllib.request.urlopen(urllib.request.Request(url, reader, headers), timeout=30):
        pass
    elsewhere = f"journals={tmp_path}/journals"
    logins = {"403": ("reader", READER), "401": ("reader", "a-wrong-password"), "401 ": ("", "")}
    for answer, (user, password) in logins.items():
        login = {"user": user, "password": password}
        done = team.run("run.py", *SWEEP, elsewhere, **login, status=2)
        assert re.fullmatch(rf"error: tracking.uri: [^\n]* {answer.strip()} [^\n]*\n", done.stderr)
    assert not (tmp_path / "journals").exists()
    read = ("study=default", f"out={tmp_path}/read")
    done = team.run("scripts/tables.py", *read, user="reader", password=READER, status=2)
    assert done.stderr.splitlines()[-1].startswith("error: tracking.uri: the server at")
    assert files(tmp_path / "read") == served


def test_gc_removes_what_lies_in_the_trash_and_nothing_else(
    team: Team, served: dict[str, bytes]
) -> None:
    team.run("run.py", "study=thrown", "replicates=2", "rounds=2")
    before = set(team.artifacts.rglob("*"))
    team.run("run.py", "study=thrown", "replicates=3", "rounds=2")  # another parent
    kept = tables(team, "thrown")
    done = team.mlflow("gc", "--backend-store-uri", "postgresql://", "--tracking-uri", team.uri)
    assert done.returncode == 0, done.stdout + done.stderr
    gone = {file.name for file in before - set(team.artifacts.rglob("*"))}
    assert gone >= {"ensemble.parquet", "config.yaml"}
    assert not any(name.endswith(".jsonl") for name in gone)
    assert tables(team, "thrown") == kept
    assert tables(team) == served


def test_no_secret_is_in_any_file_or_line(team: Team, served: dict[str, bytes]) -> None:
    secrets = [ADMIN, READER, team.parts["PGPASSWORD"]]
    secrets += [team.parts["MLFLOW_FLASK_SERVER_SECRET_KEY"]]
    folders = (team.folder, team.artifacts)
    written = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    assert {"config.yaml", "calls.jsonl", "server.log"} <= {file.name for file in written}
    texts = [*(file.read_bytes() for file in written), *(t.encode() for t in team.printed)]
    for secret in secrets:
        assert not any(secret.encode() in text for text in texts), secret
    uri = team.uri.replace("://", f"://admin:{ADMIN}@")
    done = team.run("run.py", *SWEEP, f"tracking.uri={uri}", status=2)
    assert ADMIN not in done.stdout + done.stderr
