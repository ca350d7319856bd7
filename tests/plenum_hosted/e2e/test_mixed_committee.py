"""Two models on one committee by the real command line: the tiny one, and one with a window."""

import json
import os
from pathlib import Path

import folders
import pytest
from command_line import Run, call, journals

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

ASKED = ("backend=hosted", "backend.threads=1", "backend.slots=4", "backend.rung=2048", "rounds=2")
SEATS = ("roles.agents=3", "memory=k3", "protocol.answers=constrained", "sampling.max_tokens=120")
PAIR = (*ASKED, *SEATS, "tracking=none", "model.name=pair")
SEATED = ("Chair", "Welfare", "Rights")
FEW_BYTES = """import psutil, types
psutil.virtual_memory = lambda: types.SimpleNamespace(available=8_000_000, total=8_000_000)
"""


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of random weights: its answers are whole only because their form is kept."""
    return folders.windowed(tmp_path_factory.mktemp("models") / "window")


@pytest.fixture(scope="module")
def among(window: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Journals of a sweep with four replicates of two committees at once."""
    folder = tmp_path_factory.mktemp("among")
    call(folder, "run.py", "-m", *PAIR, given(window), "roles=on,off", "replicates=2")
    return journals(folder)


def given(model: Path) -> str:
    return f"+model.seats.Welfare={model}"


def test_every_seat_is_answered_by_its_own_model(among: dict[str, bytes], window: Path) -> None:
    assert len(among) == 4
    for data in among.values():
        head, *entries = [json.loads(line) for line in data.splitlines()]
        assert {"model tiny", f"model {window}"} <= head["environment"].keys()
        assert entries[-1]["status"] == "completed"
        turns = [entry for entry in entries if entry["kind"] == "turn"]
        arguments = {seat: {t["argument"] for t in turns if t["seat"] == seat} for seat in SEATED}
        assert not arguments["Welfare"] & (arguments["Chair"] | arguments["Rights"])


def test_alone_and_among_others_and_again_the_bytes_are_the_same(
    among: dict[str, bytes], window: Path, run: Run, tmp_path: Path
) -> None:
    for limit in ("calls.max_concurrency=1", "calls.max_concurrency=64"):
        folder = tmp_path / limit
        folder.mkdir()
        run(*PAIR, given(window), "roles=on", "replicates=1", limit, cwd=folder)
        ((name, data),) = journals(folder).items()
        assert among[name] == data
    again = tmp_path / "again"
    again.mkdir()
    run("-m", *PAIR, given(window), "roles=on,off", "replicates=2", cwd=again)
    assert journals(again) == among


def test_the_dry_run_counts_the_calls_of_both(window: Path, run: Run) -> None:
    told = run(*PAIR, given(window), "dry_run=true").stdout
    assert "a hosted model costs nothing" in told
    models = [line.split()[0] for line in told.splitlines() if line.rstrip().endswith("$0")]
    assert models == ["tiny", str(window)]
    assert "time: " not in told


@pytest.mark.parametrize("swept", [False, True])
def test_what_does_not_fit_is_refused_before_it_is_loaded(
    window: Path, run: Run, tmp_path: Path, swept: bool
) -> None:
    """In a sweep all its models together, even where each condition's would fit."""
    (tmp_path / "sitecustomize.py").write_text(FEW_BYTES)
    other = f"model.default=tiny,{window}" if swept else given(window)
    asked = ("-m", *PAIR, other) if swept else (*PAIR, other)
    done = run(*asked, status=2, cold=True, PYTHONPATH=path_with(tmp_path))
    (line,) = done.stderr.strip().splitlines()
    assert "backend: the models don't fit the memory here: tiny needs " in line
    assert f"{window} needs " in line
    assert "8.0 MB are free" in line
    assert not journals(tmp_path)
    assert not (tmp_path / "mlruns").exists()


def path_with(folder: Path) -> str:
    """Where Python looks first for what it runs at its start."""
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")]))
