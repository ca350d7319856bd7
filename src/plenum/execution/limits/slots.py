"""Slots for replicates in flight: conditions in turn, and in each the first replicate first."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from plenum.execution.limits.fair_queue import FairQueue


class Slots:
    """A bounded number of slots.

    Parameters
    ----------
    number
        How many there are.
    """

    def __init__(self, number: int) -> None:
        self._free = number
        self._queue: FairQueue[asyncio.Future[None]] = FairQueue()

    @asynccontextmanager
    async def take(self, line: str, index: int) -> AsyncIterator[None]:
        """Hold a slot, once one is free; ``line`` is the condition, ``index`` the replicate."""
        slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.push(line, (index,), slot)
        # Whoever asks in the same turn of the loop queues before the first slot is given.
        asyncio.get_running_loop().call_soon(self._serve)
        try:
            await slot
        except asyncio.CancelledError:
            if slot.done() and not slot.cancelled():
                self._give_back()
            raise
        try:
            yield
        finally:
            self._give_back()

    def _give_back(self) -> None:
        self._free += 1
        self._serve()

    def _serve(self) -> None:
        while self._queue and self._free:
            slot = self._queue.pop()
            if not slot.done():  # else it was given up
                self._free -= 1
                slot.set_result(None)
