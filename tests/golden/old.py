"""Studies that commit 46711e4 made: journals, a tracking store, archives and tables in one file.

python -m tests.golden.old CHECKOUT     writes ``old.tar.xz`` anew with the code of a checkout
"""

import os
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

FILE = Path(__file__).with_name("old.tar.xz")

SWEEPS: Mapping[str, tuple[str, int]] = {
    "faults": (
        "-m study=faults roles=on,off model=uniform,mixed replicates=4 rounds=5"
        " backend.malformed_rate=0.1 backend.timeout_rate=0.03 calls.max_attempts=2",
        1,
    ),
    "wordings": (
        "-m +experiment=hosted_benchmark study=wordings backend=simulated scenario=IM-01"
        " replicates=13 rounds=3",
        0,
    ),
    "disaster": (
        "-m +experiment=world task=disaster rounds=5 replicates=3 diversity=medium"
        " volatility=low,high",
        0,
    ),
}
"""What was swept: ``run.py``'s arguments and its exit status."""

ARCHIVED = ("faults", "disaster")
"""Of these there is an archive too."""

_LEFT_OUT = (".png", ".svg", ".lock", "lock", ".tex", ".md", ".html")


def unpack(folder: Path, file: Path = FILE) -> None:
    """Put the old working directory into a folder, as if its studies had been run there."""
    with tarfile.open(file) as archive:
        # Pythons before 3.11.4 know no filter and take no argument of that name.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(folder)
    [there] = {path for path, _ in _locations(folder)}
    with sqlite3.connect(folder / "mlruns/mlflow.db") as db:
        for table, column in (("experiments", "artifact_location"), ("runs", "artifact_uri")):
            db.execute(
                f"update {table} set {column} = replace({column}, ?, ?)", (there, str(folder))
            )
    db.close()


def _locations(folder: Path) -> list[tuple[str, str]]:
    """The folder in which the store was made, and what lies in it."""
    with sqlite3.connect(folder / "mlruns/mlflow.db") as db:
        rows = db.execute("select artifact_location from experiments").fetchall()
    db.close()
    paths = [uri.removeprefix("file://").partition("/mlruns/") for (uri,) in rows]
    return [(before, after) for before, _, after in paths]


def make(checkout: Path) -> None:
    """Sweep, export and print the tables with the code of a checkout, and pack what it left."""
    lines: dict[str, int] = {}
    for study, (arguments, status) in SWEEPS.items():
        lines |= {f"run.py {arguments}": status, f"scripts/accounting.py study={study}": 0}
        if study in ARCHIVED:
            lines[f"scripts/export.py study={study} out={study}.zip"] = 0
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src"), "COLUMNS": "160"}
    archives = [f"{study}.zip" for study in ARCHIVED]
    pack(FILE, [sys.executable], checkout, lines, archives, environment)


def pack(
    file: Path,
    python: Sequence[str],
    checkout: Path,
    lines: Mapping[str, int],
    archives: Sequence[str],
    environment: Mapping[str, str],
) -> None:
    """Run the lines of a checkout, each to its exit status, and pack what they left in a file."""
    with tempfile.TemporaryDirectory(prefix="plenum-old-") as folder:
        for line, expected in lines.items():
            script, *rest = line.split()
            command = [*python, str(checkout / script), *rest]
            done = subprocess.run(command, cwd=folder, env=environment)
            if done.returncode != expected:
                sys.exit(f"{line} ended with {done.returncode}")
        with sqlite3.connect(Path(folder, "mlruns/mlflow.db")) as db:
            db.execute("pragma wal_checkpoint(truncate)")
            db.execute("vacuum")
        db.close()
        with tarfile.open(file, "w:xz", preset=9) as archive:
            for name in ("mlruns", "outputs", *archives):
                archive.add(Path(folder, name), name, filter=_leave_out)


def _leave_out(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Nobody's name and no date; no images, no locks."""
    if member.name.endswith(_LEFT_OUT) or "mlflow.db-" in member.name:
        return None
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    make(Path(sys.argv[1]).resolve())
