"""A killed run loses nothing, repeats nothing, and reaches the same bytes."""

import json
import re
import shutil
import signal
from pathlib import Path

import psutil
import pytest
from command_line import Run, call, calls, journaled, journals, runs, start, wait_for

from plenum.base import file_locks
from plenum.tracking.database import rows
from plenum.tracking.stored_runs import list_stored_runs as tracked

SWEEP = ("-m", "roles=on,off", "model=mixed", "replicates=4", "rounds=12")
CALLS = 2 * 4 * 66
LONG = pytest.mark.long


def answered(data: dict[str, bytes]) -> int:
    """Whole entries that are answers to calls."""
    lines = [line for d in data.values() for line in d.split(b"\n")[:-1]]
    return sum(json.loads(line)["kind"] not in ("head", "end") for line in lines)


def statuses(database: Path) -> list[str]:
    """The statuses of the conditions' runs in MLflow."""
    of_conditions = "tags WHERE key = 'plenum.kind' AND tags.value = 'condition'"
    query = f"SELECT status FROM runs WHERE run_uuid IN (SELECT run_uuid FROM {of_conditions})"
    return [status for (status,) in rows(database, query)]


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The journals of a process that was started cold and ran undisturbed."""
    folder = tmp_path_factory.mktemp("reference")
    call(folder, "run.py", *SWEEP, "tracking=none", cold=True)
    return journals(folder)


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("share", [0.3, *(pytest.param(s, marks=LONG) for s in (0.1, 0.6, 0.85))])
def test_after_kill_9_only_what_is_missing_is_done(
    reference: dict[str, bytes], run: Run, tmp_path: Path, share: float
) -> None:
    process = start(tmp_path, "run.py", *SWEEP)
    size = share * sum(map(len, reference.values()))
    wait_for(process, lambda: journaled(tmp_path) >= size and answered(journals(tmp_path)) > 0)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    left = journals(tmp_path)
    assert 0 < answered(left) < CALLS
    assert all(reference[name].startswith(data) for name, data in left.items())
    attempts = len(calls(tmp_path))

    run(*SWEEP)
    assert journals(tmp_path) == reference
    assert len(calls(tmp_path)) - attempts == CALLS - answered(left)

    tags = [run.data.tags for run in runs(tmp_path, "default", "replicate")]
    logged = [(tag["plenum.condition"], tag["plenum.replicate"]) for tag in tags]
    assert len(logged) == len(set(logged)) == 8


@pytest.mark.long
@pytest.mark.usefixtures("stored")
def test_after_kill_9_a_moderated_deliberation_reaches_the_same_bytes(
    run: Run, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    sweep = ("-m", "protocol=summary,simultaneous", "replicates=4", "rounds=12")
    whole = tmp_path_factory.mktemp("whole")
    call(whole, "run.py", *sweep, "tracking=none")
    reference = journals(whole)
    process = start(tmp_path, "run.py", *sweep)
    size = 0.5 * sum(map(len, reference.values()))
    wait_for(process, lambda: journaled(tmp_path) >= size)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    left = journals(tmp_path)
    assert any(b'"kind":"summary"' in data for data in left.values())
    assert 0 < answered(left) < answered(reference) == 4 * (78 + 66)
    run(*sweep)
    assert journals(tmp_path) == reference


@pytest.mark.long
def test_status_tells_a_sweep_that_has_hardly_begun_from_one_that_is_over(
    run: Run, stored: Path
) -> None:
    sweep = ("-m", "seed=range(1,121)", "replicates=2", "rounds=100", "calls.max_concurrency=1")
    process = start(stored, "run.py", *sweep)
    database = stored / "mlruns/mlflow.db"
    wait_for(process, lambda: tracked(database, "default", "plenum.kind", "condition"))
    process.send_signal(signal.SIGSTOP)
    shown = run("study=default", script="scripts/status.py").stdout
    begun, replicates = re.findall(r"^(\d+) conditions?: (\d+) replicates = ", shown, re.M)[0]
    assert (int(begun), int(replicates)) == (120, 240)  # as planned: hardly any is in the store
    counts = {name: int(n) for n, name in re.findall(r"(\d+) (completed|running|pending)", shown)}
    assert sum(counts.values()) == 240
    assert counts["pending"] > 200
    assert "\na sweep of 120 conditions, 240 replicates is running; time left " in shown
    process.kill()
    process.communicate(timeout=30)
    (lock,) = stored.glob("mlruns/journals/tracking-*.lock")
    with file_locks.hold_lock(lock):  # what it handed over is written
        pass
    shown = run("study=default", script="scripts/status.py").stdout
    assert "\na sweep of 120 conditions, 240 replicates ran last\n" in shown
    assert " running" not in shown
    untracked = run("tracking=none", script="scripts/status.py").stdout
    calls = [re.findall(r" (\d+) calls", text) for text in (shown, untracked)]
    assert calls[0] == calls[1]


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("sign", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=LONG)])
def test_an_interrupt_stops_cleanly_and_says_how_to_continue(
    reference: dict[str, bytes], run: Run, tmp_path: Path, sign: signal.Signals
) -> None:
    process = start(tmp_path, "run.py", *SWEEP)
    size = 0.3 * sum(map(len, reference.values()))
    wait_for(process, lambda: journaled(tmp_path) >= size)
    process.send_signal(sign)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command continues from here" in errors
    assert "Traceback" not in errors
    assert "RUNNING" not in statuses(tmp_path / "mlruns/mlflow.db")
    left = journals(tmp_path)
    assert all(reference[name].startswith(data) for name, data in left.items())
    assert all(data.endswith(b"\n") for data in left.values())
    tables = run("study=default", script="scripts/tables.py")
    assert "pending" in tables.stdout
    run(*SWEEP)
    assert journals(tmp_path) == reference


@pytest.mark.usefixtures("stored")
def test_a_run_whose_process_is_gone_is_ended_by_the_next_command_and_no_other(
    run: Run, tmp_path: Path
) -> None:
    process = start(tmp_path, "run.py", "study=killed", "replicates=2", "rounds=100")
    database, notes = tmp_path / "mlruns/mlflow.db", tmp_path / "mlruns/mlflow.open"
    wait_for(process, lambda: tracked(database, "killed", "plenum.kind", "condition"))
    process.send_signal(signal.SIGSTOP)
    run("study=killed", script="scripts/status.py")
    assert statuses(database) == ["RUNNING"]  # it lives
    for one in (*psutil.Process(process.pid).children(recursive=True), process):
        one.kill()  # the tracking process, too
    process.communicate(timeout=30)
    (note,) = notes.iterdir()
    machine, runs = note.read_text().split("\n", 1)
    note.write_text(f"elsewhere\n{runs}")
    run("study=killed", script="scripts/status.py")
    assert statuses(database) == ["RUNNING"]  # another machine's may live
    note.write_text(f"{machine}\n{runs}")
    copy = tmp_path / "copy"
    shutil.copytree(tmp_path / "mlruns", copy / "mlruns")
    (copy / "mlruns/artifacts").mkdir(exist_ok=True)
    call(copy, "scripts/status.py", "study=killed")
    assert statuses(copy / "mlruns/mlflow.db") == ["KILLED"]
    assert statuses(database) == ["RUNNING"]
    run("study=killed", script="scripts/explore.py", status=None)
    assert statuses(database) == ["KILLED"]
    run("study=killed", "replicates=2", "rounds=100")
    assert statuses(database) == ["FINISHED"]
    assert not notes.exists()


@pytest.mark.usefixtures("stored")
def test_a_torn_line_is_written_again(
    reference: dict[str, bytes], run: Run, tmp_path: Path
) -> None:
    name, data = next(iter(reference.items()))
    journal = tmp_path / "mlruns/journals" / name
    journal.parent.mkdir(parents=True)
    journal.write_bytes(data[: len(data) // 2])
    run(*SWEEP)
    assert journals(tmp_path) == reference
