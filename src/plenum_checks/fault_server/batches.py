"""State of a fault server's batches: their items, progress, results and faults."""

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from plenum.base import make_generator
from plenum_checks.fault_server.http_answers import LINES, refusal
from plenum_checks.fault_server.request_log import RequestTally
from plenum_checks.fault_server.settings import BatchFaults

Clock = Callable[[], float]
Answer = Callable[[bytes, str], Awaitable[dict[str, Any]]]
"""A function that answers a body, given its key, in the form of an interface."""


@dataclass(frozen=True)
class BatchItem:
    """A request in a batch; ``key`` identifies its body."""

    ident: str
    body: bytes
    key: str


def digest_body(data: bytes) -> str:
    """Return the key of a body, its digest."""
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def read_items(requests: Iterable[dict[str, Any]], name: str) -> list[BatchItem]:
    """Return the items of a batch; ``name`` is the field of their bodies.

    A body without a seed represents several calls, which the item's id tells apart.
    """
    items = []
    for request in requests:
        body, ident = json.dumps(request[name]).encode(), str(request["custom_id"])
        call = "" if "seed" in request[name] else ident.partition("-")[0]
        items.append(BatchItem(ident, body, digest_body(body + call.encode())))
    return items


@dataclass(eq=False)
class ServerBatch:
    """A batch; times are in seconds on the server's clock.

    Attributes
    ----------
    takes_s
        Time from the first item to the last one; items end at even intervals.
    results
        Results by item, once the batch has ended: an answer, or ``errored``, ``expired``,
        ``canceled``.
    lost
        Items whose results can't be fetched.
    """

    ident: str
    items: list[BatchItem]
    metadata: dict[str, Any]
    created: float
    takes_s: float
    refused: str = ""
    cancelled: float | None = None
    results: dict[str, Any] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    stuck: bool = False
    ended: bool = False

    def list_results(self) -> Iterator[tuple[str, Any]]:
        """Return the results that can be fetched, in an arbitrary but fixed order."""
        items = sorted(self.results.keys() - self.lost, key=lambda item: digest_body(item.encode()))
        return ((item, self.results[item]) for item in items)

    def done(self, at: float) -> int:
        """Return the number of items that have ended."""
        if self.takes_s <= 0:
            return len(self.items)
        return min(len(self.items), int(len(self.items) * (at - self.created) / self.takes_s))


class Batches:
    """The batches of one interface.

    Parameters
    ----------
    faults
        Faults of batches, and their duration.
    seed
        Seed of the faults.
    tally
        Counter of paid answers.
    """

    def __init__(self, faults: BatchFaults, seed: int, tally: RequestTally) -> None:
        self._faults, self._seed, self._tally = faults, seed, tally
        self._seen: Counter[str] = Counter()
        self.all: dict[str, ServerBatch] = {}
        self.submits = self.looks = 0
        self._settling = asyncio.Lock()

    def submit(
        self, items: list[BatchItem], metadata: dict[str, Any], at: float, head: str
    ) -> ServerBatch:
        """Accept a batch."""
        slow = self._meets(self._faults.slow, "slow", str(len(self.all)))
        takes_s = self._faults.slow_s if slow else self._faults.takes_s
        batch = ServerBatch(f"{head}{len(self.all):06d}", items, metadata, at, takes_s)
        batch.stuck = self._meets(self._faults.stuck, "stuck", str(len(self.all)))
        idents = [item.ident for item in items]
        if len(set(idents)) < len(idents):
            batch.refused, batch.ended = "duplicate_custom_id", True
        most = self._faults.most_items
        if most is not None and len(items) > most:
            batch.refused, batch.ended = "token_limit_exceeded", True
        self.all[batch.ident] = batch
        return batch

    def page(self, after: str | None, limit: str | None) -> tuple[list[ServerBatch], bool]:
        """Return a page of batches after a given one, latest first, and whether there are more."""
        batches = [*reversed(self.all.values())]
        places = [place for place, batch in enumerate(batches) if batch.ident == after]
        batches = batches[places[0] + 1 :] if places else batches
        most = int(limit or 20)
        return batches[:most], len(batches) > most

    def fault(self) -> str | None:
        """Return the fault of the next submit: ``busy``, or an error ``before`` or ``after`` it.

        ``None`` is no fault.
        """
        self.submits += 1
        for kind in ("busy", "before", "after"):
            if self._meets(getattr(self._faults, kind), kind, str(self.submits)):
                return kind
        return None

    def garble(self, answer: web.Response) -> web.Response:
        """Return the answer to a look or a download, sometimes replaced by an error or nonsense.

        It may be cut in half. In nonsense the status isn't a text and a list is a number; in a file
        every line is repeated.
        """
        self.looks += 1
        draw = f"{self.looks}"
        if answer.status != 200 or not self._meets(self._faults.garbled, "garbled", draw):
            return answer
        body = answer.body
        assert isinstance(body, bytes)
        kind = int(make_generator("garbled", self._seed, draw).integers(3))
        if kind == 0:
            return refusal(503, None, "The server is overloaded.")
        if kind == 1:
            body = body[: len(body) // 2]
        elif answer.content_type == LINES:
            body *= 2
        else:
            body = body.replace(b'status": "', b'status": 0, "was": "')
            body = body.replace(b'"data": [', b'"data": 5, "was": [')
        return web.Response(body=body, content_type=answer.content_type)

    async def settle(self, batch: ServerBatch, at: float, answer: Answer) -> None:
        """Update a batch to the current time."""
        async with self._settling:  # each item is answered once
            if not batch.ended:
                await self._settle(batch, at, answer)

    async def _settle(self, batch: ServerBatch, at: float, answer: Answer) -> None:
        if batch.stuck:
            return
        cancelled = at if batch.cancelled is None else batch.cancelled
        until = min(at, cancelled, batch.created + self._faults.window_s)
        done = batch.done(until)
        if done < len(batch.items) and until == at and batch.cancelled is None:
            return
        for place, item in enumerate(batch.items):
            if place >= done:
                left = "canceled" if batch.cancelled is not None else "expired"
                batch.results[item.ident] = left
                continue
            count = self._seen[item.key]
            self._seen[item.key] += 1
            if self._meets(self._faults.errored, "errored", f"{item.key} {count}"):
                batch.results[item.ident] = "errored"
                continue
            if self._meets(self._faults.lost, "lost", f"{item.key} {count}"):
                batch.lost.add(item.ident)
            self.count_paid(item.key)
            batch.results[item.ident] = await answer(item.body, item.key)
        batch.ended = True

    def count_paid(self, key: str) -> None:
        """Count a paid answer."""
        self._tally.paid[key] += 1

    def _meets(self, rate: float, *names: str) -> bool:
        return bool(rate) and float(make_generator("batch", self._seed, *names).random()) < rate
