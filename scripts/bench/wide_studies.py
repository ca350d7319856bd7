"""Studies of a thousand and more tracked conditions of 20 replicates, to be tabled."""

import hashlib
import itertools
import os
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from measuring import watch

ROOT = Path(__file__).resolve().parents[2]
_STUDY = "wide"
_PLAYED = "roles=on,off model=uniform,mixed temperature=t0,t0.05"
_SCENARIOS, _MEMORIES, _TEMPERATURES = 25, 10, 10


def time_tables(count: int) -> float:
    """Seconds of ``scripts/tables.py`` over so many conditions, at most 10,000."""
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder), count)
        command = [sys.executable, str(ROOT / "scripts/tables.py"), f"study={_STUDY}"]
        return watch(command, folder, {**os.environ, "PLENUM_ROOT": str(ROOT)}).wall_s


def generate(folder: Path, count: int) -> None:
    """Track a study of ``count`` conditions of 20 replicates and 20 rounds in ``mlruns``.

    Eight of them are played and tracked by `run.py`, their replicates as rows; the others are
    these under other factors, with runs of their own in the store and links to their artifacts.
    """
    command = [sys.executable, str(ROOT / "run.py"), "-m", f"study={_STUDY}", *_PLAYED.split()]
    settings = ("replicates=20", "rounds=20", "tracking.replicates=none")
    watch([*command, *settings], str(folder), {**os.environ, "PLENUM_ROOT": str(ROOT)})
    store = sqlite3.connect(folder / "mlruns" / "mlflow.db")
    runs = store.execute(
        "SELECT run_uuid FROM tags WHERE key = 'plenum.kind' AND value = 'condition'"
    ).fetchall()
    played: dict[tuple[str, str], list[str]] = {}
    for (run,) in runs:
        params = dict(store.execute("SELECT key, value FROM params WHERE run_uuid = ?", (run,)))
        played.setdefault((params["roles"], params["model"]), []).append(run)
    with store:
        for number, factors in enumerate(itertools.islice(_grid(), count)):
            alike = played[factors["roles"], factors["model"]]
            _copy(store, alike[number // 4 % len(alike)], number, factors)
        store.execute(
            "UPDATE runs SET lifecycle_stage = 'deleted' WHERE run_uuid IN "
            f"({','.join('?' * len(runs))})", [run for (run,) in runs]
        )  # fmt: skip
    store.close()


def _grid() -> Iterator[dict[str, str]]:
    levels = {
        "scenario": [f"case-{n:02d}" for n in range(_SCENARIOS)],
        "memory": [f"k{15 + n}" for n in range(_MEMORIES)],
        "temperature": [f"t{n / 10:g}" for n in range(_TEMPERATURES)],
        "model": ["uniform", "mixed"],
        "roles": ["off", "on"],
    }
    return (dict(zip(levels, each, strict=True)) for each in itertools.product(*levels.values()))


def _copy(store: sqlite3.Connection, run: str, number: int, factors: dict[str, str]) -> None:
    """A condition under other factors: its rows in the store, and links to its artifacts."""
    copied = hashlib.blake2b(str(number).encode(), digest_size=16).hexdigest()
    changed = {
        "params": factors,
        "tags": {
            "plenum.condition": copied[:16],
            "plenum.cell": copied[16:],
            "mlflow.runName": " ".join(factors.values()),
        },
    }
    for table in ("runs", "tags", "params", "metrics", "latest_metrics"):
        rows = store.execute(f"SELECT * FROM {table} WHERE run_uuid = ?", (run,))
        names = [column[0] for column in rows.description]
        lines = [dict(zip(names, row, strict=True)) for row in rows]
        for line in lines:
            line["run_uuid"] = copied
            if table == "runs":
                uri = line["artifact_uri"]
                line["name"], line["start_time"] = (
                    " ".join(factors.values()),
                    line["start_time"] + number,
                )
                line["artifact_uri"] = uri.replace(run, copied)
            elif line["key"] in changed.get(table, {}):
                line["value"] = changed[table][line["key"]]
        store.executemany(
            f"INSERT INTO {table} VALUES ({','.join('?' * len(names))})",
            [tuple(line.values()) for line in lines],
        )
    source = Path(uri.removeprefix("file://"))
    target = Path(uri.removeprefix("file://").replace(run, copied))
    target.mkdir(parents=True)
    for file in source.iterdir():
        (target / file.name).hardlink_to(file)
