"""Batches of two machines on one bucket: each call is submitted by one of them."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import s3_server
from support.fault_server import (
    BatchFaults,
    FaultSettings,
    Latency,
    RunningServer,
    serve_in_thread,
)

from plenum.design import Calls
from plenum.models import CallError, Chat, ChatModel, Message, Response
from plenum.models.api.backend import ApiBackend
from plenum.models.api.prices import Prices
from plenum.records import Journal, TakenUp
from plenum_fleet import Batch
from plenum_fleet.batches import sender as batch_sending
from plenum_fleet.batches.backend import BatchBackend
from plenum_fleet.batches.lockstep import Lockstep
from plenum_fleet.buckets import storage
from plenum_fleet.buckets.storage import Storage

MODEL, KEY = "openai/house-model", "sk-of-these-tests"
CALLS = Calls(batch=True, backoff_s=0.01, timeout_s=5.0, max_attempts=4, max_wait_s=2.0)
ALL = range(4)
PROMPT = (
    "## Your turn\nAnswer in at most 110 words. End with: "
    "STATE: pref=[a,b,c]; conf=0-100; tags=[...]"
)


@pytest.fixture
def server() -> Iterator[RunningServer]:
    settings = FaultSettings(
        port=0, answers="canned", latency=Latency(0.0), key=KEY, batches=BatchFaults(takes_s=0.5)
    )
    with serve_in_thread(settings) as running:
        yield running


class Machine:
    """A machine whose process plays replicates in batches."""

    def __init__(self, server: RunningServer, bucket: Storage, stack: ExitStack) -> None:
        self.lockstep, self.bucket, self._stack = Lockstep(True), bucket, stack
        self.said: list[str] = []
        self.lockstep.say = self.said.append
        self.batches = bucket.mirror / storage.BATCHES_FOLDER
        api = ApiBackend({"openai": server.url}, False, CALLS, Prices({}))
        batch = Batch(poll_s=0.02)
        self.backend: ChatModel = BatchBackend(api, CALLS, batch, self.batches, self.lockstep)

    async def take_up(self, *replicates: int) -> None:
        self.bucket.fetch(self.bucket.mirror / "c0")
        for number in replicates:
            head = {"condition": "c0", "replicate": number}
            path = storage.journal_path(self.bucket.mirror, f"c0-{number}")
            await self._stack.enter_context(Journal(path, head, self.bucket)).hand_over()

    async def call(self, *replicates: int) -> list[Response | BaseException]:
        """The first calls of some replicates, made together."""
        made = (self._call(number) for number in replicates)
        return await asyncio.gather(*made, return_exceptions=True)

    async def _call(self, number: int) -> Response:
        said = (Message("system", "A seat."), Message("user", f"Case {number}.\n{PROMPT}"))
        with self.lockstep.at_work():
            chat = Chat(MODEL, said, 0.0, 400, seed=number, session=f"c0-{number}")
            return await self.backend.attempt(chat, 1)


@pytest.fixture
def machines(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[Machine]]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with s3_server.serving() as s3, ExitStack() as stack:
        for name, value in s3.environment.items():
            monkeypatch.setenv(name, value)
        buckets = {}
        for name in ("a", "b"):
            monkeypatch.setattr(storage, "MIRRORS", tmp_path / name)
            buckets[name] = Storage("s3://plenum/x", durable=True)
        monkeypatch.setattr(storage, "_opened", buckets)
        yield [Machine(server, bucket, stack) for bucket in buckets.values()]


def run(work: Any, machines: list[Machine]) -> None:
    async def closed() -> None:
        try:
            await asyncio.wait_for(work(), 120)
        finally:
            for machine in machines:
                await machine.backend.close()

    asyncio.run(closed())


def paid(server: RunningServer) -> tuple[int, int]:
    stats = server.stats()
    return stats["paid"], stats["paid_twice"]


def answered(results: list[Response | BaseException]) -> list[bool]:
    assert all(isinstance(each, Response | TakenUp) for each in results)
    return [isinstance(each, Response) for each in results]


def test_calls_of_replicates_that_another_machine_took_up_are_left_to_it(
    server: RunningServer, machines: list[Machine]
) -> None:
    a, b = machines

    async def work() -> None:
        await a.take_up(*ALL)
        await b.take_up(1, 2)
        assert answered(await a.call(*ALL)) == [True, False, False, True]
        assert answered(await b.call(1, 2)) == [True, True]

    run(work, machines)
    assert paid(server) == (4, 0)


def test_calls_that_are_out_when_another_machine_takes_over_are_waited_for_there(
    server: RunningServer, machines: list[Machine]
) -> None:
    a, b = machines

    async def work() -> None:
        await a.take_up(*ALL)
        first = asyncio.create_task(a.call(*ALL))
        while not any("submitted" in line for line in a.said):
            await asyncio.sleep(0.01)
        a.bucket.flush()
        await b.take_up(1, 2)
        assert answered(await b.call(1, 2)) == [True, True]
        assert answered(await first) == [True] * 4

    run(work, machines)
    assert paid(server) == (4, 0)


@pytest.mark.parametrize("comes", [True, False])
def test_what_another_machine_may_be_submitting_is_waited_for(
    server: RunningServer, machines: list[Machine], monkeypatch: pytest.MonkeyPatch, comes: bool
) -> None:
    a, b = machines
    going, may_go = asyncio.Event(), asyncio.Event()
    submit = batch_sending.Sender._in_time

    async def held(self: Any, sent: Any, submitting: Any) -> str:
        going.set()
        try:
            await may_go.wait()
        except asyncio.CancelledError:
            submitting.close()
            raise
        return await submit(self, sent, submitting)

    async def work() -> None:
        await a.take_up(*ALL)
        monkeypatch.setattr(batch_sending.Sender, "_in_time", held)
        first = asyncio.create_task(a.call(*ALL))
        await going.wait()
        monkeypatch.setattr(batch_sending.Sender, "_in_time", submit)
        monkeypatch.setattr(batch_sending, "_SUBMIT_S", 600.0 if comes else 3.0)
        await b.take_up(*ALL)
        second = asyncio.create_task(b.call(*ALL))
        while not any("another machine may be submitting" in line for line in b.said):
            await asyncio.sleep(0.01)
        if comes:
            may_go.set()
        assert answered(await second) == [True] * 4
        first.cancel()

    run(work, machines)
    assert paid(server) == (4, 0)


def test_a_call_goes_out_live_only_where_nobody_has_taken_the_replicate_up(
    server: RunningServer, machines: list[Machine]
) -> None:
    a, b = machines

    async def work() -> None:
        await a.take_up(0)
        await b.take_up(0)
        for machine in machines:
            machine.lockstep.send_live(Chat(MODEL, (), 0.0, 400, seed=0, session="c0-0"))
        assert answered(await a.call(0)) == [False]
        (live,) = await b.call(0)
        assert not isinstance(live, CallError | TakenUp)

    run(work, machines)
    assert paid(server) == (1, 0)
