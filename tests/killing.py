"""Run a sweep that is killed again and again, and finish it; the child of ``test_killed_sweep.py``.

    python killing.py backend.api_base.openai=URL KILLS SEED [KEY=VALUE ...]

Each run is a forked process that conducts the whole sweep. It is killed at a moment after a number
of requests, both random, so that a slow machine gets as far as a fast one. Prints, as JSON, after
each kill: how many answers each journal held, and how many requests the server had seen.
"""

import json
import os
import signal
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
from hydra import compose, initialize_config_dir

from plenum.calls.api import backend  # noqa: F401  # not once in each of the processes
from plenum.design.compose import parse_job
from plenum.execution.sweep import run_sweep
from plenum.records.chain import read_entries

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    endpoint, kills, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    url = endpoint.partition("=")[2]
    given = [
        *("backend=api", endpoint, "backend.send_seed=true"),
        *("tracking=none", "journals=journals", "replicates=3", "rounds=8"),
        *("calls.backoff_s=0.05", "calls.timeout_s=3", "calls.max_attempts=10"),
        *sys.argv[4:],
    ]
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        jobs = [parse_job(compose("config", [*given, f"roles={roles}"])) for roles in ("on", "off")]
    rng = np.random.default_rng(seed)
    snapshots = []
    for further in rng.integers(1, 16, kills):
        child = os.fork()
        if child == 0:
            run_sweep(jobs)
            os._exit(0)
        before = requests(url)
        while requests(url) < before + further and os.waitpid(child, os.WNOHANG) == (0, 0):
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.05))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        answers = {}
        for job in jobs:
            for journal in sorted((Path("journals") / job.condition.identity).glob("[0-9]*.jsonl")):
                entries = read_entries(journal)
                answers[f"{journal.parent.name}/{journal.stem}"] = sum("text" in e for e in entries)
        killed = os.WIFSIGNALED(status)
        snapshots.append({"killed": killed, "answers": answers, "requests": requests(url)})
    outcomes = run_sweep(jobs)
    print(json.dumps({"snapshots": snapshots, "pending": [o.pending for o in outcomes]}))


def requests(url: str) -> int:
    """How many requests the server has seen."""
    with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as got:
        stats = json.load(got)
    return int(stats["requests"] + stats["of_batches"])


if __name__ == "__main__":
    main()
