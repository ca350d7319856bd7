"""A sweep with nothing left to do: it prints the same, writes nothing, and sees every change."""

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from command_line import Run

pytestmark = pytest.mark.long

SWEEP = ("-m", "roles=on,off", "replicates=3", "rounds=4", "tracking.traces=none")


def printed(run: Run) -> tuple[str, list[str]]:
    """What goes to standard output but for Hydra's times, and what is said of conditions."""
    done = run(*SWEEP)
    output = [line for line in done.stdout.splitlines() if "[HYDRA]" not in line]
    return "\n".join(output), done.stderr.splitlines()


def contents(folder: Path) -> dict[str, str]:
    """A digest of every file of the store and of the results; of the database what it holds."""
    files = [f for name in ("mlruns", "outputs") for f in (folder / name).rglob("*") if f.is_file()]
    kept = [f for f in files if not f.name.endswith(("-shm", "-wal"))]
    return {str(f): hashlib.sha256(held(f)).hexdigest() for f in kept}


def held(file: Path) -> bytes:
    if file.suffix != ".db":
        return file.read_bytes()
    with closing(sqlite3.connect(file)) as store:  # its bytes also tell who has read it
        return "\n".join(store.iterdump()).encode()


def test_it_prints_the_same_and_writes_nothing(run: Run, stored: Path) -> None:
    output, _ = printed(run)
    before = contents(stored)
    again, errors = printed(run)
    assert again == output
    assert contents(stored) == before
    assert sum("3 reused" in line for line in errors) == 2


NOISE = """
from plenum.execution import summarise

report = summarise.report_condition


def noisy(*given):
    made = report(*given)
    made["metrics"] = {k: v * (1 + 1e-13) for k, v in made["metrics"].items()}
    made["divergence"] = [v * (1 - 1e-13) for v in made["divergence"]]
    return made


summarise.report_condition = noisy
"""
"""Estimates as another processor may make them: their last bits differ."""

KINDS = {
    "committee": SWEEP,
    "world": ("-m", "+experiment=world", "task=disaster", "rounds=3", "replicates=2"),
}


@pytest.mark.parametrize("kind", ["committee", pytest.param("world", marks=pytest.mark.long)])
def test_last_bits_of_estimates_rewrite_nothing(
    kind: str, run: Run, stored: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run(*KINDS[kind])
    before = contents(stored)
    reports = list((stored / "mlruns/journals").rglob("report.json"))
    for file in reports:
        file.unlink()  # so that the estimates are made anew
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "sitecustomize.py").write_text(NOISE)
    run(*KINDS[kind], PYTHONPATH=str(elsewhere))
    changed = {name for name, digest in contents(stored).items() if before.get(name) != digest}
    assert {str(file) for file in reports} <= changed
    assert not {name for name in changed if "/mlflow.db" in name or "/artifacts/" in name}


def test_a_store_of_a_version_that_digested_estimates_is_written_again_once(
    run: Run, stored: Path
) -> None:
    printed(run)

    def parents() -> dict[str, str]:
        with closing(sqlite3.connect(stored / "mlruns/mlflow.db")) as store:
            return dict(
                store.execute(
                    "SELECT tags.run_uuid, tags.value FROM tags JOIN runs USING (run_uuid)"
                    " JOIN tags AS kinds USING (run_uuid) WHERE tags.key = 'plenum.journal'"
                    " AND kinds.key = 'plenum.kind' AND kinds.value = 'condition'"
                    " AND lifecycle_stage = 'active'"
                )
            )

    first = parents()
    table = (stored / "outputs/default/conditions.csv").read_text()
    with closing(sqlite3.connect(stored / "mlruns/mlflow.db")) as store, store:
        for name in first:
            store.execute(
                "UPDATE tags SET value = 'f3117b1f8dfe427a'"
                " WHERE key = 'plenum.journal' AND run_uuid = ?",
                (name,),
            )
    printed(run)
    second = parents()
    assert not second.keys() & first.keys()
    assert sorted(second.values()) == sorted(first.values())
    lines = [(stored / "outputs/default/conditions.csv").read_text(), table]
    for old, new in zip(sorted(first), sorted(second), strict=True):
        lines = [line.replace(old, "run").replace(new, "run") for line in lines]
    assert lines[0] == lines[1]
    printed(run)
    assert parents() == second


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
