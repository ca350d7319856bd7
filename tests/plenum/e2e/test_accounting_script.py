"""Accounts over the real command line, against the journals and call logs themselves."""

import hashlib
import json
import shutil
import signal
import time
from collections import Counter
from pathlib import Path

import pytest
from command_line import Run, call, calls, client, journals, start, table, wait_for, with_store

from plenum.calls.call_log import read_attempts

pytestmark = pytest.mark.long

GRID = ("-m", "roles=on,off", "model=uniform,mixed")
FAULTS = ("backend.malformed_rate=0.1", "backend.timeout_rate=0.2", "backend.rate_limit_rate=0.1")
SWEEP = (*GRID, "study=acc", "replicates=6", "rounds=3", *FAULTS, "calls.max_attempts=3")


def account(run: Run, cwd: Path, study: str = "acc", *more: str) -> str:
    done = run(f"study={study}", *more, script="scripts/accounting.py", cwd=cwd)
    return done.stdout


def replicates(folder: Path) -> dict[tuple[str, int], list[dict[str, object]]]:
    """Every journal's entries, by condition and replicate."""
    by_replicate = {}
    for name, data in journals(folder).items():
        condition, _, file = name.partition("/")
        entries = [json.loads(text) for text in data.decode().splitlines()[1:]]
        by_replicate[condition, int(file.removesuffix(".jsonl"))] = entries
    return by_replicate


def answers(folder: Path) -> list[dict[str, object]]:
    return [e for entries in replicates(folder).values() for e in entries if "finish" in e]


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Path:
    """A sweep in which much fails, and its accounts."""
    folder = with_store(empty_store, tmp_path_factory.mktemp("failing"))
    call(folder, "run.py", *SWEEP, status=1)
    done = call(folder, "scripts/accounting.py", "study=acc")
    (folder / "stdout").write_text(done.stdout)
    return folder


def test_the_tables_are_the_journals_counted(failing: Path) -> None:
    out = (failing / "stdout").read_text()
    rows = table(failing, "acc", "accounting")
    ends = [entries[-1] for entries in replicates(failing).values()]
    failed = Counter(end["reason"] for end in ends if end["status"] == "failed")
    assert len(rows) == 4
    assert failed
    for row in rows:
        counts = [int(row[name]) for name in ("target", "completed", "failed", "pending")]
        assert counts[0] == sum(counts[1:]) == 6
        assert int(row["deficit"]) == counts[0] - counts[1]
    assert {n: sum(int(r[f"failed_{n}"]) for r in rows) for n in failed} == failed
    answered, tried = answers(failing), calls(failing)
    assert sum(int(r["calls"]) for r in rows) == len(answered)
    assert sum(int(r["tokens_in"]) for r in rows) == sum(e["tokens_in"] for e in answered)
    repairs = sum(str(e["kind"]).endswith("_repair") for e in answered)
    assert sum(int(r["repairs"]) for r in rows) == repairs
    assert sum(int(r["attempts"]) for r in rows) == len(tried)
    assert "no evidence about language models" in out


def test_models_add_up_to_the_same(failing: Path) -> None:
    tried = calls(failing)
    rows = {row["model"]: row for row in table(failing, "acc", "accounting_models")}
    assert {n: int(r["attempts"]) for n, r in rows.items()} == Counter(c["model"] for c in tried)
    for name, row in rows.items():
        by = Counter(c["outcome"] for c in tried if c["model"] == name)
        assert int(row["attempts_timeout"]) == by["timeout"]
        assert int(row["failed_attempts"]) == by.total() - by["ok"]


def test_every_failed_attempt_was_recovered_or_ended_a_replicate(failing: Path) -> None:
    out = (failing / "stdout").read_text()
    entries = replicates(failing)
    rows = {row["source"]: row for row in table(failing, "acc", "failures")}
    expected: dict[str, Counter[str]] = {name: Counter() for name in rows}
    folder = failing / "mlruns/journals"
    for log in folder.glob("*/calls.jsonl"):
        for attempt in read_attempts(log):
            if attempt["outcome"] == "ok":
                continue
            journal = entries[log.parent.name, attempt["replicate"]]
            asked = (attempt["call"].removesuffix("_repair"), attempt["round"], attempt["seat"])
            read = any(
                (e["kind"].removesuffix("_repair"), e["round"], e["seat"]) == asked
                for e in journal
                if "finish" in e and "problem" not in e
            )
            at_end = "ended" if journal[-1]["status"] == "failed" else "unused"
            expected[attempt["outcome"]]["recovered" if read else at_end] += 1
    for name, row in rows.items():
        fates = {n: int(row[n]) for n in ("recovered", "ended", "open", "unused")}
        assert int(row["attempts"]) == sum(fates.values())
        assert {n: count for n, count in fates.items() if count} == expected[name]
    assert "none occurred: " in out
    assert "recorded per attempt in calls.jsonl, per replicate in MLflow" in out


def test_the_manifest_is_what_lies_on_the_disk(failing: Path) -> None:
    for row in table(failing, "acc", "manifest"):
        tracked = client(failing).get_run(row["run_id"])
        assert tracked.data.tags["plenum.condition"] == row["condition"]
        folder = Path(tracked.info.artifact_uri.removeprefix("file://"))
        for name in ("ensemble", "replicates"):
            data = (folder / f"{name}.parquet").read_bytes()
            assert row[f"sha256_{name}"] == hashlib.sha256(data).hexdigest()
        by_replicate = sorted((failing / "mlruns/journals" / row["condition"]).glob("[0-9]*.jsonl"))
        together = hashlib.sha256(b"".join(file.read_bytes() for file in by_replicate))
        assert row["sha256_transcripts"] == together.hexdigest()


def test_fewer_replicates_count_their_own_attempts_alone(failing: Path, run: Run) -> None:
    run(*SWEEP, "replicates=2", "study=fewer", cwd=failing, status=1)
    account(run, failing, "fewer")
    tried = [c for c in calls(failing) if c["replicate"] in (0, 1)]
    rows = table(failing, "fewer", "accounting")
    assert sum(int(r["attempts"]) for r in rows) == len(tried) < len(calls(failing))
    assert all(r["target"] == "2" for r in rows)


@pytest.mark.long
def test_a_damaged_journal_is_pending_by_an_error(
    failing: Path, run: Run, tmp_path: Path, stored: Path
) -> None:
    shutil.copytree(failing / "mlruns/journals", stored / "mlruns/journals")
    run(*SWEEP, status=1)
    journal = sorted((tmp_path / "mlruns/journals").glob("*/000.jsonl"))[0]
    journal.write_bytes(journal.read_bytes().replace(b"Chair", b"Chief", 1))
    run(*SWEEP, status=1)
    account(run, tmp_path)
    rows = {row["condition"]: row for row in table(tmp_path, "acc", "accounting")}
    damaged = rows[journal.parent.name]
    assert (damaged["pending"], damaged["pending_error"]) == ("1", "1")
    assert all(row["attempts"] for row in rows.values())


@pytest.mark.usefixtures("stored")
def test_a_budget_leaves_pending_replicates_that_are_no_failures(run: Run, tmp_path: Path) -> None:
    sweep = (*GRID, "study=b", "replicates=3", "rounds=3", "budget.calls=150")
    run(*sweep, "backend.timeout_rate=0.1", status=1)
    account(run, tmp_path, "b")
    rows = table(tmp_path, "b", "accounting")
    cut = sum(int(r["pending_budget"]) for r in rows)
    left = sum(int(r["pending_not_begun"]) for r in rows)
    assert cut > 0
    assert cut + left == sum(int(r["pending"]) for r in rows)
    assert sum(int(r["attempts"]) for r in rows) == 150
    source = {row["source"]: row for row in table(tmp_path, "b", "failures")}
    assert int(source["timeout"]["attempts"]) == sum(
        int(source["timeout"][fate]) for fate in ("recovered", "ended", "open", "unused")
    )


def stop(sweep: tuple[str, ...], folder: Path, sign: signal.Signals, ended: int) -> None:
    """Run a sweep until so many more replicates have ended, and stop it."""

    def count() -> int:
        return sum(b'"kind":"end"' in data for data in journals(folder).values())

    before = count()
    process = start(folder, "run.py", *sweep)
    wait_for(process, lambda: count() >= before + ended)
    process.send_signal(sign)
    process.communicate(timeout=60)


@pytest.mark.long
@pytest.mark.usefixtures("stored")
def test_a_stopped_sweep_is_accounted_for_and_completed_later(run: Run, tmp_path: Path) -> None:
    sweep = (*GRID, "study=s", "replicates=5", "rounds=12", "backend.timeout_rate=0.05")

    stop(sweep, tmp_path, signal.SIGINT, 3)
    account(run, tmp_path, "s")
    rows = table(tmp_path, "s", "accounting")
    assert sum(int(r["pending_interrupted"]) for r in rows) > 0
    assert sum(int(r["attempts"]) for r in rows) == len(calls(tmp_path))

    # kill -9 leaves the accounts of the first stop, which are no longer true
    stop(sweep, tmp_path, signal.SIGKILL, 3)
    deadline = time.monotonic() + 60  # the tracking process still writes what it was asked for
    while "no accounts yet: IM-01 " not in account(run, tmp_path, "s"):
        assert time.monotonic() < deadline
    rows = table(tmp_path, "s", "accounting")
    for row in rows:
        counts = [int(row[name]) for name in ("target", "completed", "failed", "pending")]
        assert counts[0] == sum(counts[1:]) == 5
    assert any(r["calls"] == "" for r in rows)

    run(*sweep)
    account(run, tmp_path, "s")
    rows = table(tmp_path, "s", "accounting")
    assert [(r["completed"], r["pending"]) for r in rows] == [("5", "0")] * 4
    assert sum(int(r["calls"]) for r in rows) == len(answers(tmp_path)) == 4 * 5 * 66


@pytest.mark.long
def test_a_server_answers_all_but_the_transcripts(
    run: Run, tmp_path: Path, mlflow_server: str
) -> None:
    server = ("tracking=server", f"tracking.uri={mlflow_server}")
    sweep = ("-m", "roles=on,off", "study=billed", "replicates=3", "rounds=3", *server)
    run(*sweep)
    account(run, tmp_path, "billed", *server)
    assert [r["completed"] for r in table(tmp_path, "billed", "accounting")] == ["3", "3"]
    for row in table(tmp_path, "billed", "manifest"):
        assert len(row["sha256_ensemble"]) == 64
        assert row["sha256_transcripts"] == ""


def test_bad_input_ends_in_one_line(run: Run, failing: Path, tmp_path: Path) -> None:
    for arguments, words, cwd in (
        (("study=nowhere",), "there is no study 'nowhere'; known: acc", failing),
        (("study=acc",), "nothing has been tracked here yet", tmp_path),
    ):
        done = run(*arguments, script="scripts/accounting.py", cwd=cwd, status=2)
        assert words in done.stderr
        assert len(done.stderr.splitlines()) == 1
