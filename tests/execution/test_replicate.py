"""One replicate on the simulated backend: wherever it was cut, it ends in the same bytes."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plenum.conditions import Job, Simulated
from plenum.execution.replicate import Replicate
from plenum.models import Chat, Reply, backends
from plenum.models.simulated import SimulatedBackend
from plenum.records import CallLog, DamagedJournal, Journal, read
from plenum.records.journal import read_entries

Entry = dict[str, Any]


class Counting(SimulatedBackend):
    """The simulated backend, with a list of the calls that reached it."""

    def __init__(self, knobs: Simulated) -> None:
        super().__init__(knobs)
        self.seeds: list[int] = []

    async def attempt(self, chat: Chat, number: int) -> Reply:
        self.seeds.append(chat.seed)
        return await super().attempt(chat, number)


def run(job: Job, folder: Path, *, retry_failed: bool = False) -> tuple[bool, list[int], bytes]:
    """Run or continue; whether anything was written, the calls made, the journal's bytes."""
    assert isinstance(job.condition.backend, Simulated)
    journal, log = folder / "000.jsonl", CallLog(folder / "calls.jsonl")
    model = Counting(job.condition.backend)
    policy = replace(backends.policy(job.calls), max_attempts=2, backoff_s=0.0)
    try:
        wrote = asyncio.run(
            Replicate(
                condition=job.condition,
                index=0,
                journal=journal,
                calls=log,
                model=model,
                policy=policy,
                retry_failed=retry_failed,
                observe=lambda entry: None,
            ).run()
        )
    finally:
        log.close()
    return wrote, model.seeds, journal.read_bytes()


@pytest.fixture(scope="module")
def small(job: Callable[..., Job]) -> Job:
    """Two rounds in which some lines have to be repaired."""
    return job("rounds=2", "backend.malformed_rate=0.05", "backend.noise=1", "seed=3")


def test_a_replicate_that_was_cut_anywhere_ends_in_the_same_bytes(
    small: Job, tmp_path: Path
) -> None:
    _, calls, whole = run(small, tmp_path)
    assert read(tmp_path / "000.jsonl").status == "completed"
    lines = whole.splitlines(keepends=True)
    for kept in range(len(lines)):
        (tmp_path / "000.jsonl").write_bytes(b"".join(lines[:kept]) + lines[kept][:20])
        wrote, again, found = run(small, tmp_path)
        assert (wrote, found) == (True, whole)
        assert again == calls[max(kept - 1, 0) :]


def test_a_replicate_that_has_ended_is_left_alone(small: Job, tmp_path: Path) -> None:
    _, _, whole = run(small, tmp_path)
    assert run(small, tmp_path) == (False, [], whole)


@pytest.mark.parametrize("change", [{"argument": "Another."}, {"seat": "Nobody"}], ids=str)
def test_a_journal_that_the_code_would_not_write_is_refused(
    small: Job, tmp_path: Path, change: Entry
) -> None:
    run(small, tmp_path)
    head, first, *_ = read_entries(tmp_path / "000.jsonl")
    (tmp_path / "000.jsonl").unlink()
    with Journal(tmp_path / "000.jsonl", head) as other:
        other.append(first | change)
    with pytest.raises(DamagedJournal, match="call 1: this version of the code reads"):
        run(small, tmp_path)


def test_a_timeout_that_stays_fails_the_replicate_by_its_name(
    job: Callable[..., Job], tmp_path: Path
) -> None:
    run(job("rounds=1", "backend.timeout_rate=1"), tmp_path)
    failed = read(tmp_path / "000.jsonl")
    assert (failed.status, failed.reason) == ("failed", "timeout")


def test_a_failed_replicate_is_taken_up_again_only_on_request(
    job: Callable[..., Job], tmp_path: Path
) -> None:
    ill = job("rounds=1", "backend.timeout_rate=1")
    _, _, before = run(ill, tmp_path)
    assert run(ill, tmp_path) == (False, [], before)
    wrote, _, after = run(ill, tmp_path, retry_failed=True)
    assert wrote
    assert after.startswith(before)
    assert b'"kind":"reopen"' in after


def test_an_unreadable_answer_is_never_drawn_again(job: Callable[..., Job], tmp_path: Path) -> None:
    ill = job("rounds=1", "backend.malformed_rate=1")
    _, _, before = run(ill, tmp_path)
    assert run(ill, tmp_path, retry_failed=True) == (False, [], before)
