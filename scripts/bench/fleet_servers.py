"""Three servers as a fleet: whether a replicate keeps its server, also when another one dies."""

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from contextlib import ExitStack
from pathlib import Path

from support.fault_server import FaultSettings, Latency, RunningServer, serve_in_thread

ROOT = Path(__file__).resolve().parents[2]
_SERVERS = 3
_TIMEOUT_S = 500

Came = dict[str, Counter[int]]
"""Requests by server, of each session."""


def measure(quick: bool) -> dict[str, float | bool]:
    """The figures.

    Returns
    -------
    dict
        ``affinity``, the share of requests that came to their session's most frequent server;
        ``affinity_after_death``, the same of the sessions of the servers that live on, when one
        of three stops halfway; and whether the ``journals_equal`` those of the whole fleet.
    """
    replicates = 12 if quick else 60
    with tempfile.TemporaryDirectory() as whole, tempfile.TemporaryDirectory() as hurt:
        before, ports = _sweep(Path(whole), replicates, [0] * _SERVERS, dying=None)
        home = {session: count.most_common(1)[0][0] for session, count in before.items()}
        dying = Counter(home.values()).most_common(1)[0][0]
        after, _ = _sweep(Path(hurt), replicates, ports, dying=dying)
        equal = _journals(Path(whole)) == _journals(Path(hurt))
    others = {session: after[session] for session, server in home.items() if server != dying}
    return {
        "affinity": _share(before, home),
        "affinity_after_death": _share(others, home),
        "journals_equal": equal,
    }


def _share(came: Came, home: dict[str, int]) -> float:
    at_home = sum(count[home[session]] for session, count in came.items())
    return at_home / sum(count.total() for count in came.values())


def _sweep(
    folder: Path, replicates: int, ports: list[int], dying: int | None
) -> tuple[Came, list[int]]:
    """A sweep on a fleet: where its requests came, and the ports, by which a session is placed."""
    with ExitStack() as stack:
        fleet = [
            stack.enter_context(serve_in_thread(FaultSettings(port=port, latency=Latency(0.02))))
            for port in ports
        ]
        if dying is not None:
            half = replicates * 17 // (2 * _SERVERS)
            threading.Thread(target=_stop, args=(fleet[dying], half), daemon=True).start()
        urls = ",".join(server.url for server in fleet)
        subprocess.run(
            [
                *(sys.executable, ROOT / "run.py", "backend=api", "model.default=openai/m"),
                *(f"backend.api_base.openai=[{urls}]", "tracking=none", "rounds=4"),
                *(f"replicates={replicates}", "calls.backoff_s=0.1"),
            ],
            cwd=folder,
            env={**os.environ, "PLENUM_ROOT": str(ROOT), "OPENAI_API_KEY": "sk-simulated"},
            check=True,
            capture_output=True,
            timeout=_TIMEOUT_S,
        )
        came: Came = defaultdict(Counter)
        for number, server in enumerate(fleet):
            for entry in server.server.tally.log():
                came[entry["session"]][number] += 1
        return came, [int(server.url.rpartition(":")[2].removesuffix("/v1")) for server in fleet]


def _stop(server: RunningServer, requests: int) -> None:
    while len(server.server.tally.log()) < requests:
        time.sleep(0.002)
    server.stop()


def _journals(folder: Path) -> dict[str, bytes]:
    found = (folder / "mlruns/journals").glob("*/[0-9]*.jsonl")
    return {f"{file.parent.name}/{file.name}": file.read_bytes() for file in found}
