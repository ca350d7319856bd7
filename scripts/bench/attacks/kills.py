"""Kill a first run in an empty folder, and run the same command again: does that heal it?

    python scripts/bench/attacks/kills.py [KILLS]

Every run is a real process with its children, all of which get SIGKILL. Half of the moments are
spread over the time that an unkilled run takes, half over the second and a half in which the MLflow
store is made. The second run has to end with status 0, with the journals, tables and CSV files of
the unkilled run, without asking for a journaled answer again, and with each run once in MLflow.
"""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from plenum.base import derive_seed
from plenum.records import DamagedJournal, read_entries

ROOT = Path(__file__).resolve().parents[3]
SWEEP = ("-m", "roles=on,off", "rounds=3", "replicates=3")
RUNS = {"condition": 2, "replicate": 6, "report": 1}
"""What MLflow holds after the sweep, by kind."""

_MARK = "PLENUM_KILLS_RUN"
_MAKING_S = 1.5
_TIMEOUT_S = 300

_RUNS = """
    SELECT kind.value, cell.value, replicate.value, runs.status, target.value, completed.value
    FROM runs
    JOIN tags AS kind ON kind.run_uuid = runs.run_uuid AND kind.key = 'plenum.kind'
    LEFT JOIN tags AS cell ON cell.run_uuid = runs.run_uuid AND cell.key = 'plenum.cell'
    LEFT JOIN tags AS replicate
        ON replicate.run_uuid = runs.run_uuid AND replicate.key = 'plenum.replicate'
    LEFT JOIN tags AS target ON target.run_uuid = runs.run_uuid AND target.key = 'plenum.target'
    LEFT JOIN latest_metrics AS completed
        ON completed.run_uuid = runs.run_uuid AND completed.key = 'n_completed'
    WHERE runs.lifecycle_stage = 'active'
"""


@dataclass(frozen=True)
class Moment:
    """When a run is killed: seconds after its start, or after its store's file appears."""

    after_s: float
    making: bool

    def __str__(self) -> str:
        since = "the store's file appeared" if self.making else "the start"
        return f"{self.after_s:.2f} s after {since}"


@dataclass(frozen=True)
class Survived:
    """How first runs came out.

    Attributes
    ----------
    kills, healed
        Runs that were killed before they ended, and those that the same command healed.
    whole_s
        Seconds that the unkilled run took.
    problems
        What was wrong with the others, one line each.
    """

    kills: int
    healed: int
    whole_s: float
    problems: tuple[str, ...]


@dataclass(frozen=True)
class _Whole:
    """A run that nobody killed: its seconds, its printed tables, its journals and CSV files."""

    wall_s: float
    tables: str
    files: dict[str, bytes]


def run(kills: int = 40, workers: int = 2) -> Survived:
    """Kill first runs at ``kills`` moments, ``workers`` of them at a time, and heal each."""
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(workers) as pool:
        wholes = list(pool.map(_whole, [Path(scratch) / f"whole{n}" for n in range(workers)]))
        whole = wholes[0]
        whole_s = max(each.wall_s for each in wholes)  # as slow as those that will be killed
        folders = [Path(scratch) / f"{number:03d}" for number in range(kills)]
        moments = _moments(kills, whole_s)
        results = list(pool.map(lambda f, m: _killed_and_healed(f, m, whole), folders, moments))
    problems = [f"{m}: {'; '.join(p)}" for m, p in zip(moments, results, strict=True) if p]
    return Survived(kills, kills - len(problems), whole_s, tuple(problems))


def _whole(folder: Path) -> _Whole:
    folder.mkdir()
    began = time.perf_counter()
    done = _finish(folder)
    return _Whole(time.perf_counter() - began, _tables(done), _files(folder))


def _moments(kills: int, whole_s: float) -> list[Moment]:
    """Half over the whole run, half over the making of the store, taking turns."""
    spread = [(number + 0.5) / kills for number in range(kills)]
    return [
        Moment(share * _MAKING_S, True) if number % 2 else Moment(share * whole_s, False)
        for number, share in enumerate(spread)
    ]


def _killed_and_healed(folder: Path, moment: Moment, whole: _Whole) -> list[str]:
    """What is wrong after a run was killed and the same command was run again."""
    after_s = moment.after_s
    while not _kill(folder, replace(moment, after_s=after_s)):  # it had ended: earlier, then
        after_s *= 0.9
        shutil.rmtree(folder)
    answers, logged = _answers(folder), _logged(folder)
    done = _finish(folder)
    if done.returncode:
        return [f"status {done.returncode}: {' '.join(done.stderr.split())[-300:]}"]
    problems = []
    if _tables(done) != whole.tables:
        problems.append("it prints something else")
    files = _files(folder)
    problems += [f"{f} differs" for f in whole.files if files.get(f) != whole.files[f]]
    for name, positions in answers.items():
        condition, replicate = name
        ids = {f"{derive_seed(condition, replicate, p, 'call'):016x}" for p in range(positions)}
        again = ids & set(_ids(folder, condition, logged.get(condition, 0)))
        problems += [f"{len(again)} answers of {condition}/{replicate} again"] * bool(again)
    return problems + _wrong_in_mlflow(folder / "mlruns/mlflow.db")


def _command() -> list[str]:
    return [sys.executable, str(ROOT / "run.py"), *SWEEP]


def _environment(mark: str) -> dict[str, str]:
    ours = ("MLFLOW_", "PLENUM_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "COLUMNS": "120", _MARK: mark}


def _finish(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _command(),
        cwd=folder,
        env=_environment("whole"),
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
    )


def _tables(done: subprocess.CompletedProcess[str]) -> str:
    """What a run printed, without Hydra's log above it, which has the time in it."""
    return "".join(done.stdout.partition("Study ")[1:])


def _kill(folder: Path, moment: Moment) -> bool:
    """Start a first run, and end all its processes at a moment; whether it was still running."""
    folder.mkdir()
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        _command(),
        cwd=folder,
        env=_environment(mark),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + _TIMEOUT_S
    while moment.making and process.poll() is None and time.monotonic() < deadline:
        if (folder / "mlruns/mlflow.db").exists():
            break
        time.sleep(0.005)
    with suppress(subprocess.TimeoutExpired):
        process.wait(moment.after_s)
    while marked := _marked(mark):
        for pid in marked:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.poll()
    return process.wait() == -signal.SIGKILL


def _marked(mark: str) -> list[int]:
    """The processes that inherited an environment variable, in sessions of their own as well."""
    wanted = f"{_MARK}={mark}".encode()
    pids = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                pids.append(int(folder.name))
    return pids


def _files(folder: Path) -> dict[str, bytes]:
    """What has to be the same after every run: journals and tables."""
    files = [*folder.glob("mlruns/journals/*/[0-9]*.jsonl"), *folder.glob("outputs/*/*.csv")]
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(files)}


def _answers(folder: Path) -> dict[tuple[str, int], int]:
    """How many answers each journal holds, by condition and replicate."""
    counts = {}
    for journal in folder.glob("mlruns/journals/*/[0-9]*.jsonl"):
        with suppress(DamagedJournal):  # not even a head was written
            entries = read_entries(journal)
            counts[journal.parent.name, int(journal.stem)] = sum("text" in e for e in entries)
    return counts


def _logged(folder: Path) -> dict[str, int]:
    """How long each condition's call log is."""
    logs = folder.glob("mlruns/journals/*/calls.jsonl")
    return {log.parent.name: log.stat().st_size for log in logs}


def _ids(folder: Path, condition: str, start: int) -> list[str]:
    """The calls that a condition's log holds from a place on; a kill may have cut a line there."""
    log = (folder / "mlruns/journals" / condition / "calls.jsonl").read_bytes()[start:]
    ids = []
    for line in log.splitlines():
        with suppress(ValueError):
            ids.append(json.loads(line)["id"].rpartition("-")[0])
    return ids


def _wrong_in_mlflow(path: Path) -> list[str]:
    """What MLflow holds too much, too little, or unfinished."""
    with closing(sqlite3.connect(path)) as database:
        runs = database.execute(_RUNS).fetchall()
    kinds = Counter(kind for kind, *_ in runs)
    problems = [] if kinds == RUNS else [f"MLflow holds {dict(kinds)}"]
    twice = [run for run, count in Counter(run[:3] for run in runs).items() if count > 1]
    problems += [f"twice in MLflow: {run}" for run in twice]
    for kind, cell, replicate, status, target, completed in runs:
        if status != "FINISHED" or (kind == "condition" and completed != int(target)):
            problems.append(f"in MLflow {kind} {cell} {replicate} is {status}, {completed}")
    return problems


def main() -> None:
    """Print how many of the first runs that were killed the same command healed."""
    given = sys.argv[1:]
    if given and (len(given) > 1 or not given[0].isdecimal() or not int(given[0])):
        print(f"kills.py: {' '.join(given)!r}; give the number of kills", file=sys.stderr)
        raise SystemExit(2)
    survived = run(int(given[0]) if given else 40)
    for problem in survived.problems:
        print(problem)
    print(json.dumps({"first_run_healed": survived.healed, "first_run_kills": survived.kills}))


if __name__ == "__main__":
    main()
