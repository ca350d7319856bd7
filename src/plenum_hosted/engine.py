"""The lockstep engine: all rows of a model decode together, step by step, batch by batch.

It computes on a thread of its own; :meth:`Engine.submit` accepts rows from any thread. Which rows
share a batch depends on timing, which is harmless, since no row's bytes depend on its neighbours.
"""

import queue
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import islice

import torch

from plenum_hosted.fair_lock import FairLock
from plenum_hosted.network import CachedPrefix, Network
from plenum_hosted.prefixes import Prefixes
from plenum_hosted.rows import DecodingBatch, DecodingRow
from plenum_hosted.shapes import Room, Shapes

_CORES = FairLock()
"""Engines on a CPU compute one after the other, since each keeps all of its cores at work."""
_PATIENCE = 24
"""Steps for which prompts wait for others to fill a prefill while rows are decoding. The number is
plenum's own: with fewer, prefills of one prompt interrupt rows that decode; with more, slots stay
empty for longer."""


@dataclass
class Work:
    """Work of an engine: seconds, tokens computed for prompts, steps, and tokens of answers.

    ``rows`` is the number of rows in the last step.
    """

    prefill_s: float = 0.0
    prefix_tokens: int = 0
    rest_tokens: int = 0
    decode_s: float = 0.0
    steps: int = 0
    answer_tokens: int = 0
    rows: int = 0


class Engine:
    """The engine of one model, which prefills prompts and decodes their answers.

    Parameters
    ----------
    network
        The model.
    shapes
        Numbers of rows that are computed together.
    stops
        Tokens that end an answer.
    prefix_bytes
        Memory for prefixes, in bytes.
    prepare
        Called on the engine's thread before anything else, since some settings belong to a thread.

    Attributes
    ----------
    work, prefixes
        Counters for measurements.
    """

    def __init__(
        self,
        network: Network,
        shapes: Shapes,
        stops: frozenset[int],
        prefix_bytes: int,
        prepare: Callable[[], None] = lambda: None,
    ) -> None:
        self.shapes = shapes
        self.work = Work()
        self.prefixes = Prefixes(prefix_bytes)
        self._network, self._stops = network, stops
        self._prepare = prepare
        self._inbox: queue.SimpleQueue[DecodingRow | None] = queue.SimpleQueue()
        self._waiting: defaultdict[Room, deque[DecodingRow]] = defaultdict(deque)
        self._batches: dict[int, DecodingBatch] = {}
        self._clock = 0
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name="plenum-engine", daemon=True)
        self._thread.start()

    def submit(self, row: DecodingRow) -> None:
        """Take a row; its ``done`` is called on the engine's thread, even if the engine breaks."""
        self._inbox.put(row)

    def close(self) -> None:
        """Stop after the current step and wait for it; unfinished rows end with an error."""
        self._inbox.put(None)
        self._thread.join()

    def _serve(self) -> None:
        on_cpu = self._network.device.type == "cpu"
        turn: AbstractContextManager[None] = _CORES if on_cpu else nullcontext()
        try:
            self._prepare()
            with torch.inference_mode():
                while self._receive():
                    with turn:
                        self._admit()
                        self._decode()
            self._give_up(RuntimeError("it was closed before the answer had ended"))
        except BaseException as error:  # whatever it is, nobody may wait for ever
            self._give_up(error)

    def _give_up(self, error: BaseException) -> None:
        """End all rows, and all that are still submitted, with the error."""
        here = [row for batch in self._batches.values() for row in batch.rows.values()]
        here += [row for rows in self._waiting.values() for row in rows]
        # Until the closing mark: rows that are still submitted would wait for ever.
        while here or not self._closed:
            row = here.pop() if here else self._inbox.get()
            if row is None:
                return
            if not row.given_up and row.error is None:
                row.error = error
                row.done(row)

    def _receive(self) -> bool:
        """Take in submitted rows, and wait for one if there is nothing to do; false once closed."""
        idle = not self._under_way and not any(self._waiting.values())
        while not self._closed:
            try:
                # With rows to compute it only looks; with none it sleeps until one comes.
                row = self._inbox.get(block=idle)
            except queue.Empty:
                break
            idle = False
            if row is None:
                self._closed = True
            else:
                row.arrived = self._clock
                self._waiting[row.room].append(row)
        return not self._closed

    @property
    def _under_way(self) -> int:
        return sum(len(batch.rows) for batch in self._batches.values())

    def _admit(self) -> None:
        """Prefill full groups at once, and others after a wait or if nothing else is to be done."""
        width = self.shapes.prefill_rows
        # Only prompts of one room share a prefill: a longer neighbour would change their matrices.
        for room in list(self._waiting):
            while len(self._waiting.get(room, ())) >= width and self._free(room) >= width:
                self._fill(room)
        # A prefill that isn't full costs as much as a full one: it waits a little for others.
        first = {room: rows[0].arrived for room, rows in self._waiting.items() if self._free(room)}
        oldest = min(first, key=first.__getitem__, default=None)
        if oldest and (self._clock - first[oldest] >= _PATIENCE or not self._under_way):
            self._fill(oldest)

    def _free(self, room: Room) -> int:
        batch = self._batches.get(room.capacity)
        return len(batch.free) if batch else self.shapes.slots

    def _fill(self, room: Room) -> None:
        """Prefill some prompts of one room, and give each a slot."""
        began = time.perf_counter()
        count = min(self.shapes.prefill_rows, self._free(room), len(self._waiting[room]))
        rows = [row for row in islice(self._waiting[room], count) if not row.given_up]
        if rows:
            self._prefill(room, rows)
            self._network.wait()
        for _ in range(count):  # only now: had the prefill broken, they would still be here
            self._waiting[room].popleft()
        if not self._waiting[room]:
            del self._waiting[room]
        self.work.prefill_s += time.perf_counter() - began

    def _prefill(self, room: Room, rows: list[DecodingRow]) -> None:
        prefilled = None
        if room.prefix or room.rest:
            # Without the prompt's last token, which the first step decodes.
            behind = [(self._find_kept(row), len(row.prefix), list(row.rest[:-1])) for row in rows]
            width = self.shapes.prefill_rows
            prefilled = self._network.rest(behind, room.prefix, room.rest, width, room.capacity)
            self.work.rest_tokens += sum(len(row.rest) for row in rows)
        batch = self._batch(room.capacity)
        for number, row in enumerate(rows):
            batch.place(row, prefilled, number)

    def _find_kept(self, row: DecodingRow) -> CachedPrefix | None:
        if not row.prefix:
            return None

        def compute() -> CachedPrefix:
            self.work.prefix_tokens += len(row.prefix)
            return self._network.prefix(list(row.prefix), row.room.prefix)

        return self.prefixes.get(row.prefix, compute)

    def _batch(self, capacity: int) -> DecodingBatch:
        """Return the batch of a capacity; a new one replaces batches that are empty."""
        if capacity not in self._batches:
            # Memory holds caches of few lengths: those that nobody uses make way.
            for other, batch in list(self._batches.items()):
                if not batch.rows and not any(r.capacity == other for r in self._waiting):
                    del self._batches[other]
            self._batches[capacity] = DecodingBatch(
                self._network, self.shapes.slots, capacity, self._stops
            )
        return self._batches[capacity]

    def _decode(self) -> None:
        began = time.perf_counter()
        self._clock += 1
        self.work.rows = self._under_way
        for batch in list(self._batches.values()):
            if not batch.rows:
                continue
            self.work.steps += 1
            self.work.answer_tokens += len(batch.rows)
            for row in batch.step():
                if not row.given_up:
                    row.done(row)
        self.work.decode_s += time.perf_counter() - began
