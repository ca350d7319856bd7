"""State of a fault server's batches: their items, progress, results and faults."""

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from plenum.base.identity import make_generator
from support.fault_server.http_answers import LINES, answer_json, refuse
from support.fault_server.request_log import RequestTally
from support.fault_server.settings import BatchFaults

Clock = Callable[[], float]
Answer = Callable[[bytes, str], Awaitable[dict[str, Any]]]
"""A function that answers a body, given its key, in the form of an interface."""
Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


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

    Items end at even intervals over ``takes_s``. Once it has ended it has ``results`` by item, an
    answer or ``errored``, ``expired``, ``canceled``; those that are ``lost`` can't be fetched.
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

    def count_done(self, at: float) -> int:
        """Return the number of items that have ended."""
        if self.takes_s <= 0:
            return len(self.items)
        return min(len(self.items), int(len(self.items) * (at - self.created) / self.takes_s))


class Batches:
    """The batches of one interface; a subclass writes them, and answers, in its own form.

    ``answer`` is given an item, ``now`` returns Unix time.
    """

    def __init__(
        self, faults: BatchFaults, tally: RequestTally, answer: Answer, now: Clock
    ) -> None:
        self._faults, self._tally, self.answer, self.now = faults, tally, answer, now
        self._seen: Counter[str] = Counter()
        self.all: dict[str, ServerBatch] = {}
        self._submits = self._looks = 0
        self._settling = asyncio.Lock()

    def format_batch(self, batch: ServerBatch) -> dict[str, Any]:
        """Return a batch in the form of the interface."""
        raise NotImplementedError

    async def show(self, ident: str) -> web.Response:
        """Answer a look at a batch, which brings it up to the current time."""
        batch = self.all.get(ident)
        if batch is None:
            return refuse(404, None, f"No batch found with id '{ident}'.")
        async with self._settling:  # each item is answered once
            if not batch.ended and not batch.stuck:
                await self._settle(batch, self.now())
        return answer_json(self.format_batch(batch))

    async def cancel(self, ident: str) -> web.Response:
        """Answer the cancellation of a batch."""
        batch = self.all.get(ident)
        if batch is None or batch.ended:
            return refuse(400 if batch else 404, None, f"{ident} can't be cancelled.")
        batch.cancelled = batch.cancelled or self.now()
        return answer_json(self.format_batch(batch))

    def submit(self, items: list[BatchItem], metadata: dict[str, Any], head: str) -> ServerBatch:
        """Accept a batch."""
        name = str(len(self.all))
        takes_s = self._faults.slow_s if self._meets("slow", name) else self._faults.takes_s
        batch = ServerBatch(f"{head}{name:0>6}", items, metadata, self.now(), takes_s)
        batch.stuck = self._meets("stuck", name)
        if len({item.ident for item in items}) < len(items):
            batch.refused, batch.ended = "duplicate_custom_id", True
        most = self._faults.most_items
        if most is not None and len(items) > most:
            batch.refused, batch.ended = "token_limit_exceeded", True
        self.all[batch.ident] = batch
        return batch

    def list_page(self, after: str | None, limit: str | None) -> tuple[list[ServerBatch], bool]:
        """Return a page of batches after a given one, latest first, and whether there are more."""
        batches = [*reversed(self.all.values())]
        places = [place for place, batch in enumerate(batches) if batch.ident == after]
        batches = batches[places[0] + 1 :] if places else batches
        most = int(limit or 20)
        return batches[:most], len(batches) > most

    def draw_submit_fault(self) -> tuple[bool, web.Response | None]:
        """Return whether the next submit is taken, and the error that it gets all the same."""
        self._submits += 1
        kinds = ("busy", "before", "after")
        fault = next((kind for kind in kinds if self._meets(kind, str(self._submits))), None)
        if fault == "busy":
            wait = {"Retry-After": "0.02"}
            return False, refuse(429, "rate_limit_exceeded", "Too many batches.", wait)
        if fault is None:
            return True, None
        return fault == "after", refuse(500, None, "The server had an error.")

    def garble(self, answer: web.Response) -> web.Response:
        """Return the answer to a look or a download, sometimes replaced by an error or nonsense.

        It may be cut in half. In nonsense the status isn't a text and a list is a number; in a file
        every line is repeated.
        """
        self._looks += 1
        draw = f"{self._looks}"
        if answer.status != 200 or not self._meets("garbled", draw):
            return answer
        body = answer.body
        assert isinstance(body, bytes)
        kind = int(make_generator("garbled", 0, draw).integers(3))
        if kind == 0:
            return refuse(503, None, "The server is overloaded.")
        if kind == 1:
            body = body[: len(body) // 2]
        elif answer.content_type == LINES:
            body *= 2
        else:
            body = body.replace(b'status": "', b'status": 0, "was": "')
            body = body.replace(b'"data": [', b'"data": 5, "was": [')
        return web.Response(body=body, content_type=answer.content_type)

    async def _settle(self, batch: ServerBatch, at: float) -> None:
        cancelled = at if batch.cancelled is None else batch.cancelled
        until = min(at, cancelled, batch.created + self._faults.window_s)
        done = batch.count_done(until)
        if done < len(batch.items) and until == at and batch.cancelled is None:
            return
        for item in batch.items[done:]:
            left = "canceled" if batch.cancelled is not None else "expired"
            batch.results[item.ident] = left
        for item in batch.items[:done]:
            draw = f"{item.key} {self._seen[item.key]}"
            self._seen[item.key] += 1
            if self._meets("errored", draw):
                batch.results[item.ident] = "errored"
                continue
            if self._meets("lost", draw):
                batch.lost.add(item.ident)
            self.count_paid(item.key)
            batch.results[item.ident] = await self.answer(item.body, item.key)
        batch.ended = True

    def count_paid(self, key: str) -> None:
        """Count a paid answer."""
        self._tally.paid[key] += 1

    def _meets(self, kind: str, name: str) -> bool:
        rate = getattr(self._faults, kind)
        draw = make_generator("batch", 0, kind, name) if rate else None
        return draw is not None and float(draw.random()) < rate
