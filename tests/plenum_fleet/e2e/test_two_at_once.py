"""The same command twice at once on one bucket, or in one folder: nothing is paid twice or lost."""

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import s3_server
from command_line import KEY, call, start, wait_for
from support.fault_server import (
    BatchFaults,
    FaultSettings,
    Latency,
    RunningServer,
    serve_in_thread,
)

pytestmark = pytest.mark.long

MODEL, OTHER = "openai/house-model", "anthropic/house-model"
BATCHES = ("calls.batch=true", "batch.poll_s=0.05", "backend.send_seed=false")
SWEEP = ("-m", "roles=on,off", "backend=api", f"model.default={MODEL}", "replicates=2", "rounds=1")
REPLICATES = 2 * 2
CALLS = REPLICATES * 11
"""Of the whole sweep."""


@pytest.fixture(scope="module")
def s3() -> Iterator[s3_server.S3]:
    with s3_server.serving() as server:
        yield server


@pytest.fixture
def server() -> Iterator[RunningServer]:
    with serve_in_thread(
        FaultSettings(port=0, latency=Latency(0.0), batches=BatchFaults(takes_s=1.0))
    ) as one:
        yield one


def environment(s3: s3_server.S3) -> dict[str, str]:
    return {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY, **s3.environment}


def sweep(server: RunningServer, journals: str, *more: str) -> tuple[str, ...]:
    at = f"backend.api_base.openai={server.url}"
    return (*SWEEP, at, "tracking=none", f"journals={journals}", *more)


def mixed(server: RunningServer) -> tuple[str, str]:
    """Seats of two providers, whose batches go out by themselves."""
    at = f"+backend.api_base.anthropic={server.url.removesuffix('/v1')}"
    return f"+model.seats={{Welfare:{OTHER},Equity:{OTHER}}}", at


def require_complete(folder: Path, given: tuple[str, ...], env: dict[str, str]) -> None:
    """The same command, from elsewhere, leaves nothing pending."""
    folder.mkdir()
    done = call(folder, "run.py", *given, **env)
    assert "4 replicates = 4 completed + 0 failed + 0 pending" in done.stdout + done.stderr


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    out, errors = process.communicate(timeout=300)
    assert "Traceback" not in out + errors
    return process.returncode, out + errors


@pytest.mark.parametrize("place", ["s3://plenum/batches", "s3://plenum/live", "folder"])
def test_two_that_start_at_once_share_the_work_or_one_leaves_it(
    s3: s3_server.S3, server: RunningServer, tmp_path: Path, place: str
) -> None:
    live = place.endswith("live")
    more = ("backend.send_seed=true", "durable=true") if live else (*BATCHES, *mixed(server))
    where = str(tmp_path / place) if place == "folder" else place
    given, env, both = sweep(server, where, *more), environment(s3), []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        both.append(start(tmp_path / name, "run.py", *given, **env))
    results = [ended(process) for process in both]
    assert {status for status, _ in results} <= {0, 1}
    for status, said in results:
        lines = [line for line in said.splitlines() if line.startswith("error: ")]
        assert len(lines) <= (2 if place == "folder" else 1) * status
        assert all("another process" in line for line in lines)
    require_complete(tmp_path / "c", given, env)
    stats = server.stats()
    assert stats["paid_twice"] <= REPLICATES * live  # a call that was out when another took over
    assert stats["paid"] == CALLS + stats["paid_twice"]


def test_a_process_that_was_thought_dead_submits_nothing_after_another_has_taken_over(
    s3: s3_server.S3, server: RunningServer, tmp_path: Path
) -> None:
    given, env = sweep(server, "s3://plenum/over", *BATCHES, *mixed(server)), environment(s3)
    (tmp_path / "a").mkdir()
    first = start(tmp_path / "a", "run.py", *given, **env)

    def out() -> bool:
        """A batch is out, and the bucket knows of it, after some turns were journaled."""
        records = [s3.get(name) for name in sorted(s3.names("over/batches/"))]
        return len(records) > 2 and b'"submitted"' in records[-1] and b'"ended"' not in records[-1]

    wait_for(first, out)
    first.send_signal(signal.SIGSTOP)
    (tmp_path / "b").mkdir()
    done = call(tmp_path / "b", "run.py", *given, **env)
    assert "of an earlier run, is picked up" in done.stdout + done.stderr
    first.send_signal(signal.SIGCONT)
    status, said = ended(first)
    (line,) = [line for line in said.splitlines() if line.startswith("error: ")]
    assert status == 1
    assert "another process has taken up replicates" in line
    require_complete(tmp_path / "c", given, env)
    stats = server.stats()
    assert (stats["paid"], stats["paid_twice"]) == (CALLS, 0)
