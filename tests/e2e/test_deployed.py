"""The deployed regime by the command line: faults, budgets, limits, stops, secrets and branches."""

import json
import os
import re
import signal
import sqlite3
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import openai_server
from forking import Process

from plenum.records import Transcript, read
from plenum.records.journal import read_entries
from plenum.testing.fault_server import Faults, Latency, Limits, Settings, serving
from plenum.testing.fault_server.running import Running

from .conftest import calls, free_port, journals, start, with_store

KEY = "sk-canary-0123456789abcdef"
MODEL = "openai/house-model"  # no price list knows it
PRICE = f"+prices={{{MODEL}:{{input:100,output:400}}}}"
CONDITIONS, REPLICATES, CALLS = 2, 4, 26  # five seats and a ballot each, a count: 4 rounds
ALL = CONDITIONS * REPLICATES * CALLS
PORT = free_port()
"""One for all sweeps whose journals are compared: the endpoint is part of an identity."""
QUICK = Settings(port=PORT, latency=Latency(0.01))
SLOW = Settings(port=PORT, latency=Latency(0.15))
EXPECTED = {
    **dict.fromkeys(("server_error", "unavailable", "reset", "truncated"), "server"),
    **{"wrong_type": "server", "rate_limit": "rate_limit", "hang": "timeout", "trickle": "ok"},
    **{"empty_choices": "empty", "length": "length", "malformed": "parse"},
}
"""What the call log has to say of each injected fault."""


@dataclass(frozen=True)
class Done:
    """A run that has ended."""

    status: int
    out: str
    err: str


def begin(folder: Path, *arguments: str, cold: bool = False, **extra: str) -> Process:
    """Start ``run.py`` in a folder."""
    return start(folder, "run.py", *arguments, cold=cold, **{"OPENAI_API_KEY": KEY, **extra})


def ended(process: Process) -> Done:
    out, err = process.communicate(timeout=200)
    return Done(process.returncode, out, err)


def plenum(folder: Path, *arguments: str, **extra: str) -> Done:
    """Run ``run.py`` to its end."""
    return ended(begin(folder, *arguments, **extra))


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
    return [read(folder / "mlruns/journals" / name) for name in journals(folder)]


def answers(folder: Path) -> list[dict[str, Any]]:
    """Every answer that the journals hold."""
    return [entry for transcript in transcripts(folder) for entry in transcript.calls]


def lines(text: str, head: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(head)]


def pending_tags(folder: Path) -> Counter[str | None]:
    """``plenum.pending`` of the nested runs that haven't ended."""
    client = MlflowClient(f"sqlite:///{folder}/mlruns/mlflow.db")
    experiment = client.get_experiment_by_name("deployed")
    assert experiment is not None
    runs = client.search_runs([experiment.experiment_id], "tags.`plenum.kind` = 'replicate'")
    tags = [run.data.tags for run in runs]
    return Counter(t.get("plenum.pending") for t in tags if t["plenum.status"] == "pending")


def begun_of(folder: Path) -> int:
    return sum(transcript.status == "pending" for transcript in transcripts(folder))


# --- a limit a minute, tried in the background: it takes more than a minute --------------------


@pytest.fixture(scope="module", autouse=True)
def minute(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], tuple[Done, Any]]]:
    """36 calls to a server that allows 30 a minute, begun before all other tests."""
    folder = tmp_path_factory.mktemp("minute")
    with serving(Settings(port=0, latency=Latency(0.0), limits=Limits(rpm=30))) as server:
        given = sweep(server.url, "roles=on", "tracking=none", "replicates=1", "rounds=6")
        process = begin(folder, *given, "calls.rpm.openai=30")
        yield lambda: (ended(process), server)
        process.kill()


# --- faults ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done, list[Any], Any]:
    """A sweep in which one request in five goes wrong, in every way that there is."""
    folder = tmp_path_factory.mktemp("faulty")
    settings = Settings(port=0, latency=Latency(0.01), faults=Faults(all=0.2, trickle_s=0.4))
    with serving(settings) as server:
        done = plenum(folder, *sweep(server.url, "tracking=none", "calls.timeout_s=1"))
        return folder, done, server.log(), server.stats()


def test_every_replicate_ends_whatever_the_provider_does(
    faulty: tuple[Path, Done, list[Any], Any],
) -> None:
    folder, done, _, _ = faulty
    ends = Counter(transcript.status for transcript in transcripts(folder))
    assert ends.total() == ends["completed"] + ends["failed"] == CONDITIONS * REPLICATES
    told = f"8 replicates = {ends['completed']} completed + {ends['failed']} failed + 0 pending"
    assert told in done.err
    assert done.status == (1 if ends["failed"] else 0)
    assert "Traceback" not in done.err


def test_every_injected_fault_is_in_the_call_log_under_its_name(
    faulty: tuple[Path, Done, list[Any], Any],
) -> None:
    folder, _, log, stats = faulty
    recorded = {str(call["id"]): call["outcome"] for call in calls(folder)}
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


@dataclass(frozen=True)
class Stage:
    """How one of several runs in the same folder ended, and what it left."""

    done: Done
    answered: int
    requests: int
    used: list[dict[str, Any]]
    ends: Counter[str]
    half_done: int
    pending: Counter[str | None]

    @property
    def tokens(self) -> int:
        return sum(entry["tokens_in"] + entry["tokens_out"] for entry in self.used)

    @property
    def dollars(self) -> float:
        return float(sum(entry["cost"] for entry in self.used))


def stage(folder: Path, server: Running, *arguments: str, tracked: bool = False) -> Stage:
    tracking = "tracking=local" if tracked else "tracking=none"
    done = plenum(folder, *sweep(server.url, *arguments, tracking))
    stats, found = server.stats(), transcripts(folder)
    return Stage(
        done,
        stats["answered"],
        stats["requests"],
        [entry for transcript in found for entry in transcript.calls],
        Counter(transcript.status for transcript in found),
        sum(transcript.status == "pending" and bool(transcript.calls) for transcript in found),
        pending_tags(folder) if tracked else Counter(),
    )


@dataclass(frozen=True)
class Whole:
    """A sweep that nothing stopped: untracked first, then tracked by the same command."""

    bytes: dict[str, bytes]
    untracked: bool
    first: Stage
    tracked: Stage
    runs: Counter[str]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("whole")
    with serving(QUICK) as server:
        first = stage(folder, server, PRICE)
        untracked = not list(folder.rglob("mlflow.db"))
        found = journals(folder)
        tracked = stage(folder, server, PRICE, tracked=True)
    with sqlite3.connect(folder / "mlruns/mlflow.db") as connection:
        query = "select value from tags where key = 'plenum.status' and run_uuid in "
        nested = "(select run_uuid from tags where key = 'plenum.kind' and value = 'replicate')"
        runs = Counter(value for (value,) in connection.execute(query + nested))
    connection.close()
    return Whole(found, untracked, first, tracked, runs)


def test_an_untracked_sweep_is_tracked_later_from_its_journals_without_a_call(whole: Whole) -> None:
    assert (whole.first.done.status, whole.first.requests) == (0, ALL), whole.first.done.err
    assert whole.untracked
    assert (whole.tracked.done.status, whole.tracked.requests) == (0, ALL), whole.tracked.done.err
    assert "8 replicates were taken from journals of an earlier run" in whole.tracked.done.err
    assert whole.runs == {"completed": CONDITIONS * REPLICATES}


NARROW = "calls.max_concurrency=3"


@dataclass(frozen=True)
class Budgeted:
    """One folder through one budget after the other."""

    stages: dict[str, Stage]
    limits: dict[str, float]
    dry: Done
    dry_wrote: list[str]
    unpriced: Done
    unpriced_wrote: bool
    most_in_flight: int
    bytes: dict[str, bytes]


def state(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file, with what a write would change."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(f): (f.stat().st_size, f.stat().st_mtime_ns) for f in files}


@pytest.fixture(scope="module")
def budgeted(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Budgeted:
    folder = with_store(empty_store, tmp_path_factory.mktemp("budget"))
    empty = tmp_path_factory.mktemp("unpriced")
    stages, limits = {}, {"calls": 90.0}
    with serving(QUICK) as server:
        stages["calls"] = stage(folder, server, PRICE, NARROW, "budget.calls=90", tracked=True)
        before = state(folder)
        rates = ("calls.rpm.openai=60", "calls.tpm.openai=1000")
        given = sweep(server.url, "dry_run=true", PRICE, *rates, "budget.calls=95")
        dry = plenum(folder, *given, OPENAI_API_KEY="")
        dry_wrote = [file for file, is_ in state(folder).items() if before.get(file) != is_]
        unpriced = plenum(empty, *sweep(server.url, "budget.dollars=5"))
        unpriced_wrote = (empty / "mlruns").exists()
        limits["tokens"] = round(1.4 * stages["calls"].tokens)
        tokens = f"budget.tokens={limits['tokens']:.0f}"
        stages["tokens"] = stage(folder, server, PRICE, NARROW, tokens)
        limits["dollars"] = round(1.8 * stages["calls"].dollars, 2)
        stages["dollars"] = stage(
            folder, server, PRICE, NARROW, f"budget.dollars={limits['dollars']}"
        )
        most = server.stats()["max_in_flight"]
        stages["more"] = stage(folder, server, PRICE, "budget.calls=10000")
    found = journals(folder)
    return Budgeted(stages, limits, dry, dry_wrote, unpriced, unpriced_wrote, most, found)


@pytest.mark.parametrize("key", ["calls", "tokens", "dollars"])
def test_a_budget_stops_the_sweep_in_one_line(budgeted: Budgeted, key: str) -> None:
    done = budgeted.stages[key].done
    assert done.status == 1
    (line,) = lines(done.err, "stopped: ")
    assert f"budget.{key}={budgeted.limits[key]:g} is reached" in line
    assert "Traceback" not in done.err
    assert "failed: " not in done.err


@pytest.mark.parametrize("key", ["calls", "tokens", "dollars"])
def test_no_more_is_spent_than_the_budget_allows_and_hardly_less(
    budgeted: Budgeted, key: str
) -> None:
    found = budgeted.stages[key]
    used = {"calls": found.answered, "tokens": found.tokens, "dollars": found.dollars}[key]
    assert 0.9 * budgeted.limits[key] < used <= budgeted.limits[key]
    assert found.requests == found.answered == len(found.used)  # the server's count


def test_a_budget_finishes_replicates_before_it_begins_others(budgeted: Budgeted) -> None:
    found = budgeted.stages["calls"]
    assert found.ends["completed"] >= 3  # 90 calls are three and a half replicates
    assert found.ends["failed"] == 0
    assert found.half_done <= 3  # as many as are called at once


def test_what_a_budget_left_half_done_says_so_in_mlflow(budgeted: Budgeted) -> None:
    found = budgeted.stages["calls"]
    assert found.pending == {"budget": found.ends["pending"]}


def test_a_larger_budget_goes_on_to_the_same_bytes(budgeted: Budgeted, whole: Whole) -> None:
    last = budgeted.stages["more"]
    assert last.done.status == 0, last.done.err
    assert last.requests == ALL
    assert budgeted.bytes == whole.bytes


def test_a_price_that_nobody_knows_is_asked_for_at_the_start(budgeted: Budgeted) -> None:
    assert budgeted.unpriced.status == 2
    (line,) = budgeted.unpriced.err.splitlines()[-1:]
    assert line.startswith("error: budget.dollars: no price is known for openai/house-model")
    assert "+prices={openai/house-model:{input:...,output:...}}" in line
    assert not budgeted.unpriced_wrote
    assert budgeted.stages["tokens"].requests <= ALL  # its requests would count there


def test_the_most_calls_at_once_are_bounded(budgeted: Budgeted) -> None:
    assert budgeted.most_in_flight == 3


def test_a_dry_run_says_what_is_left_and_needs_no_key(budgeted: Budgeted) -> None:
    done, left = budgeted.dry, ALL - 90
    assert done.status == 0, done.err
    row = re.search(rf"house-model +{left} +([\d.]+)k +([\d.]+)k +100 / 400 +\$([\d.]+)", done.out)
    assert row, done.out
    read_, written, cost = map(float, row.groups())
    assert cost == pytest.approx(0.1 * read_ + 0.4 * written, rel=0.02)
    assert f"cost left: ${cost:.2f}" in done.out
    assert "time: at least 1:58 min at calls.rpm.openai=60" in done.out
    assert "at calls.tpm.openai=1000" in done.out
    assert "budget: calls=95; used so far: " in done.out
    assert "90 calls" in done.out
    assert (
        "in all 2 conditions, 8 replicates, 208 calls before repairs; nothing was run" in done.out
    )


def test_a_dry_run_writes_nothing_and_asks_nobody(budgeted: Budgeted) -> None:
    """But for Hydra's note of the command."""
    assert not [name for name in budgeted.dry_wrote if not name.endswith("/multirun.yaml")]
    assert budgeted.stages["tokens"].requests == len(budgeted.stages["tokens"].used)


# --- limits ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done, list[Any]]:
    """A server that bears four calls at once, and says so only by 429."""
    folder = tmp_path_factory.mktemp("crowded")
    settings = Settings(
        port=0,
        latency=Latency(0.04),
        limits=Limits(in_flight=4),
        faults=Faults(retry_after_s=0.15),
    )
    with serving(settings) as server:
        given = sweep(server.url, "tracking=none", "replicates=8", "rounds=1")
        return folder, plenum(folder, *given), server.log()


def test_the_limit_adapts_to_what_the_provider_bears(
    crowded: tuple[Path, Done, list[Any]],
) -> None:
    folder, done, log = crowded
    assert done.status == 0, done.err
    assert len(answers(folder)) == 2 * 8 * 11
    refused = [line["status"] == 429 for line in log]
    third = len(refused) // 3
    assert sum(refused[:third]) > 5
    assert sum(refused[-third:]) < sum(refused[:third]) / 2


def test_nobody_comes_back_before_the_provider_said(crowded: tuple[Path, Done, list[Any]]) -> None:
    _, _, log = crowded
    attempts = defaultdict(list)
    for line in log:
        attempts[line["id"].rpartition("-")[0]].append(line)
    gaps = [
        later["at"] - earlier["at"]
        for tries in attempts.values()
        for earlier, later in pairwise(tries)
        if earlier["status"] == 429
    ]
    assert gaps
    assert min(gaps) >= 0.145


# --- stops: a refused key, Ctrl-C, SIGTERM -----------------------------------------------------


@dataclass(frozen=True)
class Stopped:
    """How a run was stopped, and what it left."""

    done: Done
    seconds: float
    orphans: list[int]
    begun: int
    pending: Counter[str | None]
    interrupted: int


def children(pid: int) -> set[int]:
    """Descendants that are alive."""
    parents: dict[int, list[int]] = defaultdict(list)
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents[int(fields[1])].append(int(file.parent.name))
    found, queue = set(), [pid]
    while queue:
        own = parents[queue.pop()]
        found |= set(own)
        queue += own
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def signalled(folder: Path, server: Running, send: Callable[[int], None], tracking: str) -> Stopped:
    """Start or continue the sweep, and signal it once it has made some calls."""
    before, logged = server.stats()["requests"], len(calls(folder))
    process = begin(folder, *sweep(server.url, PRICE, tracking), cold=True)
    deadline = time.monotonic() + 60
    while server.stats()["requests"] < before + 20 and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    family = children(process.pid)
    assert family  # the reporting process at least
    began = time.monotonic()
    send(process.pid)
    done = ended(process)
    seconds = time.monotonic() - began
    while any(map(alive, family)) and time.monotonic() < began + 10:
        time.sleep(0.05)
    outcomes = Counter(call["outcome"] for call in calls(folder))
    assert len(calls(folder)) > logged
    return Stopped(
        done,
        seconds,
        [pid for pid in family if alive(pid)],
        begun_of(folder),
        pending_tags(folder) if tracking == "tracking=local" else Counter(),
        outcomes["interrupted"],
    )


@dataclass(frozen=True)
class Halting:
    """One folder: a key refused, Ctrl-C, SIGTERM, and then to its end."""

    refused: Done
    log: list[dict[str, Any]]
    attempts: list[dict[str, Any]]
    after_refusal: list[Transcript]
    ctrl_c: Stopped
    sigterm: Stopped
    last: Stage
    bytes: dict[str, bytes]


@pytest.fixture(scope="module")
def halting(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Halting:
    folder = with_store(empty_store, tmp_path_factory.mktemp("halting"))
    with serving(replace(SLOW, faults=Faults(auth=0.08))) as server:
        refused = plenum(folder, *sweep(server.url, PRICE, "tracking=none"))
        log, attempts, found = server.log(), calls(folder), transcripts(folder)
    with serving(SLOW) as server:
        ctrl_c = signalled(
            folder, server, lambda pid: os.killpg(pid, signal.SIGINT), "tracking=none"
        )
        sigterm = signalled(
            folder, server, lambda pid: os.kill(pid, signal.SIGTERM), "tracking=local"
        )
        last = stage(folder, server, PRICE)
    return Halting(refused, log, attempts, found, ctrl_c, sigterm, last, journals(folder))


def moment(call: dict[str, Any]) -> float:
    """When an attempt was begun."""
    return datetime.fromisoformat(call["at"]).timestamp()


def test_a_refused_key_stops_everything_at_once(halting: Halting) -> None:
    assert halting.refused.status == 1
    (line,) = lines(halting.refused.err, "stopped: ")
    assert "the key was refused" in line
    assert "Traceback" not in halting.refused.err
    refusals = [call for call in halting.attempts if call["outcome"] == "auth"]
    known = min(moment(call) + float(call["latency_s"]) for call in refusals)
    assert max(map(moment, halting.attempts)) < known + 0.1
    assert {line["id"] for line in halting.log} <= {call["id"] for call in halting.attempts}
    assert {transcript.status for transcript in halting.after_refusal} <= {"pending"}


@pytest.mark.parametrize("how", ["ctrl_c", "sigterm"])
def test_a_signal_ends_the_sweep_cleanly(halting: Halting, how: str) -> None:
    stopped: Stopped = getattr(halting, how)
    assert stopped.done.status == 130, stopped.done.err
    assert "interrupted: what is finished is kept" in stopped.done.err.splitlines()[-1]
    assert "Traceback" not in stopped.done.out + stopped.done.err
    assert not stopped.orphans
    assert stopped.begun > 0
    assert stopped.interrupted > 0


def test_what_was_interrupted_says_so_in_mlflow(halting: Halting) -> None:
    assert halting.sigterm.pending == {"interrupted": halting.sigterm.begun}


def test_after_every_stop_the_sweep_goes_on_to_the_same_bytes(
    halting: Halting, whole: Whole
) -> None:
    assert halting.last.done.status == 0, halting.last.done.err
    assert halting.bytes == whole.bytes


# --- secrets -----------------------------------------------------------------------------------

SECRETS = {
    "OPENAI_API_KEY": KEY,
    "ANTHROPIC_API_KEY": "sk-ant-canary-fedcba9876543210",
    "MLFLOW_TRACKING_PASSWORD": "canary-of-the-tracking-server",
}


def command_lines() -> bytes:
    found = b""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += file.read_bytes() + b"\n"
        except OSError:
            continue
    return found


def test_no_secret_is_written_printed_or_shown_in_the_process_list(tmp_path: Path) -> None:
    with openai_server.serving() as server:
        told = f"upstream said {' '.join(SECRETS.values())}"
        server.script += [{"status": 500, "message": told}, {"raw": told}]
        server.script += [{"status": 400, "message": told}]  # ends a replicate: in its journal
        given = ("rounds=2", "replicates=2", "calls.backoff_s=0.01", "model.default=gpt-4.1-mini")
        url = f"backend.api_base.openai={server.url}"
        process = begin(
            tmp_path, "-m", "roles=on", "backend=api", url, *given, cold=True, **SECRETS
        )
        seen = set()
        while process.poll() is None:
            shown = command_lines()
            seen |= {name for name, value in SECRETS.items() if value.encode() in shown}
            time.sleep(0.2)
        done = ended(process)
    assert done.status == 1, done.err  # the replicate that was refused
    assert not server.script
    assert not seen
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert {"mlflow.db", "calls.jsonl", "multirun.yaml", "config.yaml", "000.jsonl"} <= {
        file.name for file in files
    }
    assert "upstream said" in "".join(f.read_text() for f in files if f.suffix == ".jsonl")
    written = {str(file): file.read_bytes() for file in files}
    for value in SECRETS.values():
        assert value not in done.out + done.err
        assert not [name for name, data in written.items() if value.encode() in data]


@pytest.mark.parametrize(
    ("argument", "key"),
    [
        (f"study={KEY}", "study"),
        (f"+backend.headers.authorization={KEY}", "+backend.headers.authorization"),
        ("backend.api_base.openai=http://user:hidden-word@127.0.0.1:9/v1", "backend.api_base"),
        ("backend.api_base.openai=http://127.0.0.1:9/v1?api_key=hidden-word", "backend.api_base"),
        ("tracking.uri=http://user:hidden-word@127.0.0.1:9", "tracking.uri"),
    ],
    ids=["study", "header", "login in a URL", "key in a URL", "tracking"],
)
def test_a_secret_on_the_command_line_is_refused_before_anything_is_written(
    tmp_path: Path, argument: str, key: str
) -> None:
    done = plenum(tmp_path, "-m", "roles=on,off", argument)
    assert done.status == 2, done.err
    (line,) = done.err.splitlines()
    assert line.startswith(f"error: {key}")
    assert "hidden-word" not in done.out + done.err
    assert KEY not in done.out + done.err
    assert not list(tmp_path.iterdir())


def test_a_login_in_the_endpoint_of_the_environment_is_refused(tmp_path: Path) -> None:
    url = "http://user:hidden-word@127.0.0.1:9/v1"
    given = ("backend=api", "replicates=1", "rounds=1", "tracking=none", "calls.max_attempts=1")
    done = plenum(tmp_path, *given, OPENAI_API_BASE=url)
    assert "hidden-word" not in done.out + done.err
    assert done.status == 2
    assert "Traceback" not in done.err


# --- branching ---------------------------------------------------------------------------------

BRANCHING = (
    *("-m", "+experiment=branching", "replicates=2", "branch.bases=2", "branch.continuations=3"),
    "rounds=4",
)


@pytest.mark.usefixtures("stored")
def test_branches_begin_with_what_their_base_said(tmp_path: Path) -> None:
    done = plenum(tmp_path, *BRANCHING, "branch.after_round=null,2")
    assert done.status == 0, done.err
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
    assert "Branching" in done.out
    assert "3 branches after round 2" in done.out
    header, *rows = (tmp_path / "outputs/branching/branching.csv").read_text().splitlines()
    assert {"base", "branches", "gamma", "after_round"} <= set(header.split(","))
    assert len(rows) == 2


def test_a_branch_without_its_base_is_refused_by_name(tmp_path: Path) -> None:
    done = plenum(tmp_path, *BRANCHING, "branch.after_round=2", "tracking=none")
    assert done.status == 1
    told = lines(done.err, "error: ")
    assert len(told) == 2  # one line a base, however many branches it was to have
    assert all("base replicate 00" in line and "hasn't finished round 2" in line for line in told)
    assert "Traceback" not in done.err


# --- last: the minute is over by now -----------------------------------------------------------


def test_a_stated_limit_a_minute_is_never_exceeded(
    minute: Callable[[], tuple[Done, Any]],
) -> None:
    done, server = minute()
    assert done.status == 0, done.err
    log = server.log()
    assert [line["status"] for line in log] == [200] * 36
    at = [line["at"] for line in log]
    assert at[-1] - at[0] > 60  # more than a minute's calls
    assert at[20] - at[0] > 30  # spread over it, not all at its beginning
