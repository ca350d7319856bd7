"""Branching: which entries of which base a replicate goes on from."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from plenum.calls import backends
from plenum.calls.api.prices import Prices
from plenum.committee.deliberation import Deliberation
from plenum.design.job import Job
from plenum.design.settings import Calls
from plenum.execution.branches import MissingBase, branch_prefix
from plenum.records.journal import Journal


@pytest.fixture
def branch(job: Callable[..., Job], tmp_path: Path) -> Job:
    """Two bases of four rounds, continued three times each after round 2."""
    found = job(
        *("rounds=4", "branch.after_round=2", "branch.bases=2", "branch.continuations=3"),
        *("backend.malformed_rate=0.05", "seed=3"),
    )
    return replace(found, journals=str(tmp_path))


def deliberated(branch: Job, base: int, calls: int = 1000) -> Path:
    """Run a base replicate, or its first calls."""
    condition = branch.condition.base
    path = Path(branch.journals) / condition.identity / f"{base:03d}.jsonl"
    path.unlink(missing_ok=True)

    async def run() -> None:
        model, deliberation = (
            backends.build_backend(condition.backend, Calls(), Prices()),
            Deliberation(condition, base),
        )
        with Journal(path, {**condition.as_mapping(), "replicate": base}) as journal:
            for _ in range(calls):
                if deliberation.ask is None:
                    break
                response = await model.attempt(deliberation.ask.chat, 1)
                journal.append(deliberation.answer(response.reply))
            if deliberation.end:
                journal.append(deliberation.end)

    asyncio.run(run())
    return path


@pytest.mark.parametrize("calls", [0, 3, 9], ids=["not begun", "in round 1", "in round 2"])
def test_a_base_that_has_not_got_that_far_is_refused(branch: Job, calls: int) -> None:
    if calls:
        deliberated(branch, 0, calls)
    with pytest.raises(MissingBase, match=r"base replicate 000 of .* hasn't finished round 2"):
        branch_prefix(branch, 0)


def test_a_base_that_failed_after_that_round_will_do(branch: Job) -> None:
    path = deliberated(branch, 0, 14)
    head = {**branch.condition.base.as_mapping(), "replicate": 0}
    with Journal(path, head) as journal:
        journal.append({"kind": "end", "status": "failed", "reason": "timeout"})
    assert sum("state" in entry for entry in branch_prefix(branch, 0)) == 10
