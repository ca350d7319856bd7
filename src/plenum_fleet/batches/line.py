"""Calls that wait for batches, batches that are out, and the line of each model."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from plenum.calls.api.prices import Price
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Response
from plenum_fleet.batches import records as batches
from plenum_fleet.batches.http_interface import BatchInterface
from plenum_fleet.batches.records import BatchRecord, Key


class Late(CallError):
    """A call whose batch didn't answer it in time: it goes out at once."""


@dataclass(eq=False)
class Call:
    """A call that waits."""

    ident: str
    body: bytes
    answer: "asyncio.Future[Response]"

    @property
    def key(self) -> Key:
        """The replicate and the number of the call."""
        return batches.key(self.ident)

    def end(self, result: Response | Exception) -> None:
        """Let it go on with a result."""
        if self.answer.done():  # cancelled
            return
        if isinstance(result, Exception):
            self.answer.set_exception(result)
        else:
            self.answer.set_result(result)


@dataclass(eq=False)
class SentBatch:
    """A batch that was written down, and submitted, or soon will be.

    Attributes
    ----------
    left
        Items whose results no call has taken.
    waiting
        Calls that want one.
    results
        Those that came before their calls were made, in a batch of an earlier process.
    """

    record: BatchRecord
    left: set[Key]
    waiting: dict[Key, Call] = field(default_factory=dict)
    results: dict[Key, Response | CallError] = field(default_factory=dict)
    running: "asyncio.Task[None] | None" = None

    def give(self, key: Key, result: Response | CallError) -> None:
        """Keep an item's result for its call, which may be waiting for it."""
        if key not in self.left or key in self.results:
            return
        self.results[key] = result
        if (call := self.waiting.pop(key, None)) is not None:
            call.end(result)

    def fail(self, error: Exception) -> None:
        """Let the calls go; those that try again find the batch again."""
        for call in self.waiting.values():
            call.end(error)
        self.waiting.clear()


class Line:
    """The calls to one model: those that are collected, and the batches that are out."""

    def __init__(
        self, model: str, interface: BatchInterface, price: Price | None, folder: Path
    ) -> None:
        self.model, self.interface, self.price = model, interface, price
        self.collected: list[Call] = []
        self.out: set[SentBatch] = set()
        self.most = interface.most_items
        self.known: dict[Key, SentBatch] = {}
        self._folder, self._seen = folder, set[Path]()
        self.learn()

    def learn(self) -> None:
        """Know the batches of other processes that are new."""
        earlier: dict[Key, SentBatch] = {}
        for record in batches.list_unfinished(self._folder):
            ours = (record.model, record.base) == (self.model, self.interface.base)
            if ours and record.path not in self._seen:
                self._seen.add(record.path)
                earlier |= dict.fromkeys(map(batches.key, record.items), SentBatch(record, set()))
        # Where two batches have one call, it is left to the later one alone.
        for key, sent in earlier.items():
            sent.left.add(key)
        self.known |= earlier

    def begin(self, calls: list[Call]) -> SentBatch:
        """Write down that calls are going to be submitted.

        Raises
        ------
        OSError
            With the path.
        """
        items = tuple(call.ident for call in calls)
        record = batches.begin(self._folder, self.model, self.interface.base, items)
        self._seen.add(record.path)
        waiting = {call.key: call for call in calls}
        sent = SentBatch(record, set(waiting), waiting)
        self.known |= dict.fromkeys(waiting, sent)
        return sent

    def take(self) -> Iterator[list[Call]]:
        """Yield the collected calls in portions that the provider takes."""
        calls = [call for call in self.collected if not call.answer.done()]
        portions: list[list[Call]] = [[]]
        size = 0
        for call in calls:
            length = len(self.interface.item(call.ident, call.body))
            if len(portions[-1]) == self.most or size + length > self.interface.most_bytes:
                portions.append([])
                size = 0
            portions[-1].append(call)
            size += length
        if self.most < self.interface.most_items:  # too many at once were refused: one by one
            self.collected = [call for portion in portions[1:] for call in portion]
            portions = portions[:1]
        else:
            self.collected = []
        yield from filter(None, portions)

    def forget(self, sent: SentBatch) -> None:
        """Let the calls of a batch go in other ones."""
        for key in [key for key, known in self.known.items() if known is sent]:
            del self.known[key]
        self.collected += sent.waiting.values()
        sent.waiting.clear()
