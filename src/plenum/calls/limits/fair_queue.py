"""The order of waiting calls: conditions in turn, and in each the replicate that is furthest.

Finishing what is begun first means that results come early, and that a sweep which is stopped, by
a budget or by hand, leaves few half-done replicates.
"""

import asyncio
import heapq
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

T = TypeVar("T")


class FairQueue(Generic[T]):
    """A queue with a line for each condition; lines are served in turn."""

    def __init__(self) -> None:
        self._lines: OrderedDict[str, list[tuple[tuple[int, ...], int, T]]] = OrderedDict()
        self._pushed = 0
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def push(self, line: str, rank: tuple[int, ...], item: T) -> None:
        """Queue an item; in its line the smallest rank goes first, then the oldest."""
        heapq.heappush(self._lines.setdefault(line, []), (rank, self._pushed, item))
        self._pushed += 1
        self._size += 1

    def first(self) -> T:
        """Return the item that :meth:`pop` would return."""
        return next(iter(self._lines.values()))[0][2]

    def pop(self) -> T:
        """Take the next item; its line goes to the end of the turn."""
        line, waiting = next(iter(self._lines.items()))
        item = heapq.heappop(waiting)[2]
        self._lines.move_to_end(line)
        if not waiting:
            del self._lines[line]
        self._size -= 1
        return item


class Slots:
    """A bounded number of slots for replicates in flight.

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
            if slot.done() and not slot.cancelled():  # it was given in the same turn
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
