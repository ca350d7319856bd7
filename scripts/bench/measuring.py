"""What the benchmarks share: run a command, and watch its time and the memory of its processes."""

import argparse
import json
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

_EVERY_S = 0.02


def mode(about: str | None, *allowed: str) -> str:
    """The one word that a benchmark may be given, empty without any; ``--help`` prints ``about``.

    Raises
    ------
    SystemExit
        Something else was given: one line, and status 2.
    """
    given = sys.argv[1:]
    if given in (["-h"], ["--help"]):
        print(about)
        sys.exit(0)
    if given and (len(given) > 1 or given[0] not in allowed):
        wanted = f"nothing, or {' or '.join(allowed)}" if allowed else "nothing"
        print(f"{Path(sys.argv[0]).name}: {' '.join(given)!r}; give {wanted}", file=sys.stderr)
        sys.exit(2)
    return given[0] if given else ""


def measure_parts(
    about: str | None,
    parts: Mapping[str, Callable[[bool], dict[str, Any]]],
    to_reach: Mapping[str, str],
) -> None:
    """Measure the parts of a benchmark that its options ask for, and show the figures.

    Each part is called with whether a small part of it is enough; ``about`` is what ``--help``
    prints, ``to_reach`` what figures should be.
    """
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=parts, help="one part")
    parser.add_argument("--quick", action="store_true", help="a small part of each")
    given = parser.parse_args()
    figures: dict[str, Any] = {}
    for name, measure in parts.items():
        if given.only in (None, name):
            print(f"{name} ...", flush=True)
            figures |= measure(given.quick)
    show_figures(figures, to_reach)


def show_figures(figures: Mapping[str, Any], to_reach: Mapping[str, str]) -> None:
    """Print a table for people and one JSON line for machines, with what figures should be."""
    processor = platform.processor() or platform.machine()
    title = f"{processor}, {os.cpu_count()} cores, Python {platform.python_version()}"
    table = Table(box=box.SIMPLE_HEAD, title=title)
    for head in ("figure", "measured", "to reach"):
        table.add_column(head)
    for name, value in figures.items():
        table.add_row(name, str(value), to_reach.get(name, ""))
    Console(width=120).print(table)
    print(json.dumps(figures))


@dataclass
class Watched:
    """A command that ended.

    Attributes
    ----------
    wall_s, output, errors, status
        Seconds, what it printed to standard output and standard error, and how it ended.
    peak_mb
        Peak resident memory of the process and all its descendants together.
    own_mb
        Resident memory of the process alone, with the time (``time.time()``) of each sample.
    """

    wall_s: float = 0.0
    output: str = ""
    errors: str = ""
    status: int = 0
    peak_mb: float = 0.0
    own_mb: list[tuple[float, float]] = field(default_factory=list)


def watch(
    command: list[str],
    cwd: str | None = None,
    env: dict[str, str] | None = None,
    allowed: tuple[int, ...] = (0,),
    limit_s: float | None = None,
) -> Watched:
    """Run a command to its end.

    Parameters
    ----------
    allowed
        Exit statuses that are no failure.
    limit_s
        Seconds after which it is killed.

    Raises
    ------
    SystemExit
        It failed; with what it said.
    """
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="surrogateescape",
    )
    seen = Watched()
    watcher = threading.Thread(target=_sample, args=(process, seen))
    watcher.start()
    try:
        seen.output, seen.errors = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        process.kill()
        seen.output, seen.errors = process.communicate()
    seen.wall_s = time.perf_counter() - began
    watcher.join()
    seen.status = process.returncode
    if seen.status not in allowed:
        message = f"{' '.join(command)[:200]} ended with {seen.status}"
        raise SystemExit(f"{message}:\n{seen.errors}")
    return seen


def _sample(process: subprocess.Popen[str], seen: Watched) -> None:
    while process.poll() is None:
        sizes = [_resident_mb(pid) for pid in tree(process.pid)]
        seen.peak_mb = max(seen.peak_mb, sum(sizes))
        seen.own_mb.append((time.time(), sizes[0]))
        time.sleep(_EVERY_S)


def tree(pid: int) -> list[int]:
    """A process and its descendants."""
    children: list[str] = []
    with suppress(OSError):  # a process may end while it is read
        for thread in Path(f"/proc/{pid}/task").glob("*/children"):
            children += thread.read_text().split()
    return [pid, *(descendant for child in children for descendant in tree(int(child)))]


def _resident_mb(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
