"""A whole sweep through real sockets: the api backend, retries, and secrets."""

import json
import subprocess
from pathlib import Path

import pytest
from command_line import KEY, Run, calls, command, environment, journals
from openai_server import Server, completion, serving

from plenum.base.text import make_printable

SMALL = ("replicates=3", "rounds=2", "calls.backoff_s=0.01", "calls.timeout_s=20")


def arguments(server: Server, *more: str) -> list[str]:
    return ["backend=api", f"backend.api_base.openai={server.url}", *SMALL, *more]


@pytest.mark.usefixtures("stored")
def test_a_committee_deliberates_over_http(server: Server, run: Run, tmp_path: Path) -> None:
    run(*arguments(server), OPENAI_API_KEY=KEY)
    assert len(server.requests) == 3 * 16
    ends = [json.loads(data.splitlines()[-1]) for data in journals(tmp_path).values()]
    assert {end["status"] for end in ends} == {"completed"}
    entries = [json.loads(x) for d in journals(tmp_path).values() for x in d.splitlines()[1:-1]]
    assert all(entry["cost"] > 0 for entry in entries)


def test_a_server_that_is_started_later_finds_every_replicate_waiting(run: Run) -> None:
    with serving() as gone:
        url = gone.url
    given = arguments(gone, "tracking=none")
    stopped = run(*given, OPENAI_API_KEY=KEY, status=1)
    assert "3 replicates = 0 completed + 0 failed + 3 pending" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    (reason,) = (line for line in stopped.stderr.splitlines() if line.startswith("stopped: "))
    assert url in reason
    with serving(int(url.rpartition(":")[2].removesuffix("/v1"))):
        done = run(*given, OPENAI_API_KEY=KEY)
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
    (reason,) = (line for line in full.stderr.splitlines() if line.startswith("error: "))
    assert "mlruns/journals/" in reason
    assert "the same command continues" in reason
    assert all(data.endswith(b"\n") for data in journals(tmp_path).values())
    run(*given)


def test_what_a_provider_says_reaches_neither_terminal_nor_journal_raw(
    server: Server, run: Run, tmp_path: Path
) -> None:
    odd = completion("m", "I can't say.", finish="stop\ud800")
    message = "\x1b]52;c;ZXZpbA==\x07\x00\x9b31m\u202eno such parameter\udfff"
    server.script += [
        {"raw": json.dumps({**odd, "system_fingerprint": {"a": ["\x1b"]}})},
        {"raw": "[" * 100_000},
        {"status": 400, "message": message},
    ]
    alone = arguments(server, "replicates=1", "tracking=none")
    done = run(*alone, OPENAI_API_KEY=KEY, status=1)
    assert "1 x request, such as:" in done.stderr
    assert "no such parameter" in done.stderr
    assert make_printable(done.stdout + done.stderr) == done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    log = calls(tmp_path)
    assert [line["outcome"] for line in log] == ["parse", "server", "request"]
    assert log[0]["dropped"] == ["finish_reason", "system_fingerprint"]
    again = run(*alone, OPENAI_API_KEY=KEY, status=1)
    assert "0 calls made now" in again.stderr
    assert len(server.requests) == 3


def test_keys_of_all_models_are_asked_for_before_anything_runs(
    server: Server, run: Run, tmp_path: Path
) -> None:
    done = run(*arguments(server, "model=mixed"), OPENAI_API_KEY=KEY, status=2)
    assert "ANTHROPIC_API_KEY" in done.stderr
    assert not server.requests
    assert not (tmp_path / "mlruns").exists()
