"""Who calls next, when not all can: conditions in turn, and in each the replicate that is furthest.

Finishing what is begun first means that results come early, and that a sweep which is stopped, by
a budget or by hand, leaves few half-done replicates.
"""

import heapq
from collections import OrderedDict
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
        """The item that :meth:`pop` would return."""
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
