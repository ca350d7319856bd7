"""Places for replicates in flight: conditions in turn, and in each the first replicate first."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from plenum.execution.fairness import FairQueue


class Places:
    """A bounded number of places.

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
        """Hold a place, once there is one; ``line`` is the condition, ``index`` the replicate."""
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.push(line, (index,), place)
        # Whoever asks in the same turn of the loop queues before the first place is given.
        asyncio.get_running_loop().call_soon(self._serve)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
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
            place = self._queue.pop()
            if not place.done():  # else it was given up
                self._free -= 1
                place.set_result(None)
