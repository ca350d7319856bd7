"""The same on a real MLflow tracking server over HTTP."""

import http.client
import http.server
import re
import shlex
import subprocess
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import ui
from command_line import ROOT, Run, journaled, journals, start, wait_for
from mlflow import MlflowClient

pytestmark = pytest.mark.long

SMALL = ("-m", "roles=on,off", "replicates=3", "rounds=3")


def test_a_sweep_goes_to_the_server_and_comes_back_as_tables(
    run: Run, tmp_path: Path, mlflow_server: str
) -> None:
    settings = {"MLFLOW_TRACKING_URI": mlflow_server}
    run(*SMALL, "study=remote", "tracking=server", **settings)
    assert not (tmp_path / "mlruns/mlflow.db").exists()

    world = run(
        "task=disaster", "rounds=1", "study=remote", "tracking=server", **settings, status=2
    )
    assert "study: 'remote' holds committees already" in world.stderr

    client = MlflowClient(mlflow_server)
    experiment = client.get_experiment_by_name("remote")
    assert experiment is not None
    runs = client.search_runs([experiment.experiment_id])
    kinds = [r.data.tags["plenum.kind"] for r in runs]
    assert (kinds.count("condition"), kinds.count("replicate"), kinds.count("report")) == (2, 6, 1)
    parent = next(r for r in runs if r.data.tags["plenum.kind"] == "condition")
    artifacts = {a.path for a in client.list_artifacts(parent.info.run_id)}
    assert {"ensemble.parquet", "replicates.parquet", "config.yaml"} <= artifacts
    assert len(client.get_metric_history(parent.info.run_id, "D")) == 3
    traces = client.search_traces([experiment.experiment_id])
    assert [len(trace.data.spans) for trace in traces] == [1 + 5 * 3 + 5 + 1] * 2
    assert {trace.info.tags["plenum.replicate"] for trace in traces} == {"0"}
    assert len({trace.info.trace_metadata["mlflow.trace.session"] for trace in traces}) == 2

    far = ("study=remote", "tracking=server", "journals=elsewhere")
    shown = run(*far, script="scripts/status.py", **settings).stdout
    assert "6 replicates = 6 completed + 0 failed + 0 pending; calls unknown" in shown
    assert re.search(r"roles=off +3 +3 +0 +0 ", shown)

    local = run(*SMALL, "study=remote")
    again = run("study=remote", "tracking=server", script="scripts/tables.py", **settings)
    settings = [done.stdout[done.stdout.index("Study remote") :] for done in (again, local)]
    assert settings[0].splitlines()[:8] == settings[1].splitlines()[:8]


class Forwarded(http.server.BaseHTTPRequestHandler):
    """A request that the real tracking server answers."""

    server: "Forwarding"

    def _forward(self) -> None:
        connection = http.client.HTTPConnection(self.server.to, timeout=60)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {**self.headers, "Host": self.server.to}
        connection.request(self.command, self.path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.headers["Content-Type"])
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        connection.close()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _forward

    def log_message(self, *given: object) -> None:
        pass


class Forwarding(http.server.ThreadingHTTPServer):
    """A tracking server that can die while others go on with the one behind it."""

    def __init__(self, uri: str) -> None:
        super().__init__(("127.0.0.1", 0), Forwarded)
        self.to = urlsplit(uri).netloc
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def die(self) -> None:
        self.shutdown()
        self.server_close()


def test_a_server_that_dies_costs_no_deliberation_and_is_named(
    run: Run, stored: Path, mlflow_server: str
) -> None:
    sweep = ("-m", "study=orphaned", "roles=on,off", "replicates=6", "rounds=12")
    server = Forwarding(mlflow_server)
    try:
        uri = f"tracking.uri=http://127.0.0.1:{server.server_port}"
        soon = {f"MLFLOW_HTTP_REQUEST_BACKOFF_{name}": "0" for name in ("FACTOR", "JITTER")}
        process = start(stored, "run.py", *sweep, "tracking=server", uri, **soon)
        wait_for(process, lambda: journaled(stored) > 0)
    finally:
        server.die()
    _, settings = process.communicate(timeout=120)
    assert process.returncode != 0
    assert "no MLflow server answers" in settings
    assert "Traceback" not in settings
    ends = [data.splitlines()[-1] for data in journals(stored).values()]
    assert sum(b'"status":"completed"' in end for end in ends) == 12
    again = run(*sweep)  # to the local store
    assert "12 replicates were taken from journals" in again.stderr


def test_a_deleted_study_is_refused_before_anything_is_run(
    run: Run, tmp_path: Path, mlflow_server: str
) -> None:
    client = MlflowClient(mlflow_server)
    experiment = client.create_experiment("thrown_away")
    client.delete_experiment(experiment)
    given = ("study=thrown_away", "tracking=server", f"tracking.uri={mlflow_server}")
    for more in ((), ("dry_run=true",)):
        done = run(*SMALL, *given, *more, status=2)
        assert f"experiments restore -x {experiment}" in done.stderr
    assert not journals(tmp_path)
    client.restore_experiment(experiment)
    run(*SMALL, *given, "dry_run=true")


def test_an_unknown_study_is_refused_with_the_known_ones(run: Run, mlflow_server: str) -> None:
    done = run(
        *("study=nowhere", "tracking=server", f"tracking.uri={mlflow_server}"),
        script="scripts/tables.py",
        status=2,
    )
    assert "there is no study 'nowhere'" in done.stderr


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *((f"{name}:PORT", 200) for name in ("localhost", "127.0.0.1", "[::1]")),
        *((f"{name}:PORT", 403) for name in ("10.evil.example", "192.168.evil.example")),
        *((f"{name}:PORT", 403) for name in ("172.16.evil.example", "localhost.evil.example")),
        *((f"{name}:PORT", 403) for name in ("evil.example", "10.0.0.1")),
        *((host, 403) for host in ("10.evil.example", "localhost:1", "")),
    ],
)
@pytest.mark.parametrize("page", ["/api/2.0/mlflow/experiments/search?max_results=1", "/"])
def test_a_name_that_somebody_else_owns_reads_nothing(
    mlflow_server: str, host: str, status: int, page: str
) -> None:
    """DNS rebinding: a page of evil.example whose address turns into 127.0.0.1."""
    server = urlsplit(mlflow_server)
    assert server.hostname is not None
    connection = http.client.HTTPConnection(server.hostname, server.port, timeout=30)
    connection.request("GET", page, headers={"Host": host.replace("PORT", str(server.port))})
    assert connection.getresponse().status == status
    connection.close()


def test_both_servers_are_started_with_the_same_hosts() -> None:
    """The tests start ``make server``; ``make ui`` shows what a laboratory holds just as well."""
    wanted = "localhost:5017,127.0.0.1:5017,[::1]:5017"
    for target in ("ui", "server"):
        # A make under another make also prints which folder it enters and leaves.
        make = ["make", "-n", "--no-print-directory", "-o", ".venv/.base"]
        make += ["VENV=.venv", "PORT=5017", target]
        done = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, timeout=60)
        _, _, arguments = done.stdout.replace("\\\n", " ").partition("-m plenum ui ")
        command = ui.compose_command(**ui.read_arguments(shlex.split(arguments)))
        assert command[command.index("--allowed-hosts") + 1] == wanted
