"""A sweep with nothing left to do: it prints the same, writes nothing, and sees every change."""

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

from .conftest import Run

SWEEP = ("-m", "roles=on,off", "replicates=3", "rounds=4", "tracking.traces=none")


def printed(run: Run) -> tuple[str, list[str]]:
    """What goes to standard output but for Hydra's times, and what is said of conditions."""
    done = run(*SWEEP)
    output = [line for line in done.stdout.splitlines() if "[HYDRA]" not in line]
    return "\n".join(output), done.stderr.splitlines()


def contents(folder: Path) -> dict[str, str]:
    """A digest of every file of the store and of the results, but for SQLite's marks of readers."""
    files = [f for name in ("mlruns", "outputs") for f in (folder / name).rglob("*") if f.is_file()]
    kept = [f for f in files if not f.name.endswith("-shm")]
    return {str(f): hashlib.sha256(f.read_bytes()).hexdigest() for f in kept}


def test_it_prints_the_same_and_writes_nothing(run: Run, stored: Path) -> None:
    output, _ = printed(run)
    before = contents(stored)
    again, errors = printed(run)
    assert again == output
    assert contents(stored) == before
    assert sum("3 reused" in line for line in errors) == 2


def test_what_was_changed_or_lost_is_made_again(run: Run, stored: Path) -> None:
    output, _ = printed(run)
    table = stored / "outputs/default/conditions.csv"
    whole = table.read_text()
    table.unlink()
    accounts = next((stored / "mlruns/artifacts").rglob("accounts.json"))
    counted = accounts.read_text()
    accounts.write_text("{}")
    with closing(sqlite3.connect(stored / "mlruns/mlflow.db")) as store, store:
        store.execute("UPDATE tags SET value = '9' WHERE key = 'plenum.target'")
    assert printed(run)[0] == output
    assert (table.read_text(), accounts.read_text()) == (whole, counted)
    with closing(sqlite3.connect(stored / "mlruns/mlflow.db")) as store:
        targets = store.execute("SELECT value FROM tags WHERE key = 'plenum.target'").fetchall()
    assert targets == [("3",)] * 2
