"""The hosted regime through the real command line, on the model that ships with the project."""

import json
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from mlflow import MlflowClient

from plenum.records import attempts

from .conftest import Run, call, journals, start, with_store

pytestmark = pytest.mark.timeout(900)

# One thread: the tests share the cores with others, and two threads would wait for each other.
ALONE = "backend.threads=1"
THREE = ("~roles.seats.Equity", "~roles.seats.Security")
SMALL = ("backend=hosted", ALONE, "memory=k5", "rounds=2", "replicates=2", "tracking=none", *THREE)
SIZE = (ALONE, "rounds=4", "replicates=3")
WORDED = (*SMALL, "perturbation=variants20")


@pytest.fixture(scope="module", autouse=True)
def _no_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing can be loaded from the hub, and nothing was."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("HF_HOME", str(tmp_path_factory.mktemp("hub")))
        yield


def entries(data: bytes) -> list[dict[str, object]]:
    return [json.loads(line) for line in data.splitlines()]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Journals of a sweep of two conditions, all replicates at once."""
    folder = tmp_path_factory.mktemp("swept")
    call(folder, "run.py", "-m", *WORDED, "roles=on,off")
    return journals(folder)


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> tuple[Path, str]:
    """The hosted benchmark, small enough for a test."""
    folder = with_store(empty_store, tmp_path_factory.mktemp("benchmark"))
    given = ("-m", "+experiment=hosted_benchmark", "scenario=CL-04,IM-01", "roles=on", *SIZE)
    return folder, call(folder, "run.py", *given, COLUMNS="200").stdout


# --- the same bytes ----------------------------------------------------------------------------


def test_a_rerun_has_the_same_bytes(swept: dict[str, bytes], run: Run, tmp_path: Path) -> None:
    done = run("-m", *WORDED, "roles=on,off")
    assert done.returncode == 0, done.stderr
    assert journals(tmp_path) == swept


def test_a_replicate_alone_has_the_same_bytes_as_among_others(
    swept: dict[str, bytes], run: Run, tmp_path: Path
) -> None:
    done = run(*WORDED, "roles=off", "replicates=1", "calls.max_concurrency=1")
    assert done.returncode == 0, done.stderr
    alone = journals(tmp_path)
    assert len(alone) == 1
    assert alone.items() <= swept.items()


def test_slots_and_neighbours_are_others_and_the_bytes_the_same(
    swept: dict[str, bytes], run: Run, tmp_path: Path
) -> None:
    done = run(
        *("-m", *WORDED, "roles=off,on", "scenario=IM-01,HL-01"),
        "calls.max_concurrency=7",
    )
    assert done.returncode == 0, done.stderr
    found = journals(tmp_path)
    assert len(found) == 8
    assert swept.items() <= found.items()


def test_killed_in_mid_round_and_resumed_the_bytes_are_the_same(
    swept: dict[str, bytes], run: Run, tmp_path: Path
) -> None:
    process = start(tmp_path, "run.py", "-m", *WORDED, "roles=on,off")
    size = 0.4 * sum(map(len, swept.values()))
    deadline = time.monotonic() + 200
    while sum(map(len, journals(tmp_path).values())) < size:
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    begun = journals(tmp_path)
    assert any(data and not data.endswith(swept[name][-40:]) for name, data in begun.items())
    done = run("-m", *WORDED, "roles=on,off")
    assert done.returncode == 0, done.stderr
    assert journals(tmp_path) == swept


def test_wordings_are_read_and_environments_are_named(swept: dict[str, bytes]) -> None:
    heads = [entries(data)[0] for data in swept.values()]
    assert {head["variant"] for head in heads} == {"canonical", "rephrase01"}
    assert len({json.dumps(head["environment"]) for head in heads}) == 1
    environment_ = heads[0]["environment"]
    assert isinstance(environment_, dict)
    assert {"device", "torch", "transformers", "threads", "dtype", "model tiny"} <= set(
        environment_
    )
    assert environment_["deterministic"] == "true"


def test_going_on_in_another_environment_is_said_and_recorded(run: Run, tmp_path: Path) -> None:
    done = run(*SMALL, "replicates=1")
    assert done.returncode == 0, done.stderr
    (file,) = (tmp_path / "mlruns" / "journals").glob("*/000.jsonl")
    whole = file.read_bytes().splitlines(keepends=True)
    kept = whole[:-4]
    file.write_bytes(b"".join(kept))
    done = run(*SMALL, "replicates=1", "backend.threads=2")
    assert done.returncode == 0, done.stderr
    assert "another environment (threads 1 -> 2)" in done.stdout + done.stderr
    assert {"threads": "2"}.items() <= entries(file.read_bytes())[len(kept)]["environment"].items()  # type: ignore[attr-defined]


# --- the benchmark in its small size -----------------------------------------------------------


def test_the_benchmark_finishes_every_deliberation(benchmark: tuple[Path, str]) -> None:
    folder, _ = benchmark
    ends = [entries(data)[-1] for data in journals(folder).values()]
    assert Counter(end["status"] for end in ends) == {"completed": 6}


def test_turns_parse_without_repair(benchmark: tuple[Path, str]) -> None:
    folder, _ = benchmark
    said = [e for data in journals(folder).values() for e in entries(data)[1:-1]]
    turns = [e for e in said if e["kind"] == "turn"]
    assert len(turns) >= 0.98 * 6 * 4 * 5
    assert sum("problem" not in turn for turn in turns) >= 0.98 * len(turns)


def test_arguments_name_the_scenarios_options(benchmark: tuple[Path, str]) -> None:
    folder, _ = benchmark
    named, of_it = 0, 0
    for data in journals(folder).values():
        head, *rest = entries(data)
        options = head["options"]
        assert isinstance(options, dict)
        for turn in (e for e in rest if e["kind"] == "turn"):
            argument = str(turn["argument"])
            named += any(name.lower() in argument.lower() for name in options.values())
            of_it += 1
    assert named >= 0.95 * of_it


def test_mlflow_has_every_condition_and_its_environment(benchmark: tuple[Path, str]) -> None:
    folder, _ = benchmark
    client = MlflowClient(f"sqlite:///{folder}/mlruns/mlflow.db")
    experiment = client.get_experiment_by_name("hosted_benchmark")
    assert experiment is not None
    parents = client.search_runs(
        [experiment.experiment_id], "tags.`plenum.kind` = 'condition'", max_results=100
    )
    assert len(parents) == 2
    for parent in parents:
        assert parent.data.params["perturbation"] == "variants20"
        assert parent.data.tags["plenum.backend"] == "hosted"
        assert parent.data.tags["plenum.environment"]
        assert "lambda" in parent.data.metrics


def test_call_logs_name_the_environment_of_every_answer(benchmark: tuple[Path, str]) -> None:
    folder, _ = benchmark
    logs = sorted((folder / "mlruns" / "journals").glob("*/calls.jsonl"))
    lines = [line for log in logs for line in attempts(log)]
    assert len({line["fingerprint"] for line in lines}) == 1
    assert {line["status"] for line in lines} == {200}


# --- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["model.name=mine", "model.default=./nowhere"], "does not exist"),
        (["model.default=./nowhere"], "model.name: tiny, but a seat or the clerk has ./nowhere"),
        (["model=uniform"], "model gpt-4.1-mini: neither a folder here nor an id of"),
        (["model=qwen2.5-7b"], "hf download Qwen/Qwen2.5-7B-Instruct"),
        (["sampling.max_tokens=4096"], "a context of 4096 tokens"),
        (["backend.device=cuda"], "backend.device"),
        (["backend.dtype=int8"], "backend.dtype"),
        (["backend.slots=0"], "backend.slots"),
        (["backend.threads=100000"], "backend.threads"),
        (["backend.bucket=7.5"], "backend.bucket"),
    ],
)
def test_what_cannot_work_is_refused_in_one_line(
    run: Run, tmp_path: Path, given: list[str], told: str
) -> None:
    done = run(*SMALL, *given)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert told in line
    assert not journals(tmp_path)
