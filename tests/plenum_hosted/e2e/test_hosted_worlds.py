"""A world whose agents are the tiny model, held to their form, by the real command line."""

import json
from pathlib import Path

import pytest
from command_line import Run, call, journals

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

HELD = ("backend=hosted", "model=tiny", "protocol.answers=constrained", "sampling.max_tokens=160")
ASKED = (*HELD, "backend.threads=1", "backend.slots=4", "rounds=2", "tracking=none")
WORLD = ("task=misinformation", "task.agents=2", "task.world.nodes=12")
SWEEP = ("consensus=implicit,plan", "replicates=2")


@pytest.fixture(scope="module")
def among(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Journals of two episodes of each mechanism at once."""
    folder = tmp_path_factory.mktemp("among")
    call(folder, "run.py", "-m", *WORLD, *ASKED, *SWEEP)
    return journals(folder)


def test_every_answer_has_an_action_without_repair(among: dict[str, bytes]) -> None:
    assert len(among) == 4
    for data in among.values():
        head, *entries = [json.loads(line) for line in data.splitlines()]
        assert head["answers"] == "constrained"
        spoken = [*["message"] * 2, *["action"] * 2, "round"]
        assert [entry["kind"] for entry in entries] == [*spoken * 2, "end"]
        assert entries[-1]["metrics"]["abstentions"] == 0
        assert not any(entry.get("cut") for entry in entries)


def test_alone_and_again_the_bytes_are_the_same(
    among: dict[str, bytes], run: Run, tmp_path: Path
) -> None:
    alone, again = tmp_path / "alone", tmp_path / "again"
    for folder in (alone, again):
        folder.mkdir()
    few = ("consensus=implicit", "replicates=1", "calls.max_concurrency=1")
    run(*WORLD, *ASKED, *few, cwd=alone)
    ((name, data),) = journals(alone).items()
    assert among[name] == data
    run("-m", *WORLD, *ASKED, *SWEEP, cwd=again)
    assert journals(again) == among
