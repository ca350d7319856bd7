"""Permits a second that the sweep's tickets give to two workers on Ray."""

import asyncio
import time
from typing import Any

from plenum.design import Budget, Calls
from plenum.execution import Admission, Demand, Ledger, Ticket
from plenum.models import Attempt, Reply
from plenum_fleet import Workers
from plenum_fleet.remote import cluster
from plenum_fleet.remote.outbox import Message, Outbox
from plenum_fleet.remote.tickets import ForwardingTicket, LeaseTicket


def measure(quick: bool) -> dict[str, Any]:
    """Permits a second through the sweep's own tickets, for calls of two workers on Ray.

    Each worker has 400 replicates that do nothing but enter and leave, under a budget and a limit
    a minute that neither binds: every permit is asked for, granted, taken and given back.
    """
    each = 50 if quick else 250
    return asyncio.run(_permits(workers=2, replicates=400, each=each))


async def _permits(workers: int, replicates: int, each: int) -> dict[str, Any]:
    import ray

    await cluster.join(None, Workers(number=workers))
    try:
        budget = Budget(calls=10**9)
        limits = Calls(10**6, 10**6, rpm={"openai": 10**9})
        admission = Admission(limits, Ledger(budget, lambda model: None))
        asking: Any = ray.remote(Asking)
        actors: list[Any] = [asking.options(num_cpus=1).remote() for _ in range(workers)]
        await asyncio.gather(*(actor.warm.remote() for actor in actors))
        began, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(_serve(actor, admission, replicates, each) for actor in actors))
        seconds, cpu_s = time.perf_counter() - began, time.process_time() - cpu
    finally:
        await cluster.leave()
    total = workers * replicates * each
    assert admission.ledger.spent.calls == total
    return {"permits_per_s": round(total / seconds), "permit_cpu_us": round(cpu_s / total * 1e6, 1)}


async def _serve(actor: Any, admission: Admission, replicates: int, each: int) -> None:
    """The sweep's side of one worker, as ``ray_deliberations.py`` has it."""
    outbox = Outbox()
    provider = "openai".format

    def held(lease: int) -> LeaseTicket:
        def answer(request: int, error: Exception | None) -> None:
            outbox.put(lease, "answer", error, request=request)

        return LeaseTicket(Ticket(admission, provider, "c", lease), answer)

    leases = {lease: held(lease) for lease in range(replicates)}
    ended = actor.play.remote(replicates, each)

    async def talk() -> None:
        while True:
            if messages := await outbox.take():
                await actor.send.remote(messages)

    talking = asyncio.create_task(talk())
    left = replicates * each
    while left:
        for lease, request, method, arguments in await actor.receive.remote():
            getattr(leases[lease], method)(request, *arguments)
            left -= method == "release"
    await ended
    talking.cancel()


class Asking:
    """A worker whose replicates do nothing but ask for permits."""

    def __init__(self) -> None:
        self._outbox = Outbox()
        self._tickets: dict[int, ForwardingTicket] = {}

    async def warm(self) -> None:
        """Be there."""

    async def play(self, replicates: int, each: int) -> None:
        """Ask for so many permits in each of so many replicates at once."""
        admission = Admission(Calls(), Ledger(Budget(), lambda model: None))
        self._tickets = {
            lease: ForwardingTicket(admission, "openai".format, "c", lease, lease, self._outbox)
            for lease in range(replicates)
        }
        await asyncio.gather(*(self._calls(ticket, each) for ticket in self._tickets.values()))

    async def _calls(self, ticket: ForwardingTicket, each: int) -> None:
        demand, reply = Demand("openai/m", 1000, 400), Reply("", 900, 80)
        attempt = Attempt(1, "ok", 200, 0.5, 0.0)
        for _ in range(each):
            await ticket.admit(demand)
            ticket.release(attempt, reply, 0.0)

    async def receive(self) -> list[Message]:
        """As a worker's."""
        return await self._outbox.take()

    async def send(self, messages: list[Message]) -> None:
        """As a worker's."""
        for lease, request, _, arguments in messages:
            self._tickets[lease].take_answer(request, *arguments)
