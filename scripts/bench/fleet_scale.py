"""Ten thousand conditions: composed, and swept with tracking on PostgreSQL to their tables."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from math import prod
from pathlib import Path

from measuring import watch

ROOT = Path(__file__).resolve().parents[2]
_CONDITIONS, _QUICK = 10_000, 300
_GRID = {
    "roles": ("on", "off"),
    "model": ("uniform", "mixed", "gpt-4o", "claude-sonnet-4.6", "grok-3"),
    "memory": ("k1", "k3", "k5", "k15"),
    "temperature": ("t0", "t0.1", "t0.2", "t0.7", "t0.01"),
    "protocol": ("deliberation", "no_feedback"),
    "scenario": ("AI-01", "AI-02", "CL-01", "HL-01", "HL-02"),
    "seed": ("0", "1", "2", "3", "4"),
}
_LIMIT_S = 1700


def measure(quick: bool) -> dict[str, float | bool]:
    """The figures of issue 20; with ``quick`` under names of their own, of a few conditions."""
    return {**compose(quick), **sweep(quick)}


def compose(quick: bool) -> dict[str, float | bool]:
    """Seconds and MB that composing and checking the grid takes; as the sweep would it."""
    number = _QUICK if quick else _CONDITIONS
    stride = prod(map(len, _GRID.values())) // number  # every option comes, also among a few
    with tempfile.TemporaryDirectory() as folder:
        script = (
            "import sys, time, resource, json\n"
            "from plenum.execution import hydra_jobs\n"
            "plain = hydra_jobs._compose_all\n"
            "def timed(context, config, batch, *rest):\n"
            f"    batch = list(batch)[::{stride}][:{number}]\n"
            "    began, cpu = time.perf_counter(), time.process_time()\n"
            "    composed = plain(context, config, batch, *rest)\n"
            "    took = time.perf_counter() - began, time.process_time() - cpu\n"
            "    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
            "    print('MEASURED', len(composed), *took, peak, flush=True)\n"
            "    raise SystemExit\n"
            "hydra_jobs._compose_all = timed\n"
            f"import runpy; runpy.run_path({str(ROOT / 'run.py')!r}, run_name='__main__')\n"
        )
        grid = [f"{key}={','.join(values)}" for key, values in _GRID.items()]
        command = [sys.executable, "-c", script, "-m", *grid, "tracking=none"]
        seen = watch(command, cwd=folder, env=_environment(), limit_s=_LIMIT_S)
    composed, wall, cpu, peak = map(float, re.findall(r"MEASURED (.*)", seen.output)[0].split())
    if quick:
        return {"compose_ms": 1000 * wall / composed, "compose_cpu_ms": 1000 * cpu / composed}
    return {"compose_10k_s": wall, "compose_10k_cpu_s": cpu, "compose_10k_mb": peak}


def sweep(quick: bool) -> dict[str, float | bool]:
    """Seconds from the command to the tables, with PostgreSQL; and MB of all its processes."""
    number = _QUICK if quick else _CONDITIONS
    grid = {**_GRID, "seed": _GRID["seed"] if not quick else ("0",)}
    sizes = [len(values) for values in grid.values()]
    while quick and prod(sizes) > number:  # halve the largest
        at = max(range(len(sizes)), key=sizes.__getitem__)
        sizes[at] = -(-sizes[at] // 2)
    shown = [
        f"{key}={','.join(islice(values, size))}"
        for (key, values), size in zip(grid.items(), sizes, strict=True)
    ]
    conditions = prod(sizes)
    with tempfile.TemporaryDirectory() as folder, postgresql() as uri:
        tracked = [f"tracking.uri={uri}", "tracking.traces=none", "tracking.replicates=none"]
        command = [sys.executable, str(ROOT / "run.py"), "-m", *shown, *tracked]
        began = time.perf_counter()
        given = [*command, "rounds=3", "replicates=2", "study=grid"]
        seen = watch(given, cwd=folder, env=_environment(), limit_s=_LIMIT_S)
        wall = time.perf_counter() - began
    if f"{conditions} conditions: {2 * conditions} replicates = " not in seen.output + seen.errors:
        raise SystemExit(f"the sweep wasn't whole:\n{(seen.output + seen.errors)[-2000:]}")
    if quick:
        return {"sweep_ms_a_condition": 1000 * wall / conditions, "sweep_mb": seen.peak_mb}
    return {"sweep_10k_s": wall, "sweep_10k_mb": seen.peak_mb}


@contextmanager
def postgresql() -> Iterator[str]:
    """The URI of an empty database, run as an ordinary user."""
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"))
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    before: list[str] = []
    if not os.geteuid():
        shutil.chown(folder, "postgres")
        before = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def call(program: str, *arguments: str) -> None:
        command = [*before, str(programs / program), "-D", str(folder / "data"), *arguments]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120)

    call("initdb", "-U", "plenum", "-A", "trust", "-N")
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1"
    call("pg_ctl", "-w", "-l", f"{folder}/log", "-o", options, "start")
    try:
        yield f"postgresql://127.0.0.1:{port}/postgres"
    finally:
        call("pg_ctl", "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def _environment() -> dict[str, str]:
    return {**os.environ, "PLENUM_ROOT": str(ROOT), "PGUSER": "plenum"}
