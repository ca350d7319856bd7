"""Tickets of workers: what they ask for in batches is decided by the sweep's own tickets."""

import asyncio
from collections.abc import Callable

import pytest
import virtual_clock

from plenum.calls.admission import Admission, Ticket
from plenum.calls.api.prices import Price
from plenum.calls.budget import BudgetSpent, Ledger, compute_demand
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Attempt, Chat, Message, Reply, Response
from plenum.calls.limits import ProviderUnavailable
from plenum.design.settings import Budget, Calls
from plenum.records.failures import Failure
from plenum.records.usage import Usage
from plenum_fleet.remote.outbox import Outbox
from plenum_fleet.remote.tickets import ForwardingTicket, LeaseTicket

CHAT = Chat("m", (Message("user", "x" * 300),), 0.0, max_tokens=100, seed=1)
GOOD = Response(Reply("fine", 20, 10, cost=30.0))
ENDED = Attempt(1, "ok", 200, 0.1, 0.0)


class Wire:
    """A worker's tickets and the sweep's, joined by batches that are carried over by hand."""

    def __init__(self, budget: Budget, leases: int, **calls: int | bool) -> None:
        self.admission = Admission(Calls(**calls), Ledger(budget, lambda _: Price(1.0, 1.0, 1.0)))
        self.worker, self.sweep = Outbox(), Outbox()
        there = Admission(Calls(), Ledger(Budget(), lambda _: None))
        provider = "openai".format
        self.tickets = [
            ForwardingTicket(there, provider, "c", lease, lease, self.worker)
            for lease in range(leases)
        ]
        self.admitted = [
            LeaseTicket(Ticket(self.admission, provider, "c", lease), self._answer(lease))
            for lease in range(leases)
        ]
        self.batches: list[int] = []

    def _answer(self, lease: int) -> Callable[[int, Exception | None], None]:
        return lambda request, error: self.sweep.put(lease, "answer", error, request=request)

    async def carry(self) -> None:
        """Carry batches both ways until cancelled."""
        while True:
            messages = await self.worker.take()
            self.batches.append(len(messages))
            for lease, request, method, arguments in messages:
                getattr(self.admitted[lease], method)(request, *arguments)
            for lease, request, _, arguments in await self.sweep.take():
                self.tickets[lease].take_answer(request, *arguments)


def test_no_more_calls_are_under_way_than_the_sweep_allows_and_requests_travel_together() -> None:
    async def scene() -> tuple[int, int, Usage]:
        wire = Wire(Budget(calls=1000), 50, max_concurrency=7, adapt=False)
        carrying = asyncio.create_task(wire.carry())

        async def one(ticket: ForwardingTicket) -> None:
            for _ in range(3):
                await ticket.enter(CHAT)
                await asyncio.sleep(1)
                ticket.leave(CHAT, ENDED, GOOD, 0.0)

        await asyncio.gather(*map(one, wire.tickets))
        await asyncio.sleep(1)
        carrying.cancel()
        return wire.admission.limiter("openai").peak, max(wire.batches), wire.admission.ledger.spent

    peak, largest, spent = virtual_clock.run(scene())
    assert peak == 7
    assert largest >= 50  # all that wait ask in one message
    assert spent == Usage(150, 150 * 20, 150 * 10, 150 * 30.0)


def test_a_refusal_reaches_the_worker_as_what_it_is() -> None:
    async def scene() -> None:
        wire = Wire(Budget(calls=1), 2)
        carrying = asyncio.create_task(wire.carry())
        await wire.tickets[0].enter(CHAT)
        wire.tickets[0].leave(CHAT, ENDED, GOOD, 0.0)
        with pytest.raises(BudgetSpent, match=r"budget.calls=1 is reached"):
            await wire.tickets[1].enter(CHAT)
        gone = CallError(Failure.SERVER, "no route", reached=False)
        with pytest.raises(ProviderUnavailable) as refused:
            await wire.tickets[1].give_up("m", gone, 3)
        assert refused.value.failure is Failure.UNREACHABLE
        carrying.cancel()

    virtual_clock.run(scene())


def test_a_worker_that_dies_gives_its_permit_back_and_its_call_is_booked_at_most() -> None:
    async def scene() -> None:
        wire = Wire(Budget(calls=1000), 3, max_concurrency=1, adapt=False)
        carrying = asyncio.create_task(wire.carry())
        await wire.tickets[0].enter(CHAT)
        waiting = [asyncio.create_task(wire.tickets[n].enter(CHAT)) for n in (1, 2)]
        await asyncio.sleep(1)
        wire.admitted[1].close()  # it waited, and needs nothing any more
        wire.admitted[0].close()
        await asyncio.wait_for(waiting[1], 5)
        assert wire.admission.limiter("openai").in_flight == 1
        most = wire.admission.ledger.price_of(compute_demand(CHAT))
        assert wire.admission.ledger.spent == most
        waiting[0].cancel()
        carrying.cancel()

    virtual_clock.run(scene())
