"""SIGKILL at random moments of a sweep over real sockets: nothing is lost, nothing paid twice."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import ROOT, call, free_port
from support.fault_server import Faults, FaultSettings, Latency, serve_in_thread

from plenum.base.identity import derive_seed

pytestmark = pytest.mark.long

KILLS = 20
PORT = free_port()
SERVER = FaultSettings(
    faults=Faults(rate_limit=0.01, server_error=0.02, reset=0.02, length=0.02, malformed=0.02),
    latency=Latency(0.05),
)


def swept(folder: Path, port: int, kills: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The sweep in a folder of its own: what the driver printed, and what the server saw.

    The port is the same for all, since the endpoint is part of a condition's identity.
    """
    folder.mkdir()
    with serve_in_thread(replace(SERVER, port=port)) as server:
        given = (f"backend.api_base.openai={server.url}", str(kills), "7")
        env = {"OPENAI_API_KEY": "sk-simulated", "PLENUM_ROOT": str(ROOT)}
        done = call(folder, "tests/killing.py", *given, **env)
        return json.loads(done.stdout.splitlines()[-1]), list(server.log())


def written(folder: Path) -> dict[str, bytes]:
    return {
        f"{file.parent.name}/{file.stem}": file.read_bytes()
        for file in sorted((folder / "journals").glob("*/[0-9]*.jsonl"))
    }


def test_twenty_kills_lose_nothing_and_pay_for_nothing_twice(tmp_path: Path) -> None:
    folder, whole = tmp_path / "killed", tmp_path / "whole"
    report, log = swept(folder, PORT, KILLS)
    assert all(snapshot["killed"] for snapshot in report["snapshots"])
    progress = [sum(snapshot["answers"].values()) for snapshot in report["snapshots"]]
    assert len(set(progress)) > KILLS / 2  # most runs got somewhere, and none to the end
    assert report["pending"] == [0, 0]

    swept(whole, PORT, 0)
    assert written(folder) == written(whole)
    assert len(written(whole)) == 6

    again = []
    for snapshot in report["snapshots"]:
        later = {line["id"].rpartition("-")[0] for line in log[snapshot["requests"] :]}
        for name, count in snapshot["answers"].items():
            condition, replicate = name.split("/")
            again += [
                (name, position)
                for position in range(count)
                if f"{derive_seed(condition, int(replicate), position, 'call'):016x}" in later
            ]
    assert not again

    # what the server answered and no journal holds was under way at a kill: at most 6 each
    answered = sum(line["answered"] for line in log)
    journaled = sum(data.count(b'"text":') for data in written(folder).values())
    assert 0 <= answered - journaled <= 6 * KILLS
