"""The hosted regime through the real command line, on the model that ships with the project."""

import json
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Run, call, calls, journaled, journals, runs, start, wait_for

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

# One thread: the tests share the cores with others, and two threads would wait for each other.
ALONE = "backend.threads=1"
THREE = ("~roles.seats.Equity", "~roles.seats.Security")
SMALL = ("backend=hosted", ALONE, "memory=k5", "rounds=2", "replicates=2", "tracking=none", *THREE)
WORDED = (*SMALL, "perturbation=variants20")


@pytest.fixture(scope="module", autouse=True)
def _no_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing can be loaded from the hub, and nothing was."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("HF_HOME", str(tmp_path_factory.mktemp("hub")))
        yield


def entries(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Journals of a sweep of two conditions, all replicates at once."""
    folder = tmp_path_factory.mktemp("swept")
    call(folder, "run.py", "-m", *WORDED, "roles=on,off")
    return journals(folder)


def test_slots_and_neighbours_are_others_and_the_bytes_the_same(
    swept: dict[str, bytes], run: Run, tmp_path: Path
) -> None:
    other = ("roles=off", "scenario=IM-01,HL-01", "calls.max_concurrency=3")
    run("-m", *WORDED, *other)
    without_roles = journals(tmp_path)
    assert len(without_roles) == 4
    assert len(without_roles.items() & swept.items()) == 2


def test_killed_in_mid_round_and_resumed_the_bytes_are_the_same(
    swept: dict[str, bytes], run: Run, tmp_path: Path
) -> None:
    process = start(tmp_path, "run.py", "-m", *WORDED, "roles=on,off")
    size = 0.4 * sum(map(len, swept.values()))
    wait_for(process, lambda: journaled(tmp_path) >= size)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    begun = journals(tmp_path)
    assert any(data and not data.endswith(swept[name][-40:]) for name, data in begun.items())
    run("-m", *WORDED, "roles=on,off")
    assert journals(tmp_path) == swept


def test_workers_with_an_engine_write_the_same_bytes(
    swept: dict[str, bytes], run: Run, tmp_path: Path
) -> None:
    pytest.importorskip("ray")
    run("-m", *WORDED, "roles=on,off", "hydra/launcher=ray", "workers.number=2", cold=True)
    assert journals(tmp_path) == swept
    # A worker that has its model late, where others use the cores, finds nothing left to do.
    names = {log.name for log in tmp_path.glob("mlruns/journals/*/calls-w*.jsonl")}
    assert names
    assert names <= {"calls-w0.jsonl", "calls-w1.jsonl"}


def test_wordings_are_read_and_environments_are_named(swept: dict[str, bytes]) -> None:
    heads = [entries(data)[0] for data in swept.values()]
    assert {head["variant"] for head in heads} == {"canonical", "rephrase01"}
    assert len({json.dumps(head["environment"]) for head in heads}) == 1
    environment = heads[0]["environment"]
    names = {"device", "torch", "transformers", "threads", "dtype", "model tiny"}
    assert names <= environment.keys()
    assert environment["deterministic"] == "true"


def test_going_on_in_another_environment_is_said_and_recorded(run: Run, tmp_path: Path) -> None:
    run(*SMALL, "replicates=1", "rounds=1")
    (file,) = (tmp_path / "mlruns" / "journals").glob("*/000.jsonl")
    whole = file.read_bytes().splitlines(keepends=True)
    kept = whole[:-2]
    file.write_bytes(b"".join(kept))
    done = run(*SMALL, "replicates=1", "rounds=1", "backend.threads=2")
    assert "another environment (threads 1 -> 2)" in done.stdout + done.stderr
    assert entries(file.read_bytes())[len(kept)]["environment"]["threads"] == "2"


def test_the_benchmark_is_finished_parsed_and_tracked(stored: Path) -> None:
    given = ("+experiment=hosted_benchmark", "scenario=CL-04,IM-01", "roles=on", ALONE)
    call(stored, "run.py", "-m", *given, "rounds=2", "replicates=2")
    deliberations = [entries(data) for data in journals(stored).values()]
    assert Counter(each[-1]["status"] for each in deliberations) == {"completed": 4}

    turns = [(each[0]["options"], e) for each in deliberations for e in each if e["kind"] == "turn"]
    assert len(turns) >= 0.97 * 4 * 2 * 5  # hardly a turn needs a repair
    assert sum("problem" not in turn for _, turn in turns) >= 0.97 * len(turns)
    naming = [
        any(name.lower() in str(turn["argument"]).lower() for name in options.values())
        for options, turn in turns
    ]
    assert sum(naming) >= 0.95 * len(turns)

    parents = runs(stored, "hosted_benchmark", "condition")
    assert len(parents) == 2
    for parent in parents:
        assert parent.data.params["perturbation"] == "variants20"
        assert parent.data.tags["plenum.backend"] == "hosted"
        assert parent.data.tags["plenum.environment"]
        assert "D" in parent.data.metrics
    assert len({call["fingerprint"] for call in calls(stored)}) == 1
    assert {call["status"] for call in calls(stored)} == {200}


# --- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "given", "words"),
    [
        ("run", "model.name=mine model.default=./nowhere", "does not exist"),
        ("run", "model.default=./nowhere", "model.name: tiny, but a seat or the clerk has ./no"),
        ("run", "model=uniform", "model gpt-4.1-mini: neither a folder here nor an id of"),
        ("run", "model=qwen2.5-7b", "hf download Qwen/Qwen2.5-7B-Instruct"),
        ("run", "sampling.max_tokens=4096", "a context of 4096 tokens"),
        ("run", "backend.device=cuda", "backend.device"),
        ("run", "backend.dtype=int8", "backend.dtype"),
        ("run", "backend.slots=0", "backend.slots"),
        ("run", "backend.threads=100000", "backend.threads"),
        ("run", "backend.bucket=7.5", "backend.bucket"),
        ("bench/hosted", "fast", "hosted.py: 'fast'; give nothing"),
    ],
)
def test_what_cannot_work_is_refused_in_one_line(
    run: Run, tmp_path: Path, script: str, given: str, words: str
) -> None:
    of_a_sweep = SMALL if script == "run" else ()
    file = "run.py" if script == "run" else f"scripts/{script}.py"
    done = run(*of_a_sweep, *given.split(), script=file, status=2)
    (line,) = done.stderr.strip().splitlines()
    assert words in line
    assert not journals(tmp_path)
