"""``hydra/launcher=ray`` on a cluster of two nodes: as one process writes, whatever is killed."""

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import call, free_port, start
from support.fault_server import Faults, FaultSettings, Latency, serve_in_thread

from plenum.base.identity import derive_seed
from plenum.calls.call_log import read_attempts
from plenum.records.chain import read_entries

ray_cluster = pytest.importorskip("ray.cluster_utils", reason="ray isn't installed")

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]  # no wait is judged by its length

SWEEP = ("-m", "roles=on,off", "replicates=4", "rounds=4")
SERVER = FaultSettings(
    faults=Faults(rate_limit=0.02, server_error=0.02, reset=0.02, length=0.02, malformed=0.02),
    latency=Latency(0.3),
    port=free_port(),
)
PAID = (
    *("-m", "roles=on,off", "replicates=2", "rounds=4", "tracking=none", "backend=api"),
    *("backend.send_seed=true", "calls.backoff_s=0.05", "calls.timeout_s=10"),
    *("calls.max_attempts=10", "calls.rpm.openai=1200", "budget.dollars=5"),
)
A_GPU = ("workers.gpus=1", "workers.cpus=0.5")
KEY = {"OPENAI_API_KEY": "sk-simulated-and-secret"}


class Nodes:
    """A head and a second node on this machine, of two CPUs each; the second one has GPUs.

    Nobody looks whether the GPUs are there: workers that take one live on the second node.
    """

    def __init__(self) -> None:
        head = {"num_cpus": 2, "include_dashboard": False}
        self._cluster: Any = ray_cluster.Cluster(initialize_head=True, head_node_args=head)
        self._second: Any = None
        self.add_second()

    def given(self, number: int | str) -> tuple[str, ...]:
        address = f"ray.address={self._cluster.address}"
        return "hydra/launcher=ray", address, f"workers.number={number}"

    def workers(self) -> list[int]:
        nodes = [self._cluster.head_node, self._second]
        raylets = {n.all_processes["raylet"][0].process.pid for n in nodes if n is not None}
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                if parent in raylets and (entry / "cmdline").read_bytes().startswith(b"ray::Work"):
                    found.append(int(entry.name))
            except OSError:
                continue
        return sorted(found)

    def kill_second(self) -> None:
        self._cluster.remove_node(self._second, allow_graceful=False)
        self._second = None

    def add_second(self) -> None:
        self._second = self._cluster.add_node(num_cpus=2, num_gpus=2)

    def stop(self) -> None:
        self._cluster.shutdown()


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    two = Nodes()
    yield two
    two.stop()


def journals(folder: Path) -> dict[str, bytes]:
    found = sorted((folder / "mlruns/journals").glob("*/[0-9]*.jsonl"))
    return {f"{file.parent.name}/{file.stem}": file.read_bytes() for file in found}


def until(holds: Callable[[], object], limit_s: float = 600) -> None:
    end = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_workers_of_two_nodes_write_the_same_bytes(nodes: Nodes, tmp_path: Path) -> None:
    whole, folder = tmp_path / "whole", tmp_path / "workers"
    whole.mkdir(), folder.mkdir()
    call(whole, "run.py", *SWEEP, "tracking=none")
    done = call(folder, "run.py", *SWEEP, *nodes.given(4), cold=True)
    shown = call(folder, "scripts/status.py", "study=default").stdout
    assert journals(folder) == journals(whole)
    assert len(list((folder / "mlruns/journals").glob("*/calls-w*.jsonl"))) >= 2
    assert "8 replicates = 8 completed + 0 failed + 0 pending; 208 calls made now" in done.stderr
    assert "Study default: two conditions" in done.stdout
    assert "raylet" not in done.stderr + done.stdout
    assert "2 conditions: 8 replicates = 8 completed + 0 failed + 0 pending; 208 calls" in shown


def test_kills_of_a_worker_the_command_and_a_node_lose_nothing_and_pay_nothing_twice(
    nodes: Nodes, tmp_path: Path
) -> None:
    folder, whole = tmp_path / "killed", tmp_path / "whole"
    folder.mkdir(), whole.mkdir()
    snapshots = []
    with serve_in_thread(SERVER) as server:
        sweep = (*PAID, f"backend.api_base.openai={server.url}")
        on_gpus = (*sweep, *nodes.given("null"), *A_GPU)

        def requested(number: int) -> Callable[[], bool]:
            return lambda: server.stats()["requests"] >= number

        def held() -> None:
            texts = {name: data.count(b'"text":') for name, data in journals(folder).items()}
            snapshots.append((texts, server.stats()["requests"]))

        first = start(folder, "run.py", *on_gpus, cold=True, **KEY)
        until(requested(12))
        for worker in nodes.workers():  # what goes on is played by those that replace them
            os.kill(worker, signal.SIGKILL)
        held()
        until(requested(server.stats()["requests"] + 16))
        os.kill(first.pid, signal.SIGKILL)  # the command: its workers end with it
        first.communicate()
        held()
        until(lambda: not nodes.workers())
        earlier = journals(folder)

        again = start(folder, "run.py", *on_gpus, cold=True, **KEY)
        until(requested(server.stats()["requests"] + 12))
        nodes.kill_second()  # no other one has GPUs
        held()
        nodes.add_second()
        _, errors = again.communicate(timeout=600)
        assert again.returncode in (0, 1), errors  # a model's answers may fail a replicate
        assert re.search(r"worker w\d is gone with its node; [0-3] left", errors)
        assert re.search(r"workers: [1-4] now", errors)
        assert "+ 0 pending" in errors
        assert "raylet" not in errors
        assert "autoscaler" not in errors
        now = journals(folder)  # what workers that died have answered counts as well
        made = sum(now[name].count(b'"text":') for name in now)
        made -= sum(earlier[name].count(b'"text":') for name in earlier)
        counted = int(re.findall(r"; (\d+) calls made now", errors)[-1])
        paid = [
            each for path in (folder / "mlruns/journals").iterdir() for each in read_attempts(path)
        ]
        trials = sum(each["call"].startswith("trial_") for each in paid)  # a worker's own, of both
        assert -4 <= counted - made <= 4 + trials  # a call that a kill cut off counts, or not
        ended = sum(b'"kind":"end"' in data for data in earlier.values())
        taken = re.findall(r"(\d+) replicates? w\w+ taken from journals of an earlier", errors)
        assert sum(map(int, taken)) == ended
        log = server.log()
    with serve_in_thread(
        replace(SERVER, latency=Latency(0))
    ):  # its address is part of the identity
        call(whole, "run.py", *sweep, status=None, **KEY)
    assert journals(folder) == journals(whole)

    for texts, seen in snapshots:
        later = {line["id"].rpartition("-")[0] for line in log[seen:]}
        for name, count in texts.items():
            condition, replicate = name.split("/")
            calls = (derive_seed(condition, int(replicate), each, "call") for each in range(count))
            assert not later & {f"{call:016x}" for call in calls}
    logged = [
        line for path in (folder / "mlruns/journals").iterdir() for line in read_attempts(path)
    ]
    assert len(logged) >= len(log)  # no request that no log has: a budget would forget it
    secret = KEY["OPENAI_API_KEY"].encode()
    session = Path("/tmp/ray/session_latest").resolve()
    for file in [*folder.rglob("*"), *session.rglob("logs/**/*")]:
        assert not (file.is_file() and secret in file.read_bytes()), file


def test_limits_a_minute_and_the_budget_hold_over_the_workers_of_both_nodes(
    nodes: Nodes, tmp_path: Path
) -> None:
    given = ("replicates=4", "budget.calls=100", "calls.rpm.openai=150", *nodes.given(4))
    given += ("calls.max_concurrency=2",)  # a worker holds so many replicates: all four have some
    with serve_in_thread(FaultSettings(port=SERVER.port)) as server:
        address = f"backend.api_base.openai={server.url}"
        done = call(tmp_path, "run.py", *PAID, address, *given, cold=True, status=1, **KEY)
        log = server.log()
    used = {path.name for path in (tmp_path / "mlruns/journals").glob("*/calls-w*.jsonl")}
    assert len(used) > 1  # of one worker its own limits would do
    assert len(log) == 100
    assert "100 calls made now" in done.stderr
    # 150 a minute take 39 s; four workers of 150 each would take 10.
    assert log[-1]["at"] - log[0]["at"] > 30


def test_what_kills_its_worker_again_and_again_is_given_up(nodes: Nodes, tmp_path: Path) -> None:
    with serve_in_thread(replace(SERVER, latency=Latency(1000))) as server:
        given = (f"backend.api_base.openai={server.url}", "calls.timeout_s=900", "replicates=1")
        command = start(tmp_path, "run.py", *PAID, *given, *nodes.given(1), cold=True, **KEY)
        for number in range(3):
            until(lambda number=number: server.stats()["requests"] >= 2 * (number + 1))
            os.kill(nodes.workers()[0], signal.SIGKILL)
        _, errors = command.communicate(timeout=600)
        assert command.returncode == 1, errors
    assert "replicate 0: its worker died 3 times; the same command continues from here" in errors
    assert "2 replicates = 0 completed + 0 failed + 2 pending" in errors


def test_ctrl_c_and_sigterm_end_workers_and_the_same_command_goes_on(
    nodes: Nodes, tmp_path: Path
) -> None:
    with serve_in_thread(SERVER) as server:
        sweep = (*PAID, f"backend.api_base.openai={server.url}", *nodes.given(2))
        for stop in (signal.SIGINT, signal.SIGTERM):
            before = journals(tmp_path)
            command = start(tmp_path, "run.py", *sweep, cold=True, **KEY)
            seen = server.stats()["requests"]
            until(lambda seen=seen: server.stats()["requests"] >= seen + 12)
            os.kill(command.pid, stop)
            _, errors = command.communicate(timeout=600)
            assert command.returncode == 130, errors
            assert errors.rstrip().endswith("the same command continues from here")
            assert "Traceback" not in errors
            assert "received" not in errors  # Ray's own handler of SIGTERM
            until(lambda: not nodes.workers())
            after = journals(tmp_path)
            assert after != before
            assert all(after[name].startswith(kept) for name, kept in before.items())
    for path in (tmp_path / "mlruns/journals").glob("*/[0-9]*.jsonl"):
        assert read_entries(path)  # whole, to the last line


@pytest.mark.parametrize("part", ["gcs_server", "raylet/raylet", "the command"])
def test_what_is_killed_while_ray_starts_ends_in_one_line_and_leaves_nothing(
    part: str, tmp_path: Path
) -> None:
    folders = {*Path("/tmp").glob("plenum-ray-*")}  # of others, or left when a machine went down
    command = start(tmp_path, "run.py", *SWEEP, "hydra/launcher=ray", "workers.number=1")
    while not (found := of_clusters_here(f"/{part}" if "/" in part else "gcs_server")):
        assert command.poll() is None
        time.sleep(0.05)
    os.kill(command.pid if part == "the command" else found[0], signal.SIGKILL)
    _, errors = command.communicate()
    told = [line for line in errors.splitlines() if line.startswith("error: ")]
    assert len(told) == 1
    assert "Traceback" not in errors
    assert told[0].startswith("error: hydra/launcher: Ray ")
    if part != "the command":
        # Killed at some moments, the server has Ray's C++ code end our process too, with 1.
        assert command.returncode == (1 if "ended while it started" in told[0] else 2)
    assert of_clusters_here("") == []
    assert {*Path("/tmp").glob("plenum-ray-*")} <= folders


def of_clusters_here(part: str) -> list[int]:
    """Processes of clusters that sweeps have started, which have this in their command line."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            said = (entry / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if "plenum-ray-" in said and part in said.partition("\0")[0]:
            found.append(int(entry.name))
    return found


def test_what_cannot_work_ends_in_one_line_before_any_call(nodes: Nodes, tmp_path: Path) -> None:
    gone = call(
        tmp_path, "run.py", *SWEEP, "hydra/launcher=ray", "ray.address=127.0.0.1:1", status=2
    )
    assert "error: ray.address: no cluster answers at '127.0.0.1:1'" in gone.stderr
    large = call(tmp_path, "run.py", *SWEEP, *nodes.given(99), status=2, cold=True)
    assert "error: workers.number: 99 with workers.cpus=1" in large.stderr
    engines = (*nodes.given(3), "workers.gpus=1", "workers.cpus=0")  # one a GPU, as many as fit
    gpus = call(tmp_path, "run.py", *SWEEP, *engines, status=2, cold=True)
    assert "3 with workers.cpus=0 workers.gpus=1 doesn't fit" in gpus.stderr
    assert gpus.stderr.rstrip().endswith("which has 4 CPUs and 2 GPUs")
    assert not journals(tmp_path)
