"""One replicate on the simulated backend: wherever it was cut, it ends in the same bytes."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plenum.base.errors import Stopped
from plenum.calls import backends
from plenum.calls.admission import Admission, Ticket
from plenum.calls.api.prices import Prices
from plenum.calls.budget import BudgetSpent, Ledger
from plenum.calls.call_errors import CallError
from plenum.calls.call_log import CallLog, read_attempts
from plenum.calls.caller import Caller
from plenum.calls.chat import Chat, Reply, Response
from plenum.calls.simulated import SimulatedBackend
from plenum.design.job import Job
from plenum.design.settings import Branch, Budget, Simulated
from plenum.execution.branches import MissingBase, branch_prefix
from plenum.execution.replay import replay_calls
from plenum.execution.replicate import Replicate
from plenum.execution.resumption import RETRIABLE
from plenum.records.chain import DamagedJournal, read_entries
from plenum.records.failures import Failure
from plenum.records.journal import Journal
from plenum.records.transcript import read_transcript

Entry = dict[str, Any]


class Counting(SimulatedBackend):
    """The simulated backend, with a list of the calls that reached it.

    ``said`` replaces single answers, by the number of the call.
    """

    def __init__(self, knobs: Simulated, said: dict[int, Reply | Exception] | None = None) -> None:
        super().__init__(knobs)
        self.seeds: list[int] = []
        self._said = said or {}

    async def attempt(self, chat: Chat, number: int) -> Response:
        self.seeds.append(chat.seed)
        said = self._said.get(len(self.seeds))
        if isinstance(said, Exception):
            raise said
        return Response(said) if said else await super().attempt(chat, number)


def run(
    job: Job,
    folder: Path,
    *,
    index: int = 0,
    retry_failed: bool | str = False,
    budget: Budget | None = None,
    prefix: Sequence[Entry] = (),
    said: dict[int, Reply | Exception] | None = None,
) -> tuple[bool, list[int], bytes]:
    """Run or continue; whether anything was written, the calls made, the journal's bytes."""
    assert isinstance(job.condition.backend, Simulated)
    journal, log = folder / f"{index:03d}.jsonl", CallLog(folder / "calls.jsonl")
    model = Counting(job.condition.backend, said)
    policy = replace(backends.make_retry_policy(job.calls), max_attempts=2, backoff_s=0.0)

    async def conducted() -> bool:
        gates = Admission(job.calls, Ledger(budget or Budget(), Prices().of))
        return await Replicate(
            condition=job.condition,
            index=index,
            journal=journal,
            caller=Caller(
                model, policy, Ticket(gates, model.provider, job.condition.identity, index), log
            ),
            retry_failed=retry_failed,
            observe=lambda entry: None,
            prefix=lambda: prefix,
        ).run()

    try:
        wrote = asyncio.run(conducted())
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
    assert read_transcript(tmp_path / "000.jsonl").status == "completed"
    lines = whole.splitlines(keepends=True)
    for kept in range(len(lines)):
        (tmp_path / "000.jsonl").write_bytes(b"".join(lines[:kept]) + lines[kept][:20])
        wrote, again, found = run(small, tmp_path)
        assert (wrote, found) == (True, whole)
        assert again == calls[max(kept - 1, 0) :]


PARTED = ("protocol=summary", "protocol.order=simultaneous", "protocol.step=0.05")


def test_a_moderated_replicate_and_its_branches_go_on_from_anywhere_in_the_same_bytes(
    job: Callable[..., Job], tmp_path: Path
) -> None:
    parted = job(*PARTED, "rounds=3", "roles.agents=3", "backend.noise=1", "seed=3")
    parted = replace(parted, journals=str(tmp_path))
    _, calls, whole = run(parted, tmp_path / parted.condition.identity)
    kinds = [entry["kind"] for entry in read_transcript(next(tmp_path.glob("*/000.jsonl"))).entries]
    assert kinds == [*["turn", "turn", "turn", "summary"] * 3, *["ballot"] * 3, "clerk", "end"]
    assert len(calls) == parted.condition.calls
    branch = branched(parted, 2)
    prefix = branch_prefix(branch, 0)
    assert [entry["kind"] for entry in prefix] == kinds[:8]
    _, own, branched_whole = run(branch, tmp_path / "b", prefix=prefix)
    assert len(own) == branch.condition.calls == 3 + 1 + 3 + 1
    for cut, kept_prefix, expected in (
        (tmp_path / parted.condition.identity, (), whole),
        (tmp_path / "b", prefix, branched_whole),
    ):
        lines = expected.splitlines(keepends=True)
        for kept in range(len(lines)):
            (cut / "000.jsonl").write_bytes(b"".join(lines[:kept]) + lines[kept][:20])
            again = branch if kept_prefix else parted
            assert run(again, cut, prefix=kept_prefix)[2] == expected


def test_a_base_without_the_last_rounds_summary_has_not_got_that_far(
    job: Callable[..., Job], tmp_path: Path
) -> None:
    parted = replace(job("protocol=summary", "rounds=3", "seed=3"), journals=str(tmp_path))
    _, _, whole = run(parted, tmp_path / parted.condition.identity)
    journal = tmp_path / parted.condition.identity / "000.jsonl"
    journal.write_bytes(b"".join(whole.splitlines(keepends=True)[: 1 + 5 + 1 + 5]))
    with pytest.raises(MissingBase, match="hasn't finished round 2"):
        branch_prefix(branched(parted, 2), 0)


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


def test_an_unreadable_answer_is_asked_for_again_where_that_is_wanted(
    job: Callable[..., Job], tmp_path: Path
) -> None:
    """What was written stays, other seeds ask again, and a kill in the middle changes nothing."""
    well = job("rounds=1")
    bad = Reply("I would rather not say.", 10, 5)
    _, first, before = run(well, tmp_path, said={2: bad, 3: bad})
    assert read_transcript(tmp_path / "000.jsonl").reason == "parse"
    assert run(well, tmp_path, retry_failed=True) == (False, [], before)
    wrote, second, whole = run(well, tmp_path, retry_failed="all")
    assert wrote
    assert whole.startswith(before)
    assert not set(first) & set(second)
    transcript = read_transcript(tmp_path / "000.jsonl")
    assert (transcript.status, transcript.asked_again) == ("completed", True)
    assert len(transcript.calls) == len(first) + len(second)
    assert [turn.seat for turn in transcript.turns] == [s.name for s in well.condition.seats]
    assert [call.entry for call in replay_calls(well.condition, transcript)] == standing_answers(
        tmp_path
    )
    assert run(well, tmp_path, retry_failed="all") == (False, [], whole)
    cut = whole.splitlines(keepends=True)[:8]
    (tmp_path / "000.jsonl").write_bytes(b"".join(cut))
    assert run(well, tmp_path, retry_failed="all")[2] == whole


def standing_answers(folder: Path) -> list[Entry]:
    """The answers of replicate 0, read without the code under test."""
    entries = read_transcript(folder / "000.jsonl").entries
    return [e for e in entries if "finish" in e and "problem" not in e]


# --- the call log ------------------------------------------------------------------------------


def test_every_attempt_has_a_line_of_its_own_in_the_call_log(
    job: Callable[..., Job], tmp_path: Path
) -> None:
    slow = CallError(Failure.SERVER, "503 of some kind", 503)
    run(job("rounds=1"), tmp_path, said={2: slow})
    lines = list(read_attempts(tmp_path / "calls.jsonl"))
    calls = read_transcript(tmp_path / "000.jsonl").calls
    assert len(lines) == len(calls) + 1
    told = [(line["seat"], line["attempt"], line["outcome"], line["status"]) for line in lines[:3]]
    first, second = (call["seat"] for call in calls[:2])
    assert told == [(first, 1, "ok", 200), (second, 1, "server", 503), (second, 2, "ok", 200)]
    assert [line["answered"] for line in lines[:3]] == [True, False, True]
    assert lines[1]["detail"] == "503 of some kind"
    assert lines[1]["latency_s"] >= 0
    assert len({line["id"] for line in lines}) == len(lines)
    assert {line["model"] for line in lines} == set(job().condition.models)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply("I am for A, as ever.", 9, 9), "parse"),
        (Reply("I'm sorry, but I can't help with that.", 9, 9), "refusal"),
        (Reply("", 9, 9), "empty"),
        (Reply("I am for", 9, 9, "length"), "length"),
        (Reply("", 9, 9, "content_filter"), "content_filter"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_that_cannot_be_read_is_logged_by_its_reason(
    job: Callable[..., Job], tmp_path: Path, reply: Reply, outcome: str
) -> None:
    run(job("rounds=1"), tmp_path, said={1: reply})
    first, second, *_ = read_attempts(tmp_path / "calls.jsonl")
    assert (first["outcome"], first["status"], first["answered"]) == (outcome, 200, True)
    assert (second["call"], second["outcome"]) == ("turn_repair", "ok")
    assert read_transcript(tmp_path / "000.jsonl").status == "completed"


# --- what stops a sweep ------------------------------------------------------------------------


@pytest.mark.parametrize("reason", [Failure.AUTH, Failure.BUDGET])
def test_a_key_or_an_account_that_is_refused_stops_all_and_leaves_the_replicate_pending(
    job: Callable[..., Job], tmp_path: Path, reason: Failure
) -> None:
    small = job("rounds=1")
    with pytest.raises(Stopped, match=r"model gpt-4\.1-mini: .*no more"):
        run(small, tmp_path, said={4: CallError(reason, "no more", 401)})
    begun = read_transcript(tmp_path / "000.jsonl")
    assert (begun.status, len(begun.calls)) == ("pending", 3)
    assert [line["outcome"] for line in read_attempts(tmp_path / "calls.jsonl")][-1] == reason
    assert RETRIABLE.count(reason) == 0


def test_a_budget_stops_a_replicate_between_two_calls_and_a_larger_one_goes_on(
    small: Job, tmp_path: Path
) -> None:
    _, calls, whole = run(small, tmp_path / "whole")
    with pytest.raises(BudgetSpent):
        run(small, tmp_path, budget=Budget(calls=4))
    assert len(read_transcript(tmp_path / "000.jsonl").calls) == 4
    _, again, found = run(small, tmp_path)
    assert found == whole
    assert again == calls[4:]


# --- branches ----------------------------------------------------------------------------------


def branched(job: Job, after: int) -> Job:
    return replace(job, condition=replace(job.condition, branch=Branch(1, after, 2)))


def test_a_branch_says_what_its_base_said_and_then_goes_on_by_itself(
    small: Job, tmp_path: Path
) -> None:
    run(small, tmp_path)
    turns = [e for e in read_entries(tmp_path / "000.jsonl") if e.get("round") == 1]
    branch = branched(small, 1)
    _, first, _ = run(branch, tmp_path / "b", prefix=turns)
    _, second, _ = run(branch, tmp_path / "b", index=1, prefix=turns)
    one, two = (read_transcript(tmp_path / "b" / f"00{index}.jsonl") for index in (0, 1))
    assert [{**e, "inherited": True} for e in turns] == list(one.entries[: len(turns)])
    assert one.entries[: len(turns)] == two.entries[: len(turns)]
    assert (one.status, two.status) == ("completed", "completed")
    assert not set(first) & set(second)  # draws of their own
    assert len(one.calls) == len(first)
    assert one.preferences().shape[0] == small.condition.rounds


def test_a_branch_that_was_cut_anywhere_ends_in_the_same_bytes(small: Job, tmp_path: Path) -> None:
    run(small, tmp_path)
    turns = [e for e in read_entries(tmp_path / "000.jsonl") if e.get("round") == 1]
    branch = branched(small, 1)
    _, _, whole = run(branch, tmp_path / "b", prefix=turns)
    lines = whole.splitlines(keepends=True)
    for kept in range(len(lines)):
        (tmp_path / "b" / "000.jsonl").write_bytes(b"".join(lines[:kept]) + lines[kept][:20])
        assert run(branch, tmp_path / "b", prefix=turns)[2] == whole


@pytest.mark.parametrize("ended", [True, False])
def test_a_branch_whose_base_has_changed_is_refused(
    small: Job, tmp_path: Path, ended: bool
) -> None:
    run(small, tmp_path)
    turns = [e for e in read_entries(tmp_path / "000.jsonl") if e.get("round") == 1]
    branch = branched(small, 1)
    _, _, whole = run(branch, tmp_path / "b", prefix=turns)
    if not ended:
        cut = b"".join(whole.splitlines(keepends=True)[:3])
        (tmp_path / "b" / "000.jsonl").write_bytes(cut)
    changed = [{**turns[0], "text": "Another beginning."}, *turns[1:]]
    with pytest.raises(DamagedJournal, match="its base has changed"):
        run(branch, tmp_path / "b", prefix=changed)


def test_an_error_of_the_code_fails_the_replicate_by_name_and_is_told(
    small: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(small, tmp_path, said={2: ZeroDivisionError("oops")})[0]
    end = read_transcript(tmp_path / "000.jsonl").end
    assert end is not None
    assert (end["status"], end["reason"]) == ("failed", "bug")
    assert "ZeroDivisionError: oops" in end["detail"]
    assert "Traceback" in capsys.readouterr().err


def test_a_model_that_is_not_there_stops_everything(small: Job, tmp_path: Path) -> None:
    missing = CallError(Failure.REQUEST, "no such model", 404)
    with pytest.raises(Stopped, match="no such model"):
        run(small, tmp_path, said={1: missing})
    assert read_transcript(tmp_path / "000.jsonl").status == "pending"
