"""Stop audits in a dozen ways, each the real command with `undecided=pass`, and count who passes.

A pass is exit status 0 though some case has no completed run in the journals. The two cases have a
program that would always decide alike, and `max_runs` that leave it undecided.
"""

import fcntl
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from plenum.records import DamagedJournal, read

ROOT = Path(__file__).resolve().parents[3]
CASES = ("one", "two")
_PROGRAM = """
import asyncio, json, os, signal, sys, time, urllib.request


def ask(case, run):
    body = {"model": "openai/gpt-x", "messages": [{"role": "user", "content": case.text}]}
    request = urllib.request.Request(
        f"{run.base_url}/chat/completions",
        json.dumps(body).encode(),
        {**run.headers, "Content-Type": "application/json"},
    )
    json.load(urllib.request.urlopen(request))
    return "A"


def steady(case, run):
    return "A"


def second_fails(case, run):
    return "A" if case.id == "one" else sys.exit(3)


def fails(case, run):
    raise RuntimeError("no committee today")


def slow(case, run):
    time.sleep(60)


async def leaves(case, run):
    sys.exit(0)


def kills(case, run):
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(5)
"""
_LIMIT_S = 240


def measure(quick: bool) -> dict[str, Any]:
    """How many ways pass, and how many there are."""
    passed, ways = [], list(_ways().items())[: 4 if quick else None]
    for name, way in ways:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            (place / "app.py").write_text(_PROGRAM)
            cases = [f"- {{id: {c}, text: Which {c}?, options: {{A: x, B: y}}}}\n" for c in CASES]
            (place / "cases.yaml").write_text("".join(cases))
            status = way(place)
            unrun = len(_completed(place)) < len(CASES)
            print(f"{name}: status {status}, {'not ' * unrun}every case has a run", flush=True)
            passed += [name] * (status == 0 and unrun)
    return {"gate_passes_unrun": len(passed), "unrun_ways": len(ways)}


def _ways() -> dict[str, Callable[[Path], int]]:
    nobody = f"backend.api_base.openai=http://127.0.0.1:{_closed_port()}"
    api = ("backend=api", nobody, "calls.max_attempts=1")
    return {
        "provider unreachable": lambda p: _audit(p, "ask", *api),
        "no calls allowed": lambda p: _audit(p, "ask", "budget.calls=1"),
        "folder busy": _busy,
        "provider unreachable, tracked": lambda p: _audit(p, "ask", *api, "tracking=local"),
        "second case fails": lambda p: _audit(p, "second_fails", "max_runs=2"),
        "every run fails": lambda p: _audit(p, "fails"),
        "every run times out": lambda p: _audit(p, "slow", "committee.timeout_s=0.5"),
        "the program leaves the process": lambda p: _audit(p, "leaves", "committee.isolate=none"),
        "the program kills the audit": lambda p: _audit(p, "kills"),
        "SIGTERM": lambda p: _signalled(p, signal.SIGTERM),
        "SIGINT": lambda p: _signalled(p, signal.SIGINT),
        "SIGKILL": lambda p: _signalled(p, signal.SIGKILL),
        "no memory": lambda p: _audit(p, "steady", limit=600_000_000),
        "a damaged journal": _damaged,
        "a folder that can't be written": lambda p: _audit(p, "steady", "out=app.py/x"),
    }


def _command(name: str, *more: str) -> list[str]:
    given = (f"committee=app.py:{name}", "case=cases.yaml", "undecided=pass", "max_runs=4")
    how = () if any(m.startswith("backend=") for m in more) else ("backend=simulated",)
    kept = () if "tracking=local" in more else ("tracking=none",)
    own = {m.partition("=")[0] for m in more}
    usual = [g for g in given if g.partition("=")[0] not in own]
    return [sys.executable, str(ROOT / "scripts/audit.py"), *usual, *how, *kept, *more]


def _start(folder: Path, name: str, *more: str, limit: int = 0) -> "subprocess.Popen[bytes]":
    def bounded() -> None:
        if limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    return subprocess.Popen(
        _command(name, *more),
        cwd=folder,
        env={**os.environ, "OPENAI_API_KEY": "unused"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=bounded,
        start_new_session=True,
    )


def _audit(folder: Path, name: str, *more: str, limit: int = 0) -> int:
    return _ended(_start(folder, name, *more, limit=limit))


def _ended(audit: "subprocess.Popen[bytes]") -> int:
    try:
        return audit.wait(_LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(audit.pid, signal.SIGKILL)
        return audit.wait()


def _signalled(folder: Path, sent: signal.Signals) -> int:
    """Send a signal as soon as a run is under way, which takes its time."""
    audit = _start(folder, "slow")
    while audit.poll() is None and not list(folder.glob("mlruns/journals/*/000.jsonl")):
        time.sleep(0.1)
    audit.send_signal(sent)
    return _ended(audit)


def _busy(folder: Path) -> int:
    """Another audit holds the folders of both cases."""
    _audit(folder, "steady")
    held = []
    for lock in folder.glob("mlruns/journals/*/lock"):
        for journal in lock.parent.glob("*.jsonl"):
            journal.unlink()
        held.append(lock.open())
        fcntl.flock(held[-1], fcntl.LOCK_EX)
    return _audit(folder, "steady")


def _damaged(folder: Path) -> int:
    """A line of each run's journal was changed."""
    _audit(folder, "steady")
    for journal in folder.glob("mlruns/journals/*/*.jsonl"):
        journal.write_bytes(journal.read_bytes().replace(b"completed", b"c0mpleted"))
    return _audit(folder, "steady")


def _completed(folder: Path) -> set[str]:
    """Cases that have a completed run."""
    cases = set()
    for path in folder.glob("mlruns/journals/*/[0-9]*.jsonl"):
        try:
            run = read(path)
        except (DamagedJournal, OSError):
            continue
        if run.status == "completed":
            cases.add(str(run.head["case"]))
    return cases


def _closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
