"""The determinism probe through the real command line, against the fault server."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import KEY, Run, client, runs, start, wait_for

from plenum_checks.fault_server import Faults, FaultSettings, Latency, serving
from plenum_checks.fault_server.running import RunningServer

pytestmark = pytest.mark.long


@pytest.fixture
def server() -> Iterator[RunningServer]:
    with serving(FaultSettings(port=0, latency=Latency(0.01))) as running:
        yield running


def against(server: RunningServer, *more: str) -> list[str]:
    return [f"backend.api_base.openai={server.url}", "calls.backoff_s=0.01", *more]


def probed(run: Run, *arguments: str, status: int = 0) -> tuple[str, str]:
    done = run(*arguments, script="scripts/probe.py", OPENAI_API_KEY=KEY, status=status)
    return done.stdout, done.stderr


def written(folder: Path) -> dict[str, Any]:
    (file,) = folder.glob("outputs/probe/*/probe.json")
    document: dict[str, Any] = json.loads(file.read_text())
    return document


@pytest.mark.usefixtures("stored")
def test_one_prompt_is_sent_n_times(server: RunningServer, run: Run, tmp_path: Path) -> None:
    printed, _ = probed(run, *against(server, "n=6", "model=gpt-4.1-mini"))
    log = server.log()
    assert len(log) == 6
    assert len({line["key"] for line in log}) == 1  # without a seed the bodies are equal
    assert len({line["id"] for line in log}) == 6
    assert "all 6 equal: no difference seen" in printed
    assert "simulated agents answered" in printed  # the fault server says who it is
    (model,) = written(tmp_path)["models"]
    assert model["logprobs_asked"]
    assert model["fingerprints"] == {"fp_simulated": 6}
    assert model["metrics"]["logprob_positions"] == len(model["calls"][0]["logprobs"]) > 10
    assert model["metrics"]["cost"] > 0


def test_answers_that_part_are_told_apart(server: RunningServer, run: Run, tmp_path: Path) -> None:
    drawn = ("temperature=t0.7", "backend.send_seed=true", "tracking=none")
    printed, _ = probed(run, *against(server, "n=12", *drawn))
    (model,) = written(tmp_path)["models"]
    metrics, texts = model["metrics"], [call["text"] for call in model["calls"]]
    assert metrics["distinct_texts"] == len(set(texts)) > 1
    assert metrics["preference_distance_max"] >= metrics["preference_distance"] > 0
    assert "at temperature 0.7 they are drawn" in printed
    assert model["first_difference"]["unit"] == "token"
    first = model["first_difference"]["position"]
    words = [text.split() for text in texts]
    assert len({tuple(w[: first - 1]) for w in words}) == 1
    assert len({tuple(w[:first]) for w in words}) > 1
    assert not (tmp_path / "mlruns").exists()


def test_faults_are_retried_or_counted(run: Run, tmp_path: Path) -> None:
    faults = Faults(rate_limit=0.2, server_error=0.2, content_filter=0.3, retry_after_s=0.01)
    with serving(FaultSettings(port=0, faults=faults, latency=Latency(0.0))) as server:
        _, errors = probed(
            run,
            *against(server, "n=30", "backend.send_seed=true", "calls.max_attempts=15"),
            "tracking=none",
            status=1,
        )
        stats = server.stats()
    (model,) = written(tmp_path)["models"]
    metrics = model["metrics"]
    assert metrics["n_answered"] + metrics["n_failed"] == metrics["n_asked"] == 30
    assert (
        metrics["n_failed"] == metrics["failed_content_filter"] == stats["faults"]["content_filter"]
    )
    assert metrics["attempts"] == stats["requests"]
    assert stats["answered"] == metrics["n_answered"]
    assert stats["answered_twice"] == 0
    assert f"{metrics['n_answered']} of 30 answers came" in errors


@pytest.mark.parametrize(
    ("schemas", "status", "said"),
    [
        ("honoured", 0, "2 of 2 answers kept the form of protocol.answers=constrained"),
        ("ignored", 0, "0 of 2 answers kept the form of protocol.answers=constrained; its server"),
        ("refused", 1, "the server refuses the form of protocol.answers=constrained"),
    ],
)
def test_it_says_whether_a_server_holds_answers_to_their_form(
    schemas: Any, status: int, said: str, run: Run
) -> None:
    held = ("n=2", "protocol.answers=constrained", "tracking=none", "model=gpt-4.1-mini")
    with serving(FaultSettings(port=0, schemas=schemas, latency=Latency(0.0))) as server:
        printed, _ = probed(run, *against(server, *held), status=status)
    assert f"gpt-4.1-mini: {said}" in " ".join(printed.split())


def test_a_refused_key_stops_it_in_one_line(run: Run, tmp_path: Path) -> None:
    with serving(FaultSettings(port=0, key="another-key", latency=Latency(0.0))) as server:
        printed, errors = probed(run, *against(server, "tracking=none"), status=1)
    assert printed == ""
    assert errors.splitlines()[-1].startswith("stopped: model gpt-4.1-mini: the key was refused: ")
    assert len(errors.splitlines()) == 2  # and what was being asked
    assert not list(tmp_path.glob("outputs/probe/*/*"))


def test_a_model_without_temperatures_is_refused_before_it_is_asked(run: Run) -> None:
    printed, errors = probed(run, "model.default=o3-mini", "tracking=none", status=2)
    assert (printed, errors.count("\n")) == ("", 1)
    assert errors.startswith("error: model o3-mini: O-series models don't support temperature")


def test_a_dry_run_calls_nobody(run: Run, tmp_path: Path) -> None:
    done = run("model=mixed", "dry_run=true", "n=30", script="scripts/probe.py")  # without a key
    lines = done.stdout.splitlines()
    assert len(lines) == 5
    assert all(": 30 calls, at most " in line for line in lines)
    assert sum("at most $" in line for line in lines) >= 4  # a price may be unknown
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_keeps_what_has_come(tmp_path: Path) -> None:
    with serving(FaultSettings(port=0, faults=Faults(hang=0.5), latency=Latency(0.0))) as server:
        given = against(server, "n=20", "backend.send_seed=true", "tracking=none")
        process = start(tmp_path, "scripts/probe.py", *given, OPENAI_API_KEY=KEY)
        wait_for(process, lambda: server.stats()["requests"] >= 20)
        time.sleep(0.5)
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    (model,) = written(tmp_path)["models"]
    outcomes = [call["outcome"] for call in model["calls"]]
    assert sorted(set(outcomes)) == ["interrupted", "ok"]
    assert errors.splitlines()[-1] == f"interrupted: {outcomes.count('ok')} of 20 answers came"


@pytest.mark.usefixtures("stored")
def test_mlflow_holds_one_run_a_model(run: Run, tmp_path: Path) -> None:
    probed(run, "backend=simulated", "model=mixed", "n=4", "study=repeat")
    tracked = runs(tmp_path, "repeat", "probe")
    assert len(tracked) == 5
    document = written(tmp_path)
    for each in tracked:
        assert each.info.status == "FINISHED"
        assert each.data.tags["plenum.backend"] == "simulated"
        (model,) = [m for m in document["models"] if m["model"] == each.data.params["probed_model"]]
        assert each.data.metrics["distinct_texts"] == model["metrics"]["distinct_texts"]
        files = {file.path for file in client(tmp_path).list_artifacts(each.info.run_id)}
        assert files == {"probe.json", "probe.md"}


@pytest.mark.usefixtures("stored")
def test_no_key_is_written_or_printed(server: RunningServer, run: Run, tmp_path: Path) -> None:
    printed, errors = probed(run, *against(server, "n=3"))
    assert KEY not in printed + errors
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) > 4
    assert all(KEY.encode() not in file.read_bytes() for file in files)
