"""Admission of calls that go in batches: no limit of a provider's concerns them."""

from typing import Any

from plenum.calls.admission import Admission, Ticket
from plenum.calls.budget import Demand, compute_demand
from plenum.calls.chat import Attempt, Chat
from plenum.records.failures import Failure
from plenum_fleet.batches.lockstep import Lockstep


class BatchTicket(Ticket):
    """The admission of a replicate whose calls go in batches, as far as these aren't too slow.

    Parameters
    ----------
    lockstep
        Knows which calls go in batches, and who is at work.
    admission, named
        As of :class:`Ticket`.
    """

    def __init__(self, lockstep: Lockstep, admission: Admission, *named: Any) -> None:
        super().__init__(admission, *named)
        self._lockstep = lockstep

    async def begin(self, passed: int = 0, calls: int = 1) -> None:
        """Begin; room in the budget comes from the calls of others, which wait for batches."""
        with self._lockstep.wait():
            await super().begin(passed, calls)

    async def enter(self, chat: Chat) -> None:
        """Enter a call, marked as one of a batch if it goes in one."""
        self.labels = {"batch": True} if self._lockstep.goes_in_batch(chat) else {}
        await super().enter(chat)

    async def admit(self, demand: Demand) -> None:
        """Admit a live call, and reserve the budget of one that goes in a batch."""
        if demand.batched:
            await self.reserve(demand)
        else:
            await super().admit(demand)

    async def reserve(self, demand: Demand) -> None:
        """Reserve the budget of a call; batches needn't wait for it."""
        with self._lockstep.wait():
            await super().reserve(demand)

    async def pause(self, chat: Chat, seconds: float, reason: str) -> None:
        """Wait before another attempt; a call that joins another batch waits for it anyway."""
        if not self._lockstep.goes_in_batch(chat):
            await super().pause(chat, seconds, reason)

    def demand_of(self, chat: Chat) -> Demand:
        """Return what a call may use up, in a batch or not."""
        return compute_demand(chat, bool(self.labels))

    def continues(self, attempt: Attempt) -> bool:
        """Return whether the batch of an interrupted call goes on at the provider."""
        return bool(self.labels) and attempt.outcome == Failure.INTERRUPTED

    def may_be_billed(self, attempt: Attempt) -> bool:
        """Return whether a failed attempt may cost; one that ran out of time in a batch doesn't."""
        if self.labels and attempt.outcome == Failure.TIMEOUT:
            return False
        return super().may_be_billed(attempt)
