"""Replicates on Ray's workers: efficiency, the same bytes, limits and the budget."""

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from fleet_nodes import FAST, Nodes, answers, journals, kill, nodes, run, start, wait_until
from measuring import tree
from support.fault_server import Faults, FaultSettings, Latency, serve_in_thread

from plenum.records import read_attempts, read_entries

SERVER = FaultSettings(
    port=0,
    faults=Faults(rate_limit=0.02, server_error=0.02, reset=0.02, length=0.02, malformed=0.02),
    latency=Latency(0.05),
)
API = ("backend=api", "backend.send_seed=true", *FAST)
RPM = 600
DOLLARS = 0.05


def measure(quick: bool) -> dict[str, Any]:
    """All of them."""
    figures = efficiency(quick)
    with nodes() as two:
        return figures | identical(two, quick) | limits(two, quick) | budget(two, quick)


def identical(two: Nodes, quick: bool) -> dict[str, Any]:
    """Return whether 1, 2 and 4 workers, with kills between, write what one process writes."""
    size = ("roles=on,off", "tracking=none", "replicates=4" if quick else "replicates=12")
    with tempfile.TemporaryDirectory() as name:
        run(Path(name) / "whole", *size)
        whole, same = journals(Path(name) / "whole"), True
        for number in (1, 2, 4):
            folder, given = Path(name) / f"{number}", (*two.arguments, f"workers.number={number}")
            _cut(two, folder, (*size, *given), "command")
            _cut(two, folder, (*size, *given), "worker")
            run(folder, *size, *given)
            same &= journals(folder) == whole
            print(f"{number} workers: identical {same}", flush=True)
    return {"identical": same}


def _cut(two: Nodes, folder: Path, arguments: tuple[str, ...], whom: str) -> None:
    """Run a sweep, and kill the command or a worker of it under way."""
    before = sum(answers(folder).values())
    command = start(folder, *arguments)
    wait_until(lambda: sum(answers(folder).values()) > before + 50 or command.poll() is not None)
    kill(command.pid if whom == "command" else two.workers()[0])
    command.communicate()
    wait_until(lambda: not two.workers())


def limits(two: Nodes, quick: bool) -> dict[str, Any]:
    """Most requests in any 60 s at the server over ``calls.rpm``, from four workers."""
    size = ("replicates=8", "rounds=15" if quick else "rounds=40", "roles=on,off")
    with tempfile.TemporaryDirectory() as name, serve_in_thread(SERVER) as server:
        url = f"backend.api_base.openai={server.url}"
        rpm = ("workers.number=4", f"calls.rpm.openai={RPM}")
        run(Path(name), *API, *size, url, *rpm, *two.arguments)
        times = sorted(float(line["at"]) for line in server.log())
    most = max(sum(t <= each < t + 60 for each in times) for t in times)
    return {
        "worst_minute": round(most / RPM, 4),
        "rpm_requests": len(times),
        "rpm_minutes": round((times[-1] - times[0]) / 60, 2),
    }


def budget(two: Nodes, quick: bool) -> dict[str, Any]:
    """Dollars beyond the budget, from four workers, and requests that no call log has."""
    size = ("replicates=8", "rounds=20", "roles=on,off")
    with tempfile.TemporaryDirectory() as name, serve_in_thread(SERVER) as server:
        given = ("workers.number=4", f"budget.dollars={DOLLARS}")
        folder, url = Path(name), f"backend.api_base.openai={server.url}"
        process = start(folder, *API, *size, url, *given, *two.arguments)
        errors = process.communicate(timeout=600)[1]
        assert "is reached" in errors, errors
        spent = _spent(folder)
        logged = sum(1 for log in _logs(folder) for _ in read_attempts(log))
        requests = server.stats()["requests"]
    return {
        "budget_over": round(max(0.0, spent - DOLLARS), 6),
        "budget_used": round(spent / DOLLARS, 3),
        "budget_unlogged": requests - logged,
    }


def efficiency(quick: bool) -> dict[str, Any]:
    """Throughput of two workers a core over one process's a core.

    Calls are counted from the first to the last line of the call logs, so that starting and
    ending, which take seconds whatever the sweep's length, are left out. Cores are those that
    the sweep's processes used meanwhile, Ray's included: seconds of CPU over seconds.
    """
    size = ("replicates=10", "rounds=10") if quick else ("replicates=60", "rounds=20")
    with tempfile.TemporaryDirectory() as name:
        one = _measured(Path(name) / "one", *size)
        two = _measured(Path(name) / "two", *size, "hydra/launcher=ray", "workers.number=2")
        same = journals(Path(name) / "one") == journals(Path(name) / "two")
    return {
        "efficiency_2": round(two["per_core"] / one["per_core"], 3),
        "speedup_2": round(two["per_s"] / one["per_s"], 3),
        "calls_per_s_1": round(one["per_s"]),
        "calls_per_s_2": round(two["per_s"]),
        "cores_1": round(one["cores"], 2),
        "cores_2": round(two["cores"], 2),
        "efficiency_identical": same,
    }


def _measured(folder: Path, *arguments: str) -> dict[str, float]:
    process = start(folder, "roles=on,off", "tracking=none", *arguments)
    seen: list[tuple[float, int, float]] = []
    while process.poll() is None:
        seen.append((time.time(), _calls(folder), _cpu_s(process.pid)))
        time.sleep(0.25)
    errors = process.communicate()[1]
    total = max(calls for _, calls, _ in seen)
    # the middle 80 % of the calls: all workers are busy then
    began = next(each for each in seen if each[1] >= 0.1 * total)
    ended = next(each for each in seen if each[1] >= 0.9 * total)
    if process.returncode:
        raise SystemExit(errors)
    seconds, calls = ended[0] - began[0], ended[1] - began[1]
    cpu_s = ended[2] - began[2]
    return {"per_s": calls / seconds, "cores": cpu_s / seconds, "per_core": calls / cpu_s}


def _calls(folder: Path) -> int:
    """Answers that are journaled."""
    files = (folder / "mlruns/journals").glob("*/[0-9]*.jsonl")
    return sum(file.read_bytes().count(b'"text":') for file in files)


def _cpu_s(root: int) -> float:
    """Seconds of CPU that a process and its descendants have used."""
    ticks = 0
    for pid in tree(root):
        try:
            stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += int(stat[11]) + int(stat[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _logs(folder: Path) -> list[Path]:
    return sorted((folder / "mlruns/journals").glob("*/calls*.jsonl"))


def _spent(folder: Path) -> float:
    """Dollars of all answers, and what attempts without one may have cost at most."""
    files = (folder / "mlruns/journals").glob("*/[0-9]*.jsonl")
    answered = sum(entry.get("cost") or 0.0 for file in files for entry in read_entries(file))
    lines = [line for log in _logs(folder) for line in read_attempts(log)]
    return answered + sum(line.get("cost_at_most") or 0.0 for line in lines if not line["answered"])
