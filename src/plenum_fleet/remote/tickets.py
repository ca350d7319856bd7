"""Admission across processes: a worker's tickets ask, the sweep's own tickets admit."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from plenum.calls.admission import Admission, Ticket
from plenum.calls.budget import Demand
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Attempt, Reply
from plenum.records.failures import Failure
from plenum_fleet.remote.outbox import Outbox, portable


class ForwardingTicket(Ticket):
    """The worker's side: asks the sweep for what :class:`Ticket` decides itself.

    Parameters
    ----------
    admission
        A local one, which knows prices and no limit.
    provider
        Who answers for a model.
    line, index
        The condition and the replicate.
    lease
        Names them to the sweep.
    outbox
        Goes to the sweep.
    """

    def __init__(
        self,
        admission: Admission,
        provider: Callable[[str], str],
        line: str,
        index: int,
        lease: int,
        outbox: Outbox,
    ) -> None:
        super().__init__(admission, provider, line, index)
        self._lease, self._outbox = lease, outbox
        self._requests = 0
        self._open: dict[int, asyncio.Future[None]] = {}

    def take_answer(self, request: int, error: Exception | None) -> None:
        """Take the sweep's answer to a request."""
        future = self._open.pop(request, None)
        if future is None or future.done():
            return
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)

    async def begin(self, passed: int = 0, calls: int = 1) -> None:
        """Ask the sweep to take up the replicate."""
        await self._ask("begin", passed, calls)

    def end(self) -> None:
        """Do nothing: the sweep ends the ticket with the lease."""

    async def admit(self, demand: Demand) -> None:
        """Ask the sweep to admit a call."""
        most = demand.prompt, demand.answer
        await self._ask("admit", demand.model, *most, demand.server, demand.hour)

    async def hold(self, model: str, seconds: float, reason: str) -> None:
        """Ask the sweep to hold calls before another attempt."""
        await self._ask("hold", model, seconds, reason)

    async def give_up(self, model: str, error: CallError, attempts: int) -> None:
        """Tell the sweep that a call's attempts are used up."""
        fields = (error.failure, error.detail, error.status, error.retry_after, error.reached)
        await self._ask("give_up", model, fields, attempts)

    def release(self, attempt: Attempt, reply: Reply | None, hold_s: float) -> None:
        """Tell the sweep that a call ended."""
        used = replace(reply, text="") if reply else None  # its tokens and cost count
        self._outbox.put(self._lease, "release", attempt, used, hold_s)

    async def _ask(self, method: str, *arguments: Any) -> None:
        self._requests += 1
        answer = self._open[self._requests] = asyncio.get_running_loop().create_future()
        self._outbox.put(self._lease, method, *arguments, request=self._requests)
        await answer


class LeaseTicket:
    """The sweep's side of one lease: a real ticket that a worker's requests act on.

    Parameters
    ----------
    ticket
        The replicate's.
    answer
        Called with a request and ``None``, or the error that refuses it.
    """

    def __init__(self, ticket: Ticket, answer: Callable[[int, Exception | None], None]) -> None:
        self._ticket, self._answer = ticket, answer
        self._waiting: set[asyncio.Task[None]] = set()

    def admit(self, request: int, *demanded: Any) -> None:
        """Admit a call that a worker wants to make."""
        demand = Demand(*demanded)
        if self._ticket.admit_now(demand):
            self._answer(request, None)
        else:
            self._wait(request, self._ticket.admit(demand))

    def begin(self, request: int, passed: int, calls: int) -> None:
        """Take up the replicate."""
        self._wait(request, self._ticket.begin(passed, calls))

    def hold(self, request: int, model: str, seconds: float, reason: str) -> None:
        """Hold the worker's calls before another attempt."""
        self._wait(request, self._ticket.hold(model, seconds, reason))

    def give_up(self, request: int, model: str, error: tuple[Any, ...], attempts: int) -> None:
        """Give up a call whose attempts are used up."""
        self._wait(request, self._ticket.give_up(model, CallError(*error), attempts))

    def release(self, request: int, attempt: Attempt, reply: Reply | None, hold_s: float) -> None:
        """Release what a call held when it ended."""
        self._ticket.release(attempt, reply, hold_s)

    def close(self) -> None:
        """End the lease; what the worker had under way then may have been billed."""
        for task in self._waiting:
            task.cancel()
        if self._ticket.admitted:
            cut = Attempt(1, Failure.INTERRUPTED, None, 0.0, 0.0)
            self._ticket.release(cut, None, 0.0)
        self._ticket.end()

    def _wait(self, request: int, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(self._take_answer(request, coroutine))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)

    async def _take_answer(self, request: int, coroutine: Coroutine[Any, Any, None]) -> None:
        try:
            await coroutine
        except Exception as error:
            self._answer(request, portable(error))
        else:
            self._answer(request, None)
