"""The deployed regime by the command line: faults, budgets, limits, stops, secrets and branches."""

import json
import os
import re
import signal
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from command_line import KEY, call, calls, free_port, journals, runs, start, wait_for
from forking import Process
from openai_server import Server
from support.fault_server import (
    Faults,
    FaultSettings,
    Latency,
    Limits,
    RunningServer,
    serve_in_thread,
)

from plenum.records.chain import read_entries
from plenum.records.transcript import Transcript, read_transcript

pytestmark = pytest.mark.long

MODEL = "openai/house-model"  # no price list knows it
PRICE = f"+prices={{{MODEL}:{{input:100,output:400}}}}"
CONDITIONS, REPLICATES, CALLS = 2, 4, 26  # five seats and a ballot each, a count: 4 rounds
TRIAL = 2
"""Calls of the model's trial, in no journal: a ballot and a count."""
ALL = CONDITIONS * REPLICATES * CALLS + TRIAL
PORT = free_port()
"""One for all sweeps whose journals are compared: the endpoint is part of an identity."""
QUICK = FaultSettings(port=PORT, latency=Latency(0.01))
SLOW = FaultSettings(port=PORT, latency=Latency(0.15))
EXPECTED = {
    **dict.fromkeys(("server_error", "unavailable", "reset", "truncated"), "server"),
    **{"wrong_type": "server", "rate_limit": "rate_limit", "hang": "timeout", "trickle": "ok"},
    **{"empty_choices": "empty", "length": "length", "malformed": "parse"},
}
"""What the call log has to say of each injected fault."""

Done = subprocess.CompletedProcess[str]


def begin(folder: Path, *arguments: str, cold: bool = False, **extra: str) -> Process:
    """Start ``run.py`` in a folder."""
    return start(folder, "run.py", *arguments, cold=cold, **{"OPENAI_API_KEY": KEY, **extra})


def ended(process: Process) -> Done:
    out, err = process.communicate(timeout=200)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def plenum(folder: Path, *arguments: str, **extra: Any) -> Done:
    """Run ``run.py`` to its end; no bug ends it."""
    done = call(folder, "run.py", *arguments, **{"OPENAI_API_KEY": KEY, **extra})
    assert "Traceback" not in done.stderr
    return done


def sweep(url: str, *more: str) -> tuple[str, ...]:
    """Two conditions over real sockets."""
    return (
        *("-m", "roles=on,off", f"model.default={MODEL}", "backend=api", "backend.send_seed=true"),
        *(f"backend.api_base.openai={url}", f"replicates={REPLICATES}", "rounds=4"),
        *("calls.backoff_s=0.05", "calls.timeout_s=5", "calls.max_attempts=8", "study=deployed"),
        *more,
    )


def transcripts(folder: Path) -> list[Transcript]:
    """Every journal, read and verified."""
    return [read_transcript(folder / "mlruns/journals" / name) for name in journals(folder)]


def answers(folder: Path) -> list[dict[str, Any]]:
    """Every answer that the journals hold."""
    return [entry for transcript in transcripts(folder) for entry in transcript.calls]


def statuses(folder: Path) -> Counter[str]:
    return Counter(transcript.status for transcript in transcripts(folder))


def line_with(text: str, head: str) -> str:
    """The one line that begins so."""
    (line,) = (line for line in text.splitlines() if line.startswith(head))
    return line


def pending_tags(folder: Path) -> Counter[str | None]:
    """``plenum.pending`` of the nested runs that haven't ended."""
    tags = [run.data.tags for run in runs(folder, "deployed", "replicate")]
    return Counter(t.get("plenum.pending") for t in tags if t["plenum.status"] == "pending")


# --- a limit a minute, tried in the background: it takes more than a minute --------------------


@pytest.fixture(scope="module", autouse=True)
def minute(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], tuple[Done, Any]]]:
    """36 calls to a server that allows 30 a minute, begun before all other tests."""
    folder = tmp_path_factory.mktemp("minute")
    with serve_in_thread(
        FaultSettings(port=0, latency=Latency(0.0), limits=Limits(rpm=30))
    ) as server:
        given = sweep(server.url, "roles=on", "tracking=none", "replicates=1", "rounds=6")
        process = begin(folder, *given, "calls.rpm.openai=30")
        yield lambda: (ended(process), server)
        process.kill()


# --- faults ------------------------------------------------------------------------------------


def test_every_replicate_ends_and_every_fault_is_logged_whatever_the_provider_does(
    tmp_path: Path,
) -> None:
    """One request in five goes wrong, in every way that there is."""
    settings = FaultSettings(port=0, latency=Latency(0.01), faults=Faults(all=0.2, trickle_s=0.4))
    with serve_in_thread(settings) as server:
        done = plenum(
            tmp_path, *sweep(server.url, "tracking=none", "calls.timeout_s=1"), status=None
        )
        log, stats = server.log(), server.stats()
    ends = statuses(tmp_path)
    assert ends.total() == ends["completed"] + ends["failed"] == CONDITIONS * REPLICATES
    counted = f"8 replicates = {ends['completed']} completed + {ends['failed']} failed + 0 pending"
    assert counted in done.stderr
    assert done.returncode == (1 if ends["failed"] else 0)

    recorded = {str(call["id"]): call["outcome"] for call in calls(tmp_path)}
    injected = [line for line in log if line["fault"]]
    assert len({line["fault"] for line in injected}) >= 8
    wrong = [
        (line["fault"], recorded.get(line["id"]))
        for line in injected
        if recorded.get(line["id"]) != EXPECTED[line["fault"]]
    ]
    assert not wrong
    assert sorted(recorded) == sorted(line["id"] for line in log)
    assert stats["answered_twice"] == 0


# --- the budget --------------------------------------------------------------------------------

NARROW = "calls.max_concurrency=3"


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The journals of a sweep that nothing stopped: untracked first, then tracked."""
    folder = tmp_path_factory.mktemp("whole")
    with serve_in_thread(QUICK) as server:
        plenum(folder, *sweep(server.url, PRICE, "tracking=none"))
        assert server.stats()["requests"] == ALL
        assert not list(folder.rglob("mlflow.db"))
        tracked = plenum(folder, *sweep(server.url, PRICE, "tracking=local"))
        assert server.stats()["requests"] == ALL
    assert "8 replicates were taken from journals of an earlier run" in tracked.stderr
    nested = Counter(
        run.data.tags["plenum.status"] for run in runs(folder, "deployed", "replicate")
    )
    assert nested == {"completed": CONDITIONS * REPLICATES}
    return journals(folder)


def state(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file, with what a write would change."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(f): (f.stat().st_size, f.stat().st_mtime_ns) for f in files}


def budgeted(folder: Path, server: RunningServer, key: str, limit: float, tracking: str) -> float:
    """Run until a budget is reached; returns the tokens, or dollars, that were used by then."""
    done = plenum(
        folder, *sweep(server.url, PRICE, NARROW, f"budget.{key}={limit}", tracking), status=1
    )
    assert f"budget.{key}={limit:g} is reached" in line_with(done.stderr, "stopped: ")
    assert "failed: " not in done.stderr
    entries, stats = answers(folder), server.stats()
    assert stats["requests"] == stats["answered"] == len(entries) + TRIAL  # the server's count
    used = {
        "calls": stats["answered"],
        "tokens": sum(entry["tokens_in"] + entry["tokens_out"] for entry in entries),
        "dollars": sum(entry["cost"] for entry in entries),
    }
    assert 0.9 * limit < used[key] <= limit
    return float(used["tokens" if key == "calls" else "dollars"])


@pytest.mark.long
def test_a_budget_stops_the_sweep_hardly_before_it_is_spent_and_a_larger_one_goes_on(
    reference: dict[str, bytes], stored: Path
) -> None:
    with serve_in_thread(QUICK) as server:
        tokens = budgeted(stored, server, "calls", 90, "tracking=local")
        ends = statuses(stored)
        assert ends["completed"] >= 3  # 90 calls are three and a half replicates
        assert ends["failed"] == 0
        begun = [t for t in transcripts(stored) if t.status == "pending" and t.calls]
        assert len(begun) <= 3  # as many as are called at once
        assert pending_tags(stored) == {"budget": ends["pending"]}
        a_dry_run_says_what_is_left_and_writes_nothing(stored, server)

        dollars = budgeted(stored, server, "tokens", round(1.4 * tokens), "tracking=none")
        more = round(dollars * 1.8 / 1.4, 2)
        budgeted(stored, server, "dollars", more, "tracking=none")
        assert server.stats()["max_in_flight"] == 3
        given = sweep(server.url, PRICE, "budget.calls=10000", "tracking=none")
        plenum(stored, *given)
        assert server.stats()["requests"] == ALL
    assert journals(stored) == reference


def a_dry_run_says_what_is_left_and_writes_nothing(folder: Path, server: RunningServer) -> None:
    """90 calls are made; it needs no key and asks nobody."""
    before, left = state(folder), ALL - 90
    rates = ("calls.rpm.openai=60", "calls.tpm.openai=1000")
    given = sweep(server.url, "dry_run=true", PRICE, *rates, "budget.calls=95")
    done = plenum(folder, *given, OPENAI_API_KEY="")
    changed = [file for file, is_ in state(folder).items() if before.get(file) != is_]
    assert not [name for name in changed if not name.endswith("/multirun.yaml")]
    assert server.stats()["requests"] == 90
    row = re.search(
        rf"house-model +{left} +([\d.]+)k +([\d.]+)k +100 / 400 +\$([\d.]+)", done.stdout
    )
    assert row, done.stdout
    read_, written, cost = map(float, row.groups())
    assert cost == pytest.approx(0.1 * read_ + 0.4 * written, rel=0.02)
    for words in (
        f"cost left: ${cost:.2f}",
        "time: at least 2:00 min at calls.rpm.openai=60",
        "at calls.tpm.openai=1000",
        "budget: calls=95; used so far: ",
        "90 calls",
        "in all 2 conditions, 8 replicates, 208 calls before repairs; nothing was run",
    ):
        assert words in done.stdout


def test_a_price_that_nobody_knows_is_asked_for_at_the_start(tmp_path: Path) -> None:
    with serve_in_thread(QUICK) as server:
        done = plenum(tmp_path, *sweep(server.url, "budget.dollars=5"), status=2)
        assert server.stats()["requests"] == 0
    line = line_with(done.stderr, "error: budget.dollars: no price is known for openai/house-model")
    assert "+prices={openai/house-model:{input:...,output:...}}" in line
    assert not (tmp_path / "mlruns").exists()


# --- limits ------------------------------------------------------------------------------------


def test_the_limit_adapts_to_what_the_provider_bears_and_nobody_comes_back_too_soon(
    tmp_path: Path,
) -> None:
    """A server bears four calls at once, and says so only by 429."""
    settings = FaultSettings(
        port=0,
        latency=Latency(0.04),
        limits=Limits(in_flight=4),
        faults=Faults(retry_after_s=0.15),
    )
    with serve_in_thread(settings) as server:
        given = sweep(server.url, "tracking=none", "replicates=8", "rounds=1")
        plenum(tmp_path, *given)
        log = server.log()
    assert len(answers(tmp_path)) == 2 * 8 * 11
    refused = [line["status"] == 429 for line in log]
    third = len(refused) // 3
    assert sum(refused[:third]) > 5
    assert sum(refused[-third:]) < sum(refused[:third]) / 2

    attempts = defaultdict(list)
    for line in log:
        attempts[line["id"].rpartition("-")[0]].append(line)
    gaps = [
        later["at"] - earlier["at"]
        for tries in attempts.values()
        for earlier, later in pairwise(tries)
        if earlier["status"] == 429
    ]
    assert min(gaps) >= 0.145


# --- stops: a refused key, Ctrl-C, SIGTERM -----------------------------------------------------


def children(pid: int) -> set[int]:
    """Descendants that are alive."""
    parents: dict[int, list[int]] = defaultdict(list)
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = file.read_text().rpartition(")")[2].split()
            if fields[0] != "Z":
                parents[int(fields[1])].append(int(file.parent.name))
    descendants, queue = set(), [pid]
    while queue:
        born = parents[queue.pop()]
        descendants |= set(born)
        queue += born
    return descendants


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def signalled(
    folder: Path, server: RunningServer, send: Callable[[int], None], tracking: str
) -> None:
    """Start or continue the sweep, and signal it once it has made some calls: it ends cleanly."""
    before, logged = server.stats()["requests"], len(calls(folder))
    process = begin(folder, *sweep(server.url, PRICE, tracking), cold=True)
    wait_for(process, lambda: server.stats()["requests"] >= before + 20)
    family = children(process.pid)
    assert family  # the reporting process at least
    send(process.pid)
    done, deadline = ended(process), time.monotonic() + 10
    while any(map(alive, family)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, family))
    assert done.returncode == 130, done.stderr
    assert "interrupted: what is finished is kept" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stdout + done.stderr
    assert len(calls(folder)) > logged
    assert "interrupted" in {call["outcome"] for call in calls(folder)}
    assert statuses(folder)["pending"] > 0


@pytest.mark.long
def test_a_refused_key_and_signals_stop_everything_and_the_sweep_goes_on_to_the_same_bytes(
    reference: dict[str, bytes], stored: Path
) -> None:
    with serve_in_thread(replace(SLOW, faults=Faults(auth=0.08))) as server:
        refused = plenum(stored, *sweep(server.url, PRICE, "tracking=none"), status=1)
        log, attempts = server.log(), calls(stored)
    assert "the key was refused" in line_with(refused.stderr, "stopped: ")
    began = [datetime.fromisoformat(str(call["at"])).timestamp() for call in attempts]
    refusals = [
        moment + float(str(call["latency_s"]))
        for moment, call in zip(began, attempts, strict=True)
        if call["outcome"] == "auth"
    ]
    assert max(began) < min(refusals) + 0.1
    assert {line["id"] for line in log} <= {call["id"] for call in attempts}
    assert set(statuses(stored)) <= {"pending"}

    with serve_in_thread(SLOW) as server:
        signalled(stored, server, lambda pid: os.killpg(pid, signal.SIGINT), "tracking=none")
        signalled(stored, server, lambda pid: os.kill(pid, signal.SIGTERM), "tracking=local")
        assert pending_tags(stored) == {"interrupted": statuses(stored)["pending"]}
        plenum(stored, *sweep(server.url, PRICE, "tracking=none"))
    assert journals(stored) == reference


# --- secrets -----------------------------------------------------------------------------------

SECRETS = {
    "OPENAI_API_KEY": KEY,
    "ANTHROPIC_API_KEY": "sk-ant-canary-fedcba9876543210",
    "MLFLOW_TRACKING_PASSWORD": "canary-of-the-tracking-server",
}


def command_lines() -> bytes:
    lines = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            lines.append(file.read_bytes())
    return b"\n".join(lines)


@pytest.mark.long
def test_no_secret_is_written_printed_or_shown_in_the_process_list(
    server: Server, stored: Path
) -> None:
    words = f"upstream said {' '.join(SECRETS.values())}"
    server.script += [{"status": 500, "message": words}, {"raw": words}]
    server.script += [{"status": 400, "message": words}]  # ends a replicate: in its journal
    given = ("rounds=2", "replicates=2", "calls.backoff_s=0.01", "model.default=gpt-4.1-mini")
    url = f"backend.api_base.openai={server.url}"
    process = begin(stored, "-m", "roles=on", "backend=api", url, *given, cold=True, **SECRETS)
    seen = set()
    while process.poll() is None:
        shown = command_lines()
        seen |= {name for name, value in SECRETS.items() if value.encode() in shown}
        time.sleep(0.2)
    done = ended(process)
    assert done.returncode == 1, done.stderr  # the replicate that was refused
    assert not server.script
    assert not seen
    files = [file for file in stored.rglob("*") if file.is_file()]
    assert {"mlflow.db", "calls.jsonl", "multirun.yaml", "config.yaml", "000.jsonl"} <= {
        file.name for file in files
    }
    assert "upstream said" in "".join(f.read_text() for f in files if f.suffix == ".jsonl")
    written = {str(file): file.read_bytes() for file in files}
    for value in SECRETS.values():
        assert value not in done.stdout + done.stderr
        assert not [name for name, data in written.items() if value.encode() in data]


def test_a_login_in_the_endpoint_of_the_environment_is_refused(tmp_path: Path) -> None:
    url = "http://user:hidden-word@127.0.0.1:9/v1"
    given = ("backend=api", "replicates=1", "rounds=1", "tracking=none", "calls.max_attempts=1")
    done = plenum(tmp_path, *given, OPENAI_API_BASE=url, status=2)
    assert "hidden-word" not in done.stdout + done.stderr


# --- branching ---------------------------------------------------------------------------------

BRANCHING = (
    *("-m", "+experiment=branching", "replicates=2", "branch.bases=2", "branch.continuations=3"),
    "rounds=4",
)


@pytest.mark.usefixtures("stored")
def test_branches_begin_with_what_their_base_said(tmp_path: Path) -> None:
    done = plenum(tmp_path, *BRANCHING, "branch.after_round=null,2")
    folders = sorted(
        (tmp_path / "mlruns/journals").glob("*/"), key=lambda f: len(list(f.iterdir()))
    )
    base, branches = (sorted(folder.glob("[0-9]*.jsonl")) for folder in folders[-2:])
    assert (len(base), len(branches)) == (2, 6)
    for index, branch in enumerate(branches):
        said = [
            e
            for e in read_entries(base[index // 3])
            if e["kind"] in ("turn", "turn_repair") and e["round"] <= 2
        ]
        entries = read_entries(branch)[1:]
        inherited = [{k: v for k, v in e.items() if k != "inherited"} for e in entries[: len(said)]]
        assert json.dumps(inherited) == json.dumps(said)
        assert not any("inherited" in e for e in entries[len(said) :])
    texts = [tuple(e.get("text") for e in read_entries(branch)) for branch in branches]
    assert len(set(texts)) == 6  # each goes on by draws of its own
    assert "branches" in done.stdout
    header, *rows = (tmp_path / "outputs/branching/branching.csv").read_text().splitlines()
    assert {"base", "branches", "gamma", "after_round"} <= set(header.split(","))
    assert len(rows) == 2


def test_a_branch_without_its_base_is_refused_by_name(tmp_path: Path) -> None:
    done = plenum(tmp_path, *BRANCHING, "branch.after_round=2", "tracking=none", status=1)
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 2  # one line a base, however many branches it was to have
    assert all("base replicate 00" in line and "hasn't finished round 2" in line for line in errors)


# --- last: the minute is over by now -----------------------------------------------------------


def test_a_stated_limit_a_minute_is_never_exceeded(
    minute: Callable[[], tuple[Done, Any]],
) -> None:
    done, server = minute()
    assert done.returncode == 0, done.stderr
    log = server.log()
    assert [line["status"] for line in log] == [200] * (36 + TRIAL)
    at = [line["at"] for line in log]
    assert at[-1] - at[0] > 60  # more than a minute's calls
    assert at[20] - at[0] > 30  # spread over it, not all at its beginning
