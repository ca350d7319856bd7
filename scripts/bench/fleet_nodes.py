"""What the benchmarks of ``hydra/launcher=ray`` share: two nodes, sweeps on them, and kills."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from plenum.records import read_entries

ROOT = Path(__file__).resolve().parents[2]
FAST = ("tracking=none", "calls.backoff_s=0.05", "calls.timeout_s=5", "calls.max_attempts=10")


class Nodes:
    """A Ray cluster of a head and a second node, both on this machine."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 2, "include_dashboard": False}
        self._cluster: Any = Cluster(initialize_head=True, head_node_args=head)
        self._second: Any = self._cluster.add_node(num_cpus=2)

    @property
    def arguments(self) -> tuple[str, ...]:
        """What has a sweep run on it."""
        return "hydra/launcher=ray", f"ray.address={self._cluster.address}"

    def workers(self, *, second: bool = False) -> list[int]:
        """The processes of workers that are at work, of both nodes or of the second one."""
        nodes = [self._second] if second else self._alive
        raylets = {node.all_processes["raylet"][0].process.pid for node in nodes}
        return [pid for pid in _children(raylets) if _command(pid).startswith("ray::Worker")]

    def kill_node(self) -> None:
        """Kill the second node's raylet, without which its workers end."""
        self._cluster.remove_node(self._second, allow_graceful=False)
        self._second = None

    def mend(self) -> None:
        """Start a second node where there is none."""
        if self._second is None:
            self._second = self._cluster.add_node(num_cpus=2)

    def stop(self) -> None:
        """End both."""
        self._cluster.shutdown()

    @property
    def _alive(self) -> list[Any]:
        return [node for node in (self._cluster.head_node, self._second) if node is not None]


@contextmanager
def nodes() -> Iterator[Nodes]:
    """Two nodes that end with the block."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    two = Nodes()
    try:
        yield two
    finally:
        two.stop()


def start(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    """Start a sweep in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    return subprocess.Popen(
        [sys.executable, str(ROOT / "run.py"), "-m", *arguments],
        cwd=folder,
        env={**os.environ, "OPENAI_API_KEY": "sk-simulated"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run(folder: Path, *arguments: str, limit_s: float = 900) -> str:
    """Run a sweep to its end, where none is pending; what it printed to standard error."""
    process = start(folder, *arguments)
    _, errors = process.communicate(timeout=limit_s)
    if process.returncode not in (0, 1) or "+ 0 pending" not in errors:
        raise SystemExit(f"run.py {' '.join(arguments)} ended with {process.returncode}:\n{errors}")
    return errors


def journals(folder: Path) -> dict[str, bytes]:
    """The bytes of every journal, by condition and replicate."""
    files = sorted((folder / "mlruns/journals").glob("*/[0-9]*.jsonl"))
    return {f"{file.parent.name}/{file.stem}": file.read_bytes() for file in files}


def answers(folder: Path) -> dict[str, int]:
    """How many answers each journal holds."""
    files = sorted((folder / "mlruns/journals").glob("*/[0-9]*.jsonl"))
    return {
        f"{file.parent.name}/{file.stem}": sum("text" in entry for entry in read_entries(file))
        for file in files
    }


def kill(pid: int) -> None:
    """SIGKILL, to one process alone."""
    os.kill(pid, signal.SIGKILL)


def wait_until(holds: Any, limit_s: float = 120.0) -> bool:
    """Wait until something holds; whether it came to hold."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.05)
    return False


def _children(parents: set[int]) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            if int(stat.rpartition(")")[2].split()[1]) in parents:
                found.append(int(entry.name))
    return sorted(found)


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""
