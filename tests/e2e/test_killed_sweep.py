"""SIGKILL at random moments of a sweep over real sockets: nothing is lost, nothing paid twice."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plenum.base.identity import seed_for
from plenum.testing.fault_server import Faults, Latency, Settings, serving

from .conftest import ROOT, environment, free_port

KILLS = 20
DRIVER = Path(__file__).with_name("killing.py")
PORT = free_port()
SERVER = Settings(
    faults=Faults(rate_limit=0.01, server_error=0.02, reset=0.02, length=0.02, malformed=0.02),
    latency=Latency(0.1),
)


def swept(folder: Path, port: int, kills: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The sweep in a folder of its own: what the driver told, and what the server saw.

    The port is the same for all, since the endpoint is part of a condition's identity.
    """
    folder.mkdir()
    with serving(replace(SERVER, port=port)) as server:
        done = subprocess.run(
            [sys.executable, str(DRIVER), server.url, str(kills), "7"],
            cwd=folder,
            env=environment(OPENAI_API_KEY="sk-simulated", PLENUM_ROOT=str(ROOT)),
            capture_output=True,
            text=True,
            timeout=280,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1]), list(server.log())


def written(folder: Path) -> dict[str, bytes]:
    return {
        f"{file.parent.name}/{file.stem}": file.read_bytes()
        for file in sorted((folder / "journals").glob("*/[0-9]*.jsonl"))
    }


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], list[Any]]:
    folder = tmp_path_factory.mktemp("killed") / "sweep"
    return (folder, *swept(folder, PORT, KILLS))


def test_the_sweep_was_killed_in_its_midst(killed: tuple[Path, dict[str, Any], list[Any]]) -> None:
    _, told, _ = killed
    assert all(snapshot["killed"] for snapshot in told["snapshots"])
    progress = [sum(snapshot["answers"].values()) for snapshot in told["snapshots"]]
    assert len(set(progress)) > KILLS / 2  # most runs got somewhere, and none to the end
    assert told["pending"] == [0, 0]


def test_journals_equal_those_of_an_uninterrupted_sweep(
    killed: tuple[Path, dict[str, Any], list[Any]], tmp_path: Path
) -> None:
    folder, _, _ = killed
    whole = tmp_path / "whole"
    swept(whole, PORT, 0)
    assert written(folder) == written(whole)
    assert len(written(whole)) == 6


def test_no_answer_that_was_written_was_asked_for_again(
    killed: tuple[Path, dict[str, Any], list[Any]],
) -> None:
    _, told, log = killed
    again = []
    for snapshot in told["snapshots"]:
        later = {line["id"].rpartition("-")[0] for line in log[snapshot["requests"] :]}
        for name, count in snapshot["answers"].items():
            condition, replicate = name.split("/")
            again += [
                (name, position)
                for position in range(count)
                if f"{seed_for(condition, int(replicate), position, 'call'):016x}" in later
            ]
    assert not again


def test_every_answer_in_the_journals_was_paid_for(
    killed: tuple[Path, dict[str, Any], list[Any]],
) -> None:
    """What the server answered and no journal holds was under way at a kill: at most 6 each."""
    folder, _, log = killed
    answered = sum(line["answered"] for line in log)
    journaled = sum(data.count(b'"text":') for data in written(folder).values())
    assert 0 <= answered - journaled <= 6 * KILLS
