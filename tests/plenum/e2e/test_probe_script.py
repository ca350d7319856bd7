"""The determinism probe through the real command line, against the fault server."""

import csv
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import KEY, Run, client, runs, start, wait_for
from support.fault_server import Faults, FaultSettings, Latency, RunningServer, serve_in_thread

from plenum.calls.call_log import read_attempts
from plenum.records.transcript import read_transcript

pytestmark = pytest.mark.long


@pytest.fixture
def server() -> Iterator[RunningServer]:
    with serve_in_thread(FaultSettings(port=0, latency=Latency(0.01))) as running:
        yield running


def against(server: RunningServer, *more: str) -> list[str]:
    return [f"backend.api_base.openai={server.url}", "calls.backoff_s=0.01", *more]


def probed(run: Run, *arguments: str, status: int = 0) -> tuple[str, str]:
    done = run(*arguments, script="scripts/probe.py", OPENAI_API_KEY=KEY, status=status)
    return done.stdout, done.stderr


def written(folder: Path) -> list[dict[str, str]]:
    (file,) = folder.glob("outputs/probe/*/probe-*.csv")
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


def said(folder: Path) -> list[dict[str, Any]]:
    """Return the answers in a probe's journals."""
    journals = sorted(folder.glob("outputs/probe/*/*/[0-9]*.jsonl"))
    return [call for journal in journals for call in read_transcript(journal).calls]


@pytest.mark.usefixtures("stored")
def test_one_prompt_is_sent_n_times(server: RunningServer, run: Run, tmp_path: Path) -> None:
    printed, _ = probed(run, *against(server, "n=6", "model=gpt-4.1-mini"))
    log = server.log()
    assert len(log) == 6
    assert len({line["key"] for line in log}) == 1  # without a seed the bodies are equal
    assert len({line["id"] for line in log}) == 6
    assert "all 6 equal: no difference seen" in printed
    assert "simulated agents answered" in printed  # the fault server says who it is
    (model,) = written(tmp_path)
    assert model["fingerprints"] == "1"
    (calls,) = tmp_path.glob("outputs/probe/*/*/calls.jsonl")
    ended = [line for line in read_attempts(calls) if line["answered"]]
    assert int(model["logprob_positions"]) == len(ended[0]["logprobs"]) > 10
    assert float(model["cost"]) > 0


def test_answers_that_part_are_told_apart(server: RunningServer, run: Run, tmp_path: Path) -> None:
    drawn = ("temperature=t0.7", "backend.send_seed=true", "tracking=none")
    printed, _ = probed(run, *against(server, "n=12", *drawn))
    (model,) = written(tmp_path)
    texts = [call["text"] for call in said(tmp_path)]
    assert int(model["distinct_texts"]) == len(set(texts)) > 1
    assert float(model["preference_distance_max"]) >= float(model["preference_distance"]) > 0
    assert "at temperature 0.7 they are drawn" in printed
    unit, position = model["first_difference"].split()[:2]
    assert unit == "token"
    first = int(position)
    words = [text.split() for text in texts]
    assert len({tuple(w[: first - 1]) for w in words}) == 1
    assert len({tuple(w[:first]) for w in words}) > 1
    assert not (tmp_path / "mlruns").exists()


def test_faults_are_retried_or_counted(run: Run, tmp_path: Path) -> None:
    faults = Faults(rate_limit=0.2, server_error=0.2, content_filter=0.3, retry_after_s=0.01)
    with serve_in_thread(FaultSettings(port=0, faults=faults, latency=Latency(0.0))) as server:
        _, errors = probed(
            run,
            *against(server, "n=30", "backend.send_seed=true", "calls.max_attempts=15"),
            "tracking=none",
            status=1,
        )
        stats = server.stats()
    (model,) = written(tmp_path)
    came, failed = int(model["n_answered"]), int(model["n_failed"])
    assert came + failed == int(model["n_asked"]) == 30
    assert failed == stats["faults"]["content_filter"] > 0
    assert model["unanswered"] == f"content_filter {failed}"
    assert int(model["attempts"]) == stats["requests"]
    assert stats["answered"] == came
    assert stats["answered_twice"] == 0
    assert f"30 replicates = {came} completed + {failed} failed" in errors


@pytest.mark.parametrize(
    ("schemas", "status", "told"),
    [
        ("honoured", 0, "2 of 2 kept the form of protocol.answers=constrained"),
        ("ignored", 0, "its server seems to ignore the form of protocol.answers=constrained"),
        ("refused", 1, "the server refuses the form of protocol.answers=constrained"),
    ],
)
def test_it_says_whether_a_server_holds_answers_to_their_form(
    schemas: Any, status: int, told: str, run: Run
) -> None:
    held = ("n=2", "protocol.answers=constrained", "tracking=none", "model=gpt-4.1-mini")
    with serve_in_thread(FaultSettings(port=0, schemas=schemas, latency=Latency(0.0))) as server:
        printed, errors = probed(run, *against(server, *held), status=status)
    assert told in printed + errors


def test_a_refused_key_stops_it_in_one_line(run: Run, tmp_path: Path) -> None:
    with serve_in_thread(FaultSettings(port=0, key="another-key", latency=Latency(0.0))) as server:
        printed, errors = probed(run, *against(server, "tracking=none"), status=1)
    assert printed == ""
    assert errors.splitlines()[-1].startswith("stopped: model gpt-4.1-mini: the key was refused: ")
    assert len(errors.splitlines()) == 2  # and what was being asked
    assert not list(tmp_path.glob("outputs/probe/*/probe*"))


def test_a_model_without_temperatures_is_refused_before_it_is_asked(run: Run) -> None:
    printed, errors = probed(run, "model.default=o3-mini", "tracking=none", status=2)
    assert (printed, errors.count("\n")) == ("", 1)
    assert errors.startswith("error: model o3-mini: O-series models don't support temperature")


def test_a_dry_run_calls_nobody(run: Run, tmp_path: Path) -> None:
    done = run("model=mixed", "dry_run=true", "n=30", script="scripts/probe.py")  # without a key
    assert "in all 5 conditions, 150 replicates, 150 calls" in done.stdout
    assert "cost left: $" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_keeps_what_has_come(tmp_path: Path) -> None:
    with serve_in_thread(
        FaultSettings(port=0, faults=Faults(hang=0.5), latency=Latency(0.0))
    ) as server:
        given = against(server, "n=20", "backend.send_seed=true", "tracking=none")
        process = start(tmp_path, "scripts/probe.py", *given, OPENAI_API_KEY=KEY)
        wait_for(process, lambda: server.stats()["requests"] >= 20)
        time.sleep(0.5)
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    (model,) = written(tmp_path)
    came, pending = int(model["n_answered"]), int(model["n_pending"])
    assert came + pending == 20
    assert came > 0 < pending
    assert errors.splitlines()[-1].startswith("interrupted: ")


@pytest.mark.usefixtures("stored")
def test_mlflow_keeps_the_table_of_each_probe(run: Run, tmp_path: Path) -> None:
    for _ in range(2):
        probed(run, "backend=simulated", "model=mixed", "n=4", "study=repeat")
    (report,) = runs(tmp_path, "repeat", "report")
    kept = {file.path for file in client(tmp_path).list_artifacts(report.info.run_id)}
    files = {file.name for file in tmp_path.glob("outputs/probe/*/probe-*")}
    assert len(files) == 2 * len({Path(name).suffix for name in files})
    assert files <= kept


@pytest.mark.usefixtures("stored")
def test_no_key_is_written_or_printed(server: RunningServer, run: Run, tmp_path: Path) -> None:
    printed, errors = probed(run, *against(server, "n=3"))
    assert KEY not in printed + errors
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) > 4
    assert all(KEY.encode() not in file.read_bytes() for file in files)
