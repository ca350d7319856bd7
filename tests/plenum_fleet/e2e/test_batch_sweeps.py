"""Sweeps in batches by the command line: killed and resumed, priced, announced and refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import KEY, ROOT, call, free_port, journals, start, table
from support.fault_server import (
    BatchFaults,
    FaultSettings,
    Latency,
    RunningServer,
    serve_in_thread,
)

MODEL, OTHER = "openai/house-model", "anthropic/house-model"
BATCHES = ("calls.batch=true", "batch.poll_s=0.05")
PORT = free_port()
FAULTS = BatchFaults(
    errored=0.02, before=0.03, after=0.03, garbled=0.03, takes_s=0.1, slow=0.1, slow_s=0.4
)
SHAPE = (
    *("replicates=2", "rounds=1", "calls.max_attempts=20", "backend.send_seed=false"),
    *(f"model.default={MODEL}", f"+model.seats={{Welfare:{OTHER},Equity:{OTHER}}}"),
)
KILLS = 5
TRIAL = 3
"""Calls by which a live sweep tries two models, which batches don't: two ballots and a count."""
PRICED = (
    *("-m", "roles=on,off", f"model.default={MODEL}", "backend=api", "backend.send_seed=true"),
    *("replicates=2", "rounds=2", f"+prices={{{MODEL}:{{input:100,output:400}}}}", *BATCHES),
)
ENV = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}


def server(batches: BatchFaults | None = None) -> FaultSettings:
    return FaultSettings(port=PORT, latency=Latency(0.0), batches=batches or BatchFaults())


def swept(folder: Path, running: RunningServer, kills: int, *more: str) -> dict[str, Any]:
    folder.mkdir()
    given = (f"backend.api_base.openai={running.url}", str(kills), "5", *SHAPE, *more)
    other = f"+backend.api_base.anthropic={running.url.removesuffix('/v1')}"
    env = {**ENV, "PLENUM_ROOT": str(ROOT)}
    done = call(folder, "tests/killing.py", *given, other, **env)
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


def written(folder: Path) -> dict[str, bytes]:
    return {
        f"{file.parent.name}/{file.stem}": file.read_bytes()
        for file in sorted((folder / "journals").glob("*/[0-9]*.jsonl"))
    }


@pytest.mark.long
def test_kills_lose_nothing_pay_nothing_twice_and_change_no_byte(tmp_path: Path) -> None:
    """SIGKILLs at random requests: uploads, submits, looks, results; with failures of all sorts.

    Seats of two providers move in lockstep.
    """
    with serve_in_thread(server()) as running:
        swept(tmp_path / "live", running, 0)
        paid_live = running.stats()["paid"] - TRIAL
    with serve_in_thread(server(FAULTS)) as running:
        report = swept(tmp_path / "killed", running, KILLS, *BATCHES)
        stats = running.stats()
    assert report["pending"] == [0, 0]
    assert sum(snapshot["killed"] for snapshot in report["snapshots"]) >= KILLS - 2
    assert len({sum(s["answers"].values()) for s in report["snapshots"]}) > KILLS / 3
    assert stats["requests"] == 0
    assert (stats["paid"], stats["paid_twice"]) == (paid_live, 0)
    assert written(tmp_path / "killed") == written(tmp_path / "live")


@pytest.mark.long
def test_of_two_that_start_at_once_in_one_folder_each_pays_what_the_other_does_not(
    tmp_path: Path,
) -> None:
    with serve_in_thread(server(BatchFaults(takes_s=1.0))) as running:
        given = ("-m", "roles=on,off", "backend=api", "tracking=none", *SHAPE, *BATCHES)
        given += (f"backend.api_base.openai={running.url}", f"journals={tmp_path}/journals")
        given += (f"+backend.api_base.anthropic={running.url.removesuffix('/v1')}",)
        both = [start(tmp_path, "run.py", *given, **ENV) for _ in range(2)]
        for process in both:
            out, errors = process.communicate(timeout=300)
            told = [line for line in errors.splitlines() if line.startswith("error: ")]
            assert process.returncode in (0, 1), out + errors
            assert "Traceback" not in out + errors
            assert len(told) <= 2 * process.returncode
            assert all("another process" in line for line in told)
        last = call(tmp_path, "run.py", *given, **ENV)
        stats = running.stats()
    assert "4 replicates = 4 completed + 0 failed + 0 pending" in last.stdout + last.stderr
    assert (stats["paid"], stats["paid_twice"]) == (4 * 11, 0)


def test_half_the_price_from_dry_run_to_accounting(tmp_path: Path) -> None:
    with serve_in_thread(server()) as running:
        given = (*PRICED, "study=cheap", f"backend.api_base.openai={running.url}")
        announced = call(tmp_path, "run.py", *given, "dry_run=true", **ENV).stdout
        done = call(tmp_path, "run.py", *given, **ENV)
        assert (running.stats()["requests"], running.stats()["paid_twice"]) == (0, 0)
        again = call(tmp_path, "run.py", *given, "dry_run=true", **ENV).stdout
    assert "50 / 200" in announced
    assert ": 16 calls in sequence" in announced
    assert ": 0 calls in sequence" in again
    assert "a batch of 1:00:00 h (assumed; providers promise 24 h)" in announced
    assert done.stderr.count(f" to {MODEL} submitted") == 16  # a batch a turn, over both conditions
    said = " ".join(call(tmp_path, "scripts/accounting.py", "study=cheap").stdout.split())
    (row,) = table(tmp_path, "cheap", "accounting_models")
    assert f"in batches, at half the price: {row['calls']} of {row['calls']} calls" in said
    listed = (float(row["tokens_in"]) * 100 + float(row["tokens_out"]) * 400) / 1e6
    assert float(row["cost"]) / listed == pytest.approx(0.5, rel=1e-9)


@pytest.mark.long
def test_a_budget_holds_for_batches_and_what_is_out_is_not_counted_twice(tmp_path: Path) -> None:
    with serve_in_thread(server()) as running:
        given = (*PRICED, "tracking=none", f"backend.api_base.openai={running.url}")
        small = call(tmp_path, "run.py", *given, "budget.dollars=1", status=None, **ENV)
        assert "budget.dollars=1 is reached" in small.stderr
        lines = b"".join(journals(tmp_path).values()).splitlines()
        assert 0.3 < sum(json.loads(line).get("cost") or 0 for line in lines) <= 1
        call(tmp_path, "run.py", *given, "budget.dollars=100", **ENV)
        assert running.stats()["paid_twice"] == 0


def test_who_can_t_batch_is_told_in_one_line(tmp_path: Path) -> None:
    for given, line in (
        (("backend=simulated",), "calls.batch: only deliberations and worlds of backend=api"),
        (
            ("backend=api", "model.default=gemini/gemini-2.5-flash"),
            "calls.batch: gemini has no batches that plenum knows",
        ),
    ):
        env = {**ENV, "GEMINI_API_KEY": KEY}
        for more in ((), ("dry_run=true",)):
            done = call(tmp_path, "run.py", "calls.batch=true", *given, *more, status=2, **env)
            assert line in done.stderr
            assert len(done.stderr.strip().splitlines()) == 1
            assert "$" not in done.stdout
    assert not list(tmp_path.rglob("b*.jsonl"))
