"""A whole sweep through real sockets: the api backend, retries, and secrets."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from openai_server import Server, completion, serving

from plenum.base.text import printable

from .conftest import Run, calls, command, environment, journals

KEY = "sk-canary-0123456789abcdef"
SMALL = ("replicates=3", "rounds=2", "calls.backoff_s=0.01", "calls.timeout_s=20")


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


def arguments(server: Server, *more: str) -> list[str]:
    return ["backend=api", f"backend.api_base.openai={server.url}", *SMALL, *more]


@pytest.mark.usefixtures("stored")
def test_a_committee_deliberates_over_http(server: Server, run: Run, tmp_path: Path) -> None:
    done = run(*arguments(server), OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    assert len(server.requests) == 3 * 16
    ends = [json.loads(data.splitlines()[-1]) for data in journals(tmp_path).values()]
    assert {end["status"] for end in ends} == {"completed"}
    entries = [json.loads(x) for d in journals(tmp_path).values() for x in d.splitlines()[1:-1]]
    assert all(entry["cost"] > 0 for entry in entries)


@pytest.mark.usefixtures("stored")
def test_faults_are_retried_and_logged(server: Server, run: Run, tmp_path: Path) -> None:
    server.script += [
        {"status": 429, "headers": {"Retry-After": "0.1"}},
        {"status": 503},
        {"raw": "{"},
        {"status": 500},
    ]
    done = run(*arguments(server), OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    outcomes = [call["outcome"] for call in calls(tmp_path)]
    assert outcomes.count("ok") == 48
    assert sorted(o for o in outcomes if o != "ok") == ["rate_limit", "server", "server", "server"]
    assert {c["status"] for c in calls(tmp_path) if c["outcome"] == "rate_limit"} == {429}


@pytest.mark.usefixtures("stored")
def test_a_hanging_server_is_a_timeout(server: Server, run: Run, tmp_path: Path) -> None:
    server.script += [{"wait": 30}]
    done = run(
        *arguments(server, "replicates=1", "calls.timeout_s=1", "calls.max_attempts=1"),
        OPENAI_API_KEY=KEY,
    )
    assert done.returncode == 1
    assert "1 x timeout" in done.stderr


@pytest.mark.usefixtures("stored")
def test_a_refused_key_stops_the_sweep_and_leaves_it_resumable(
    server: Server, run: Run, tmp_path: Path
) -> None:
    server.script += [{"status": 401, "message": f"Incorrect API key {KEY}"}] * 3
    stopped = run(*arguments(server), OPENAI_API_KEY=KEY)
    assert stopped.returncode == 1
    assert "the key was refused" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    server.script.clear()
    done = run(*arguments(server), OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    assert "3 replicates = 3 completed" in done.stderr


def test_a_server_that_is_started_later_finds_every_replicate_waiting(run: Run) -> None:
    with serving() as gone:
        url = gone.url
    given = arguments(gone, "tracking=none")
    stopped = run(*given, OPENAI_API_KEY=KEY)
    assert stopped.returncode == 1
    assert "3 replicates = 0 completed + 0 failed + 3 pending" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    (told,) = (line for line in stopped.stderr.splitlines() if line.startswith("stopped: "))
    assert url in told
    with serving(int(url.rpartition(":")[2].removesuffix("/v1"))):
        done = run(*given, OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    assert "3 replicates = 3 completed" in done.stderr


def test_a_full_disk_is_one_line_and_the_same_command_continues(run: Run, tmp_path: Path) -> None:
    given = ("tracking=none", "replicates=2", "rounds=4")
    full = subprocess.run(
        ["bash", "-c", 'ulimit -f 12; exec "$@"', "-", *command("run.py", *given)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert full.returncode == 1
    assert "Traceback" not in full.stderr
    (told,) = (line for line in full.stderr.splitlines() if line.startswith("error: "))
    assert "mlruns/journals/" in told
    assert "the same command continues" in told
    assert all(data.endswith(b"\n") for data in journals(tmp_path).values())
    done = run(*given)
    assert done.returncode == 0, done.stderr


def test_what_a_provider_says_reaches_neither_terminal_nor_journal_raw(
    server: Server, run: Run, tmp_path: Path
) -> None:
    odd = completion("m", "I can't say.", finish="stop\ud800")
    said = "\x1b]52;c;ZXZpbA==\x07\x00\x9b31m\u202eno such parameter\udfff"
    server.script += [
        {"raw": json.dumps({**odd, "system_fingerprint": {"a": ["\x1b"]}})},
        {"raw": "[" * 100_000},
        {"status": 400, "message": said},
    ]
    alone = arguments(server, "replicates=1", "tracking=none")
    done = run(*alone, OPENAI_API_KEY=KEY)
    assert done.returncode == 1
    assert "1 x request, such as:" in done.stderr
    assert "no such parameter" in done.stderr
    assert printable(done.stdout + done.stderr) == done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    log = calls(tmp_path)
    assert [line["outcome"] for line in log] == ["parse", "server", "request"]
    assert log[0]["dropped"] == ["finish_reason", "system_fingerprint"]
    again = run(*alone, OPENAI_API_KEY=KEY)
    assert "0 calls made now" in again.stderr
    assert len(server.requests) == 3


@pytest.mark.usefixtures("stored")
def test_the_key_is_in_no_byte_that_is_written_or_printed(
    server: Server, run: Run, tmp_path: Path
) -> None:
    server.script += [{"status": 500, "message": f"upstream said {KEY}"}]
    done = run(*arguments(server), OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    assert KEY not in done.stdout + done.stderr
    written = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert any(file.name == "mlflow.db" for file in written)
    assert not [file for file in written if KEY.encode() in file.read_bytes()]


def test_keys_of_all_models_are_asked_for_before_anything_runs(
    server: Server, run: Run, tmp_path: Path
) -> None:
    done = run(*arguments(server, "model=mixed"), OPENAI_API_KEY=KEY)
    assert done.returncode == 2
    assert "ANTHROPIC_API_KEY" in done.stderr
    assert not server.requests
    assert not (tmp_path / "mlruns").exists()
