"""A condition's identity covers all that can change an outcome, and nothing else."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum.base import identity
from plenum.design.condition import Condition
from plenum.design.job import Job

Make = Callable[..., Condition]

SAME = (
    ("study=another", "journals=/somewhere/else", "tracking.uri=sqlite:///other.db"),
    ("tracking=server", "calls.max_concurrency=3", "calls.start_concurrency=4"),
    ("tracking=none", "calls.timeout_s=5", "calls.max_attempts=2", "calls.idle_timeout_s=5"),
    ("calls.adapt=false", "journals=/elsewhere"),
    ("calls.rpm.openai=60", "calls.tpm.openai=60000", "calls.transport=litellm"),
    ("budget.dollars=1", "budget.tokens=1000", "budget.calls=10"),
    ("+prices={gpt-4.1-mini:{input:1,output:2}}", "branch.bases=9", "branch.continuations=9"),
    ("replicates=7", "dry_run=true", "retry_failed=true", "rounds=20", "backend.gain=1"),
    ("sampling.temperature=0", "protocol.order=listed", "roles.agents=5", "memory=auto"),
)
"""Overrides that change no identity, together: one that did would change that of the others too."""
DIFFERENT = (
    *("seed=1", "rounds=19", "scenario=HL-01", "roles=off", "roles=ablate_chair", "model=mixed"),
    *("roles=anonymous", "roles.agents=10", "roles.agents=2", "protocol=no_feedback"),
    *("protocol.order=random", "protocol.round_lines=true", "protocol.initial_state=even"),
    *("protocol.decision=clerk", "protocol.decision=mean"),
    *("model.clerk=gpt-4.1", "+model.seats.Chair=gpt-4.1", "sampling.temperature=0.1"),
    *("sampling.max_tokens=300", "protocol.window=3", "protocol.argument_words=90"),
    *("backend.gain=1.1", "backend.coupling=0.9", "backend.noise=0"),
    *(f"backend.{fault}_rate=0.1" for fault in ("malformed", "refusal", "timeout", "rate_limit")),
    *("backend=api", "branch.after_round=5", "branch.after_round=6"),
    *("branch.after_round=5 branch.continuations=7", "branch.after_round=5 seed=1"),
)
BRANCH = "branch.after_round=5"

leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
json_values = leaves | st.lists(leaves, max_size=3)


@pytest.fixture
def own_root(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project's inputs whose texts may be changed."""
    for folder in ("conf/prompts", "scenarios"):
        shutil.copytree(root / folder, tmp_path / folder)
    monkeypatch.setenv("PLENUM_ROOT", str(tmp_path))
    return tmp_path


@pytest.mark.slow
@pytest.mark.needs("plenum_rules")
def test_what_can_change_an_outcome_is_the_identity_and_nothing_else(condition: Make) -> None:
    own = condition().identity
    assert [overrides for overrides in SAME if condition(*overrides).identity != own] == []
    found = {condition(*override.split(" ")).identity for override in DIFFERENT}
    assert len(found | {own}) == len(DIFFERENT) + 1


@pytest.mark.slow
def test_a_branch_is_named_by_its_base_and_makes_the_calls_that_it_has_not_made(
    job: Callable[..., Job], condition: Make
) -> None:
    for overrides in ((), ("roles=off",), ("seed=7",)):
        base, branch = condition(*overrides), condition(BRANCH, *overrides)
        assert (branch.base, base.base) == (base, base)
        assert branch.speaking_order == base.speaking_order
        assert branch.calls == 106 - 5 * 5
        assert branch.settings == "30 branches after round 5"
        assert "branch" not in base.as_mapping()
        named = {"base": base.identity, "after_round": 5, "continuations": 30}
        assert branch.as_mapping()["branch"] == named
    # more bases only add replicates
    assert condition(BRANCH, "branch.bases=9").identity == condition(BRANCH).identity
    assert [job(BRANCH, f"branch.bases={n}").replicates for n in (5, 9)] == [5 * 30, 9 * 30]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "roles", "same"),
    [
        ("conf/prompts/preamble.txt", "on", False),
        ("conf/prompts/mandates/chair.txt", "on", False),
        ("scenarios/IM-01.yaml", "on", False),
        ("conf/prompts/mandates/chair.txt", "ablate_chair", True),  # nobody argues from it
        ("README.md", "on", True),  # and the place of the project is no part
    ],
)
def test_a_text_that_is_read_is_part_of_the_identity(
    job: Callable[..., Job], own_root: Path, file: str, roles: str, same: bool
) -> None:
    before = job(f"roles={roles}").condition.identity
    path = own_root / file
    path.write_text(path.read_text().replace(" the ", " this ", 1) if path.exists() else "")
    assert (job(f"roles={roles}").condition.identity == before) is same


def test_seats_speak_as_they_are_listed(condition: Make) -> None:
    listed = ["Chair", "Welfare", "Rights", "Equity", "Security"]
    for overrides in ((), ("roles=off",), ("seed=3", "scenario=HL-01"), ("model=mixed",)):
        assert [seat.name for seat in condition(*overrides).speaking_order] == listed


@pytest.mark.slow
def test_a_random_order_is_drawn_from_scenario_and_seed_alone(condition: Make) -> None:
    def order(*overrides: str) -> list[str]:
        return [s.name for s in condition("protocol.order=random", *overrides).speaking_order]

    others = ("roles=off", "roles=ablate_chair", "model=mixed", "memory=k3", "temperature=t0.7")
    others += ("rounds=3", "backend=api", "perturbation=variants20", "protocol=no_feedback", BRANCH)
    assert [override for override in others if order(override) != order()] == []
    assert order("seed=1") != order()
    drawn_for = condition("protocol.order=random", "scenario=HL-01")
    seeded = [replace(drawn_for, seed=seed) for seed in range(24)]
    drawn = [[s.name for s in each.speaking_order] for each in seeded]
    assert len({names[0] for names in drawn}) == 5  # a fair draw misses one with a chance of 2 %
    assert len({tuple(order(f"scenario={name}")) for name in ("IM-01", "AI-01", "CL-01")}) > 1


@given(st.dictionaries(st.text(max_size=5), json_values, min_size=2, max_size=4))
def test_a_digest_does_not_depend_on_the_order_of_keys(value: dict[str, object]) -> None:
    assert identity.digest(dict(reversed(value.items()))) == identity.digest(value)


def test_a_stream_is_named_by_all_its_names() -> None:
    names = [("a", 0, "x"), ("a", 1, "x"), ("a", 0, "y"), ("b", 0, "x"), ("a0", "x"), ("a", "0x")]
    assert len({identity.derive_seed(*name) for name in names}) == len(names)
    draws = [identity.make_generator("id", 3, "noise").random(5) for _ in range(2)]
    np.testing.assert_array_equal(*draws)


@pytest.mark.slow
def test_a_digest_is_the_same_in_another_process() -> None:
    code = "from plenum.base import identity; print(identity.digest({'a': [1, 'ü'], 'b': None}))"
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert re.fullmatch("[0-9a-f]{16}", told.stdout.strip())
    assert told.stdout.strip() == identity.digest({"b": None, "a": [1, "ü"]})
