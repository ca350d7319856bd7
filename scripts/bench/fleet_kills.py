"""Kill workers, nodes and the coordinator of a sweep again and again: nothing lost or paid twice.

A sweep of an API model on four workers of two nodes. Each kill comes when the server has seen a
random number of requests more. What the journals held then must be in the last ones (else it is
lost), and no call of it may reach the server again (else it is paid twice). Answers that were under
way at a kill are nobody's; they are counted beside that.
"""

import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from fleet_nodes import FAST, Nodes, answers, journals, kill, nodes, run, start, wait_until
from support.fault_server import (
    Faults,
    FaultSettings,
    Latency,
    RunningServer,
    serve_in_thread,
)

from plenum.base import derive_seed, make_generator

SERVER = FaultSettings(
    port=0,
    faults=Faults(rate_limit=0.01, server_error=0.02, reset=0.02, length=0.02, malformed=0.02),
    latency=Latency(0.1),
)
SWEEP = ("backend=api", "backend.send_seed=true", "roles=on,off", "seed=0,1", *FAST)
ROUND = ("worker", "second worker", "node", "coordinator")
"""Who is killed in one run of the command; the last one ends it."""


def measure(quick: bool) -> dict[str, Any]:
    """Kill 4 or 40 times; what was lost and paid twice."""
    rounds = 1 if quick else 10
    size = ("replicates=2", "rounds=6") if quick else ("replicates=6", "rounds=14")
    with tempfile.TemporaryDirectory() as name, nodes() as two:
        with serve_in_thread(SERVER) as server:
            sweep = (*SWEEP, *size, f"backend.api_base.openai={server.url}")
            port = int(server.url.rpartition(":")[2].partition("/")[0])
            snapshots = list(_killed(two, server, Path(name) / "killed", sweep, rounds))
            two.mend()
            run(Path(name) / "killed", *sweep, *two.arguments, "workers.number=4")
            log = server.log()
        with serve_in_thread(replace(SERVER, port=port)) as server:
            run(Path(name) / "whole", *sweep)
        ended, whole = journals(Path(name) / "killed"), journals(Path(name) / "whole")
    lost = sum(ended.get(each) != whole[each] for each in whole) + len(ended.keys() - whole.keys())
    twice = sum(_again(snapshot, log[seen:]) for snapshot, seen in snapshots)
    answered, kept = (
        sum(line["answered"] for line in log),
        sum(b.count(b'"text":') for b in ended.values()),
    )
    return {
        "kills": len(snapshots),
        "lost": lost,
        "paid_twice": twice,
        "under_way": answered - kept,
        "calls": kept,
    }


def _killed(
    two: Nodes, server: RunningServer, folder: Path, sweep: tuple[str, ...], rounds: int
) -> Iterator[tuple[dict[str, int], int]]:
    """Kill; the answers of each journal after each kill, and the requests seen by then."""
    rng = make_generator("bench", "fleet kills")
    number = 0
    for _ in range(rounds):
        two.mend()
        command = start(folder, *sweep, *two.arguments, "workers.number=4")
        for whom in ROUND:
            further = server.stats()["requests"] + int(rng.integers(5, 40))
            if not _reached(server, further, command):
                print(f"no kill of a {whom}: status {command.poll()}", flush=True)
                break
            if whom.endswith("worker"):
                second = two.workers(second=True)
                kill(second[0] if whom == "second worker" else min({*two.workers()} - {*second}))
            elif whom == "node":
                two.kill_node()
            else:
                kill(command.pid)
                command.wait()
                gone = wait_until(lambda: not two.workers(), 60)
                print(f"workers gone: {gone}", flush=True)
            held = answers(folder)
            number += 1
            print(f"kill {number} ({whom}): {sum(held.values())} answers are kept", flush=True)
            yield held, server.stats()["requests"]
        if command.poll() is None:
            kill(command.pid)
        errors = command.communicate()[1]
        print("".join(f"  {line}\n" for line in errors.splitlines() if "worker" in line), end="")


def _reached(server: RunningServer, requests: int, command: "subprocess.Popen[str]") -> bool:
    """Wait until the server has seen so many requests; whether the command still runs then."""
    wait_until(lambda: server.stats()["requests"] >= requests or command.poll() is not None, 240)
    return command.poll() is None


def _again(held: dict[str, int], later: list[dict[str, Any]]) -> int:
    """How many answers that journals held were asked for again."""
    calls = {line["id"].rpartition("-")[0] for line in later}
    again = 0
    for name, count in held.items():
        condition, replicate = name.split("/")
        seeds = (
            derive_seed(condition, int(replicate), position, "call") for position in range(count)
        )
        again += sum(f"{seed:016x}" in calls for seed in seeds)
    return again
