"""A condition's identity covers all that can change an outcome, and nothing else."""

import os
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
from omegaconf import DictConfig

from plenum.base import identity
from plenum.design.compose import parse_job
from plenum.design.condition import Condition, Job

Make = Callable[..., Condition]

SAME = [
    "study=another",
    "journals=/somewhere/else",
    "tracking=server",
    "tracking.uri=sqlite:///other.db",
    "calls.max_concurrency=3",
    "calls.timeout_s=5",
    "calls.max_attempts=2",
    "calls.start_concurrency=4",
    "calls.adapt=false",
    "calls.rpm.openai=60",
    "calls.tpm.openai=60000",
    "calls.idle_timeout_s=5",
    "calls.transport=litellm",
    "budget.dollars=1",
    "budget.tokens=1000",
    "budget.calls=10",
    "+prices={gpt-4.1-mini:{input:1,output:2}}",
    "tracking=none",
    "branch.bases=9",
    "branch.continuations=9",
    "replicates=7",
    "dry_run=true",
    "retry_failed=true",
    "rounds=20",
    "backend.gain=1",
    "sampling.temperature=0",
]
DIFFERENT = [
    "seed=1",
    "rounds=19",
    "scenario=IM-01",
    "roles=off",
    "roles=ablate_chair",
    "model=mixed",
    "model.clerk=gpt-4.1",
    "+model.seats.Chair=gpt-4.1",
    "sampling.temperature=0.1",
    "sampling.max_tokens=300",
    "protocol.window=3",
    "protocol.argument_words=90",
    "backend.gain=1.1",
    "backend.coupling=0.9",
    "backend.noise=0",
    "backend.malformed_rate=0.1",
    "backend.refusal_rate=0.1",
    "backend.timeout_rate=0.1",
    "backend.rate_limit_rate=0.1",
    "backend=api",
    "branch.after_round=5",
    "branch.after_round=6",
    "branch.after_round=5 branch.continuations=7",
    "branch.after_round=5 seed=1",
]
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


@pytest.mark.parametrize("override", SAME)
def test_what_cannot_change_an_outcome_is_no_part_of_the_identity(
    condition: Make, override: str
) -> None:
    assert condition(override).identity == condition().identity


@pytest.mark.parametrize("override", DIFFERENT)
def test_what_can_change_an_outcome_changes_the_identity(condition: Make, override: str) -> None:
    assert condition(*override.split(" ")).identity != condition().identity


def test_different_conditions_have_different_identities(condition: Make) -> None:
    found = {condition(*override.split(" ")).identity for override in DIFFERENT}
    assert len(found) == len(DIFFERENT)


def test_more_bases_only_add_replicates_to_a_branch(
    job: Callable[..., Job], condition: Make
) -> None:
    assert condition(BRANCH, "branch.bases=9").identity == condition(BRANCH).identity
    assert job(BRANCH, "branch.bases=9").replicates == 9 * 30
    assert job(BRANCH).replicates == 5 * 30


def test_a_branchs_base_is_the_condition_without_the_branch(condition: Make) -> None:
    assert condition(BRANCH, "roles=off").base == condition("roles=off")
    assert condition().base == condition()


@pytest.mark.parametrize("overrides", [(), ("roles=off",), ("seed=7",)], ids=str)
def test_a_branch_speaks_in_the_order_of_its_base(
    condition: Make, overrides: tuple[str, ...]
) -> None:
    assert condition(BRANCH, *overrides).speaking_order == condition(*overrides).speaking_order


def test_a_branch_makes_the_calls_that_its_base_has_not_made(condition: Make) -> None:
    assert condition(BRANCH).calls == 106 - 5 * 5


def test_a_branch_says_of_what_it_is_one(condition: Make) -> None:
    told = condition(BRANCH).as_mapping()
    assert told["branch"] == {
        "base": condition().identity,
        "after_round": 5,
        "continuations": 30,
    }
    assert "branch" not in condition().as_mapping()
    assert condition(BRANCH).settings == "30 branches after round 5"


def test_the_place_of_the_project_is_no_part_of_the_identity(
    compose: Callable[..., DictConfig], condition: Make, own_root: Path
) -> None:
    assert parse_job(compose()).condition.identity == condition().identity


@pytest.mark.parametrize(
    "file", ["conf/prompts/preamble.txt", "conf/prompts/mandates/chair.txt", "scenarios/HL-01.yaml"]
)
def test_a_changed_text_changes_the_identity(
    compose: Callable[..., DictConfig], condition: Make, own_root: Path, file: str
) -> None:
    path = own_root / file
    path.write_text(path.read_text().replace(" the ", " this ", 1))
    assert parse_job(compose()).condition.identity != condition().identity


def test_a_mandate_that_nobody_argues_from_is_no_part_of_the_identity(
    compose: Callable[..., DictConfig], condition: Make, own_root: Path
) -> None:
    (own_root / "conf/prompts/mandates/chair.txt").write_text("Be brief.")
    changed = parse_job(compose("roles=ablate_chair")).condition
    assert changed.identity == condition("roles=ablate_chair").identity


def test_the_speaking_order_seats_everybody_once(condition: Make) -> None:
    base = condition()
    assert sorted(s.name for s in base.speaking_order) == sorted(s.name for s in base.seats)


def test_the_speaking_order_is_the_same_whenever_it_is_asked_for(
    compose: Callable[..., DictConfig],
) -> None:
    orders = {parse_job(compose()).condition.speaking_order for _ in range(3)}
    assert len(orders) == 1


def test_the_speaking_order_is_random_over_conditions(condition: Make) -> None:
    seeded = (replace(condition(), seed=seed) for seed in range(24))
    first = {one.speaking_order[0].name for one in seeded}
    assert len(first) == 5  # a fair draw misses one of five seats with a chance of 2 %


@given(json_values)
def test_a_digest_is_sixteen_hexadecimal_characters(value: object) -> None:
    assert len(identity.digest(value)) == 16
    assert int(identity.digest(value), 16) >= 0


@given(st.dictionaries(st.text(max_size=5), json_values, min_size=2, max_size=4))
def test_a_digest_does_not_depend_on_the_order_of_keys(value: dict[str, object]) -> None:
    assert identity.digest(dict(reversed(value.items()))) == identity.digest(value)


def test_a_stream_is_named_by_all_its_names() -> None:
    names = [("a", 0, "x"), ("a", 1, "x"), ("a", 0, "y"), ("b", 0, "x"), ("a0", "x"), ("a", "0x")]
    assert len({identity.seed_for(*name) for name in names}) == len(names)


def test_a_stream_gives_the_same_draws_again() -> None:
    draws = [identity.generator("id", 3, "noise").random(5) for _ in range(2)]
    np.testing.assert_array_equal(*draws)


def test_a_digest_is_the_same_in_another_process() -> None:
    code = "from plenum.base import identity; print(identity.digest({'a': [1, 'ü'], 'b': None}))"
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert told.stdout.strip() == identity.digest({"b": None, "a": [1, "ü"]})
