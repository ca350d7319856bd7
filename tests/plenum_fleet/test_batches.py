"""Batches against a server that has both interfaces: what is sent, found again, and paid once."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.fault_server import (
    BatchFaults,
    FaultSettings,
    Latency,
    RunningServer,
    serve_in_thread,
)

from plenum.base.errors import UserError
from plenum.calls import backends
from plenum.calls.api.backend import ApiBackend
from plenum.calls.api.prices import Prices
from plenum.calls.call_errors import CallError
from plenum.calls.call_log import CallLog, read_attempts
from plenum.calls.chat import Chat, ChatModel, Message, Response
from plenum.committee.answer_forms import parse_turn, turn_schema
from plenum.design.job import Job
from plenum.design.settings import Calls, StatedPrice
from plenum.execution.executors import Deliberations, choose_executor
from plenum.records.failures import Failure
from plenum_fleet.batches.backend import BatchBackend
from plenum_fleet.batches.lockstep import Lockstep
from plenum_fleet.batches.openai import OpenAIBatches
from plenum_fleet.batches.records import begin, list_unfinished
from plenum_fleet.settings import Batch

MODELS = ("openai/house-model", "anthropic/claude-sonnet-4-5")
PRICES = {model: StatedPrice(100.0, 400.0, 10.0, 125.0) for model in MODELS}
CALLS = Calls(batch=True, backoff_s=0.01, timeout_s=5.0, max_attempts=4, max_wait_s=2.0)
PROMPT = (
    "## Your turn\nAnswer in at most 110 words. End with: "
    "STATE: pref=[a,b,c]; conf=0-100; tags=[...]"
)

Serve = Callable[..., RunningServer]


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", "sk-of-these-tests")


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts a server with these faults of batches."""
    contexts = []

    def started(**faults: Any) -> RunningServer:
        settings = FaultSettings(
            port=0,
            answers="canned",
            latency=Latency(0.0),
            key="sk-of-these-tests",
            batches=BatchFaults(**faults),
        )
        contexts.append(serve_in_thread(settings))
        return contexts[-1].__enter__()

    yield started
    for context in contexts:
        context.__exit__(None, None, None)


def chat(model: str, number: int, session: str = "c0-0") -> Chat:
    messages = (Message("system", "A seat."), Message("user", f"Case {number}.\n{PROMPT}"))
    return Chat(model, messages, 0.0, 400, seed=number, session=session)


class Sweep:
    """Calls that are made together, as replicates make them; a process of its own."""

    def __init__(
        self, server: RunningServer, folder: Path, calls: Calls = CALLS, **settings: float
    ) -> None:
        self.lockstep = Lockstep(True)
        self.said: list[str] = []
        self.lockstep.say = self.said.append
        root = server.url.removesuffix("/v1")
        bases = {"openai": server.url, "anthropic": root}
        api = ApiBackend(bases, False, calls, Prices(PRICES))
        batch = Batch(**{"poll_s": 0.02, **settings})
        self.backend: ChatModel = BatchBackend(api, calls, batch, folder, self.lockstep)

    async def together(
        self, chats: Sequence[Chat], attempts: int = 1
    ) -> list[Response | CallError]:
        """The results of calls that are made at once, each tried so often at most."""
        return await asyncio.gather(*(self._call(each, attempts) for each in chats))

    async def _call(self, chat: Chat, attempts: int) -> Response | CallError:
        with self.lockstep.at_work():
            for number in range(1, attempts + 1):
                try:
                    return await self.backend.attempt(chat, number)
                except CallError as error:
                    last = error
                    if not error.failure.transient:
                        break
        return last


def run(work: Callable[[], Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work(), 60))


def batches_of(server: RunningServer) -> list[Any]:
    return [batch for side in server.server.sides for batch in side.all.values()]


def lines(folder: Path) -> list[list[str]]:
    """The kinds of lines in the journals of batches."""
    return [
        [json.loads(line)["kind"] for line in file.read_text().splitlines()]
        for file in sorted(folder.glob("b*.jsonl"))
    ]


@pytest.mark.parametrize("model", MODELS)
def test_calls_go_out_together_for_half_the_price_and_are_answered_as_live_ones(
    model: str, serve: Serve, tmp_path: Path
) -> None:
    server = serve()

    async def work() -> tuple[list[Any], list[Any]]:
        sweep = Sweep(server, tmp_path)
        chats = [chat(model, number) for number in range(6)]
        batched = await sweep.together(chats)
        for each in chats:
            sweep.lockstep.send_live(each)
        live = await sweep.together(chats)
        await sweep.together([chat(model, 9)])
        await sweep.backend.close()
        return batched, live

    batched, live = run(work)
    assert [len(batch.items) for batch in batches_of(server)] == [6, 1]
    for cheap, dear in zip(batched, live, strict=True):
        assert cheap.reply.text == dear.reply.text
        assert cheap.reply.finish == dear.reply.finish == "stop"
        assert cheap.reply.cost == pytest.approx(dear.reply.cost / 2)
        assert cheap.reply.cost > 0
    assert lines(tmp_path) == [["batch", "submitted", "ended", "collected"]] * 2
    assert list_unfinished(tmp_path) == []


def test_what_returns_is_marked_in_batches_too_and_a_cache_costs_half(
    serve: Serve, tmp_path: Path
) -> None:
    server, model = serve(), MODELS[1]
    case = "The case. " * 500
    shared = Message("user", f"{case}\n{PROMPT}", shared=len(case))
    rules = Message("system", "A seat.")
    chats = [replace(chat(model, n), messages=(rules, shared)) for n in range(3)]

    async def work() -> list[Any]:
        sweep = Sweep(server, tmp_path)
        results = await sweep.together(chats)
        await sweep.backend.close()
        return results

    results = run(work)
    (batch,) = batches_of(server)
    for item in batch.items:
        (message,) = json.loads(item.body)["messages"]
        marked = message["content"][0]
        assert (marked["text"], marked["cache_control"]) == (case, {"type": "ephemeral"})
    assert sorted((r.written > 0, r.cached > 0) for r in results) == [
        (False, True),
        (False, True),
        (True, False),
    ]
    for result in results:
        tokens = result.reply.tokens_in + 0.25 * result.written - 0.9 * result.cached
        listed = tokens * 100e-6 + result.reply.tokens_out * 400e-6
        assert result.reply.cost == pytest.approx(listed / 2)


def test_a_batch_waits_for_whoever_is_at_work(serve: Serve, tmp_path: Path) -> None:
    server = serve()

    async def late(sweep: Sweep) -> None:
        with sweep.lockstep.at_work():
            await asyncio.sleep(0.2)
            await sweep.backend.attempt(chat(MODELS[0], 7), 1)

    async def work() -> None:
        sweep = Sweep(server, tmp_path)
        chats = [chat(MODELS[0], number) for number in range(3)]
        await asyncio.gather(sweep.together(chats), late(sweep))
        await sweep.backend.close()

    run(work)
    assert [len(batch.items) for batch in batches_of(server)] == [4]


@pytest.mark.parametrize("model", MODELS)
def test_what_fails_goes_in_the_next_batch_and_is_paid_once(
    model: str, serve: Serve, tmp_path: Path
) -> None:
    server = serve(errored=0.4)

    async def work() -> tuple[list[Any], list[Any]]:
        sweep = Sweep(server, tmp_path)
        chats = [chat(model, number) for number in range(20)]
        first = await sweep.together(chats)
        again = [each for each, got in zip(chats, first, strict=True) if not got_answer(got)]
        second = await sweep.together(again, attempts=12)
        await sweep.backend.close()
        return first, second

    first, second = run(work)
    failed = [result for result in first if isinstance(result, CallError)]
    assert {(error.failure, error.status) for error in failed} == {(Failure.SERVER, 500)}
    assert 0 < len(failed) < 20
    assert all(map(got_answer, second))
    stats = server.stats()
    assert (stats["paid"], stats["paid_twice"]) == (20, 0)


def got_answer(result: object) -> bool:
    return isinstance(result, Response)


@pytest.mark.parametrize("behind_s", [0.0, 3600.0])
@pytest.mark.parametrize("noted", [True, False])
@pytest.mark.parametrize("model", MODELS)
def test_a_killed_process_leaves_a_batch_that_the_next_one_takes_up(
    model: str, noted: bool, behind_s: float, serve: Serve, tmp_path: Path
) -> None:
    """Killed after the note of the provider's id, or before; its clock may be an hour behind."""
    server = serve(takes_s=0.2, behind_s=behind_s)
    chats = [chat(model, number) for number in range(5)]

    async def first() -> None:
        sweep = Sweep(server, tmp_path)
        task = asyncio.create_task(sweep.together(chats))
        while not sweep.said:
            await asyncio.sleep(0.01)
        task.cancel()
        await sweep.backend.close()

    run(first)
    (file,) = tmp_path.glob("b*.jsonl")
    if not noted:
        file.write_text(file.read_text().splitlines(keepends=True)[0])
    begin(tmp_path, model, "http://elsewhere/v1", ("0-1-0",))  # another endpoint's

    async def second() -> list[Any]:
        sweep = Sweep(server, tmp_path)
        results = await sweep.together([*chats, chat(model, 5)])
        await sweep.backend.close()
        return results

    assert all(map(got_answer, run(second)))
    assert [len(batch.items) for batch in batches_of(server)] == [5, 1]
    assert (server.stats()["paid"], server.stats()["paid_twice"]) == (6, 0)


@pytest.mark.parametrize("model", MODELS)
def test_a_batch_that_never_came_through_is_sent_anew(
    model: str, serve: Serve, tmp_path: Path
) -> None:
    server = serve()
    sent = chat(model, 0)

    async def work() -> tuple[list[Any], str]:
        sweep = Sweep(server, tmp_path)
        await sweep.together([sent])
        await sweep.backend.close()
        (file,) = tmp_path.glob("b*.jsonl")
        head = json.loads(file.read_text().splitlines()[0])
        file.unlink()
        for side in server.server.sides:
            side.all.clear()
        begin(tmp_path, model, head["base"], tuple(head["items"]))  # killed before it was sent
        sweep = Sweep(server, tmp_path)
        results = await sweep.together([sent])
        await sweep.backend.close()
        return results, head["base"]

    results, _ = run(work)
    assert got_answer(results[0])
    assert ["batch", "abandoned"] in lines(tmp_path)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("fault", ["before", "after"])
def test_submitting_that_ends_in_an_error_is_looked_into_before_it_is_repeated(
    fault: str, model: str, serve: Serve, tmp_path: Path
) -> None:
    server = serve(**{fault: 0.5})

    async def work() -> None:
        sweep = Sweep(server, tmp_path)
        for turn in range(4):
            await sweep.together([chat(model, 10 * turn + n) for n in range(3)], attempts=4)
        await sweep.backend.close()

    run(work)
    assert [len(batch.items) for batch in batches_of(server)] == [3] * 4
    assert (server.stats()["paid"], server.stats()["paid_twice"]) == (12, 0)


@pytest.mark.parametrize("model", MODELS)
def test_stragglers_are_cancelled_and_go_out_at_once(
    model: str, serve: Serve, tmp_path: Path
) -> None:
    server = serve(takes_s=2.0)

    async def work() -> tuple[list[Any], list[str]]:
        sweep = Sweep(server, tmp_path, wait_s=0.8)
        results = await sweep.together([chat(model, number) for number in range(8)], attempts=2)
        await sweep.backend.close()
        return results, sweep.said

    results, said = run(work)
    assert all(map(got_answer, results))
    costs = sorted(result.reply.cost for result in results)
    cheap = [cost for cost in costs if cost < 1.5 * costs[0]]
    (batch,) = batches_of(server)
    answered = sum(not isinstance(result, str) for result in batch.results.values())
    assert 0 < answered < 8
    assert len(cheap) == answered
    assert costs[-1] == pytest.approx(2 * costs[0], rel=0.05)
    assert any("wait longer than batch.wait_s=0.8: cancelled" in line for line in said)
    assert any(f"{8 - answered} go out at once, at the full price" in line for line in said)
    assert (server.stats()["paid"], server.stats()["paid_twice"]) == (8, 0)


@pytest.mark.parametrize("model", MODELS)
def test_what_a_provider_gets_wrong_costs_time_alone(
    model: str, serve: Serve, tmp_path: Path
) -> None:
    """Refused submits, torn and nonsensical looks, results that come twice and out of order."""
    server = serve(errored=0.1, busy=0.2, before=0.1, after=0.1, garbled=0.4, takes_s=0.02)

    async def work() -> list[Any]:
        sweep = Sweep(server, tmp_path)
        chats = [[chat(model, 10 * turn + n) for n in range(8)] for turn in range(6)]
        results = [await sweep.together(turn, attempts=4) for turn in chats]
        await sweep.backend.close()
        return [result for turn in results for result in turn]

    results = run(work)
    assert all(map(got_answer, results))
    assert (server.stats()["paid"], server.stats()["paid_twice"]) == (48, 0)
    assert {tuple(kinds[2:]) for kinds in lines(tmp_path)} == {("ended", "collected")}


@pytest.mark.parametrize("model", MODELS)
def test_a_batch_that_never_ends_leaves_its_calls_pending_and_is_asked_again(
    model: str, serve: Serve, tmp_path: Path
) -> None:
    server = serve(stuck=1.0)

    async def work() -> list[Any]:
        sweep = Sweep(server, tmp_path, calls=replace(CALLS, max_wait_s=0.3), wait_s=0.2)
        results = await sweep.together([chat(model, n) for n in range(3)], attempts=4)
        await sweep.backend.close()
        return results

    for error in run(work):
        assert error.failure == Failure.INTERRUPTED
        assert "is still out: cancelled, and not ended within calls.max_wait_s=0.3" in error.detail
    (batch,) = batches_of(server)
    batch.stuck = False
    results = run(work)
    assert all(map(got_answer, results))
    assert server.stats()["paid_twice"] == 0
    assert len(batches_of(server)) == 1 or server.stats()["paid"] == 3


@pytest.mark.parametrize("model", MODELS)
def test_an_answer_that_the_results_lack_is_asked_for_again_after_a_wait_and_counted(
    model: str, serve: Serve, tmp_path: Path
) -> None:
    server = serve(lost=0.3)

    async def work(attempts: int) -> list[Any]:
        sweep = Sweep(server, tmp_path, calls=replace(CALLS, max_wait_s=0.2))
        results = await sweep.together([chat(model, n) for n in range(12)], attempts)
        await sweep.backend.close()
        return results

    errors = [result for result in run(lambda: work(1)) if isinstance(result, CallError)]
    assert 0 < len(errors) < 12
    assert {(error.failure, error.status) for error in errors} == {(Failure.SERVER, 200)}
    assert all(map(got_answer, run(lambda: work(9))))


def test_a_provider_that_takes_no_batch_is_left_alone_after_a_wait(
    serve: Serve, tmp_path: Path
) -> None:
    server = serve(busy=1.0)

    async def work() -> list[Any]:
        sweep = Sweep(server, tmp_path, calls=replace(CALLS, max_wait_s=0.2))
        results = await sweep.together([chat(MODELS[0], n) for n in range(3)], attempts=4)
        await sweep.backend.close()
        return results

    for error in run(work):
        assert (error.failure, error.reached) == (Failure.UNREACHABLE, True)
        assert "no batch was taken within calls.max_wait_s=0.2: Too many batches" in error.detail
    assert lines(tmp_path) == [["batch", "abandoned"]]


def test_batches_of_one_size_without_names_are_told_apart_by_their_results(
    serve: Serve, tmp_path: Path
) -> None:
    """Two of Anthropic's models, killed when both were submitted and neither was noted."""
    server = serve(takes_s=0.2)
    models = (MODELS[1], "anthropic/claude-haiku-4-5")
    chats = [chat(model, number) for model in models for number in range(3)]

    async def work(sweep: Sweep, until: Callable[[], bool] | None = None) -> list[Any]:
        task = asyncio.create_task(sweep.together(chats))
        while until and not until():
            await asyncio.sleep(0.01)
        if until:
            task.cancel()
        results = [] if until else await task
        await sweep.backend.close()
        return results

    async def first() -> list[Any]:
        sweep = Sweep(server, tmp_path)
        return await work(sweep, lambda: len(sweep.said) == 2)

    async def second() -> list[Any]:
        return await work(Sweep(server, tmp_path, wait_s=0.1))

    run(first)
    for file in tmp_path.glob("b*.jsonl"):
        file.write_text(file.read_text().splitlines(keepends=True)[0])
    results = run(second)
    assert all(map(got_answer, results))
    assert [len(batch.items) for batch in batches_of(server)] == [3, 3]
    assert (server.stats()["paid"], server.stats()["paid_twice"]) == (6, 0)


def test_what_expires_goes_in_the_next_batch(serve: Serve, tmp_path: Path) -> None:
    server = serve(slow=0.7, slow_s=0.6, window_s=0.3)

    async def work() -> list[Any]:
        sweep = Sweep(server, tmp_path)
        results = await sweep.together([chat(MODELS[0], n) for n in range(4)], attempts=20)
        await sweep.backend.close()
        return results

    assert all(map(got_answer, run(work)))
    sizes = [len(batch.items) for batch in batches_of(server)]
    assert sizes[0] == 4
    assert sizes[1] < 4
    assert (server.stats()["paid"], server.stats()["paid_twice"]) == (4, 0)


def test_batches_keep_within_what_a_provider_takes(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its limits of a batch, and by what it tells of the account's tokens."""
    server = serve(most_items=4)
    monkeypatch.setattr(OpenAIBatches, "most_items", 20)

    async def work() -> list[Any]:
        sweep = Sweep(server, tmp_path)
        results = await sweep.together([chat(MODELS[0], n) for n in range(30)])
        await sweep.backend.close()
        return results

    assert all(map(got_answer, run(work)))
    taken = [len(batch.items) for batch in batches_of(server) if not batch.refused]
    assert sum(taken) == 30
    assert max(taken) <= 4
    assert (server.stats()["paid"], server.stats()["paid_twice"]) == (30, 0)


def test_a_refused_key_and_a_batch_that_is_gone(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(takes_s=30.0)

    async def gone() -> None:
        sweep = Sweep(server, tmp_path)
        task = asyncio.create_task(sweep.together([chat(MODELS[0], 0)]))
        while not sweep.said:
            await asyncio.sleep(0.01)
        task.cancel()
        await sweep.backend.close()
        server.server.sides[0].all.clear()
        sweep = Sweep(server, tmp_path)
        task = asyncio.create_task(sweep.together([chat(MODELS[0], 0)]))
        while not any("submitted" in line for line in sweep.said):
            await asyncio.sleep(0.01)
        task.cancel()
        await sweep.backend.close()

    run(gone)
    assert len(batches_of(server)) == 1
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another-one")

    async def refused() -> list[Any]:
        sweep = Sweep(server, tmp_path / "fresh")
        results = await sweep.together([chat(MODELS[0], 1)], attempts=3)
        await sweep.backend.close()
        return results

    (error,) = run(refused)
    assert (error.failure, error.status) == (Failure.AUTH, 401)
    assert "sk-another-one" not in "".join(f.read_text() for f in tmp_path.rglob("b*.jsonl"))


def test_who_has_no_batches_is_refused_in_one_line(job: Callable[..., Job]) -> None:
    def refuse(*overrides: str) -> None:
        jobs = [job("calls.batch=true", *overrides)]
        choose_executor(jobs).check(jobs)

    with pytest.raises(UserError, match=r"^calls.batch: only deliberations and worlds"):
        refuse("backend=simulated")
    with pytest.raises(UserError, match=r"^calls.batch: only deliberations and worlds"):
        backends.require_live_calls(CALLS)  # of what plays no replicates
    for base, why in (
        (
            "{hosted_vllm: 'http://127.0.0.1:1/v1'}",
            "hosted_vllm has no .* openai and anthropic have",
        ),
        ("{openai: ['http://a/v1', 'http://b/v1']}", "backend.api_base.openai has 2 URLs, and a "),
    ):
        model = f"{re.findall(r'[a-z_]+', base)[0]}/m"
        with pytest.raises(UserError, match=f"^calls.batch: {why}"):
            refuse(
                "backend=api",
                f"backend.api_base={base}",
                "model=gpt-4.1-mini",
                f"model.default={model}",
            )
    with pytest.raises(UserError, match=r"^calls.batch: .* in one process, not with"):
        Elsewhere().check([job("calls.batch=true", "backend=api")])


class Elsewhere(Deliberations):
    """Replicates that other processes play."""

    here = False


def test_an_attempt_in_a_batch_is_one_however_many_processes_wait_for_it(tmp_path: Path) -> None:
    """Those of live calls are several."""
    line = {"replicate": 0, "call": "turn", "round": 1, "seat": "a", "model": "m", "status": None}
    line |= {"answered": False, "latency_s": 0.0, "tokens_at_most": 9}
    for name, more in (("live", {}), ("batched", {"batch": True})):
        with CallLog(tmp_path / name) as log:
            log.note_sent({**line, **more, "id": "0a-1"})
            log.note_sent({**line, **more, "id": "0a-2"})
            log.note_sent({**line, **more, "id": "0b-1"})
            log.append({**line, **more, "id": "0a-1", "outcome": "ok", "answered": True})
    assert [a["id"] for a in read_attempts(tmp_path / "live")] == ["0a-1", "0a-2", "0b-1"]
    assert [a["id"] for a in read_attempts(tmp_path / "batched")] == ["0a-1", "0b-1"]


SCHEMA = turn_schema(("A", "B", "C"))


@pytest.mark.parametrize("model", [*MODELS, "anthropic/claude-3-5-haiku-20241022"])
def test_batches_carry_the_schema_of_a_constrained_answer(
    model: str, serve: Serve, tmp_path: Path
) -> None:
    server = serve()

    async def work() -> list[Any]:
        sweep = Sweep(server, tmp_path)
        answers = await sweep.together([replace(chat(model, 1), answer=SCHEMA)])
        await sweep.backend.close()
        return answers

    (answer,) = run(work)
    parse_turn(answer.reply.text, ("A", "B", "C"))
    assert answer.reply.finish == "stop"
    ((item,),) = [batch.items for batch in batches_of(server)]
    sent = json.loads(item.body)
    assert "json_mode" not in sent
    assert "output_format" not in sent  # it needs a header, which an item doesn't have
