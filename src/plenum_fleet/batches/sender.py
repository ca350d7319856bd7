"""Submission of a batch, its recovery after a kill, the wait for it, and its reading."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from plenum.calls.call_errors import CallError
from plenum.design.settings import Calls
from plenum.records.failures import Failure
from plenum_fleet.batches import records as batches
from plenum_fleet.batches.http_interface import BatchState, NotAnswered
from plenum_fleet.batches.line import Late, Line, SentBatch
from plenum_fleet.batches.lockstep import Lockstep
from plenum_fleet.settings import Batch

T = TypeVar("T")
_NOT_FOUND = 404


@dataclass(frozen=True)
class _Read:
    """The contents of a batch's results: lines, its own items, and answers."""

    lines: int = 0
    items: int = 0
    answers: int = 0


class Sender:
    """Sees batches through.

    Parameters
    ----------
    calls, batch
        How patiently a provider is asked; how long a batch is waited for, and how often it is
        looked at.
    lockstep
        Prints lines for the user.
    """

    def __init__(self, calls: Calls, batch: Batch, lockstep: Lockstep) -> None:
        self._calls, self._batch, self._lockstep = calls, batch, lockstep
        self._alone = asyncio.Lock()

    async def run(self, line: Line, sent: SentBatch, items: list[bytes] | None) -> None:
        """See a batch through: a new one with its items, or one of an earlier process.

        Raises
        ------
        CallError
            The key was refused, or, as ``interrupted``, the batch is still out.
        """
        try:
            if items is not None:
                if not await self._submit(line, sent, items):
                    return
            elif sent.record.id is not None:
                self._say(sent, "of an earlier run, is picked up")
            elif not await self._find(line, sent, sent.record.at):
                return
            while not await self._follow(line, sent):
                if not await self._find(line, sent, sent.record.at):
                    return
        except CallError as error:
            if error.failure in (Failure.AUTH, Failure.BUDGET):
                raise
            out = f"batch {self._name(sent)} is still out: {error.detail}"
            raise CallError(Failure.INTERRUPTED, out) from None

    async def _submit(self, line: Line, sent: SentBatch, items: list[bytes]) -> bool:
        """Submit a batch; what may have come through in spite of an error is looked for first."""
        began, pause = time.monotonic(), self._calls.backoff_s
        while True:
            tried = time.time()
            try:
                async with self._alone:  # nobody else takes it for another one
                    ident = await line.interface.submit(sent.record.name, items)
                    sent.record = sent.record.note_submission(ident)
            except CallError as error:
                wait = max(pause, error.retry_after or 0.0)
                if not self._goes_on(error, began):
                    self._end_refused(line, sent, self._give_up(line, error))
                    return False
                await asyncio.sleep(wait)
                pause = min(2 * pause, self._calls.backoff_max_s)
                doubtful = error.reached and error.failure is not Failure.RATE_LIMIT
                if doubtful and await self._search(line, sent, tried):
                    return True
            else:
                calls = f"{len(items)} call{'s' if len(items) > 1 else ''}"
                self._say(sent, f"{calls} to {line.model} submitted")
                return True

    def _give_up(self, line: Line, error: CallError) -> CallError:
        if error.status == _NOT_FOUND:
            base = f"{line.interface.base} takes no batches"
            return CallError(error.failure, f"{base}: {error.detail}", error.status)
        if not error.failure.transient:
            return error
        why = f"no batch was taken within calls.max_wait_s={self._calls.max_wait_s:g}"
        return CallError(Failure.UNREACHABLE, f"{why}: {error.detail}", reached=error.reached)

    def _end_refused(self, line: Line, sent: SentBatch, error: CallError) -> None:
        """End the calls of a batch that won't be answered, or let them go on with another one."""
        waiting = [*sent.waiting.values()]
        sent.waiting.clear()
        self._abandon(line, sent, error.detail)
        for call in waiting:
            call.end(error)

    def _abandon(self, line: Line, sent: SentBatch, why: str) -> None:
        """Let the calls of a batch go in other ones."""
        sent.record.note("abandoned", why=why)
        line.forget(sent)

    async def _find(self, line: Line, sent: SentBatch, since: float) -> bool:
        """Find what may have been submitted; else its calls go in other batches."""
        if not (found := await self._search(line, sent, since)):
            self._abandon(line, sent, "the provider doesn't have it")
        return found

    async def _search(self, line: Line, sent: SentBatch, since: float) -> bool:
        """Search the provider's list for it; twice, since a list may lag behind."""
        found = await self._patiently(lambda: self._look(line, sent))
        if not found:
            lag = since + 2 * self._batch.poll_s - time.time()
            await asyncio.sleep(min(max(0.0, lag), 2 * self._batch.poll_s))
            found = await self._patiently(lambda: self._look(line, sent))
        if found:
            self._say(sent, "whose submitting was interrupted, is found")
        return found

    async def _look(self, line: Line, sent: SentBatch) -> bool:
        record = sent.record
        async with self._alone:
            ident = await line.interface.find(
                record.name, record.at, len(record.items), batches.others_ids(record)
            )
            if ident is not None:
                sent.record = record.note_submission(ident, line.interface.named)
        return ident is not None

    async def _follow(self, line: Line, sent: SentBatch) -> bool:
        """Wait for the end of a batch, and hand out its results; false where it isn't this one."""
        try:
            state, late = await self._wait_for_end(line, sent)
        except CallError as error:
            if error.status != _NOT_FOUND:
                raise
            self._abandon(line, sent, "the provider doesn't have it any more")
            return True
        if state.refused is not None:
            await self._end_refused_whole(line, sent, state.refused, state.too_many)
            return True
        read, whole = await self._results(line, sent, state)
        if not sent.record.certain and not read.items:
            sent.record = sent.record.note_foreign()
            return False
        answered, total = read.answers, len(sent.record.items)
        for key in [key for key in sent.left if key not in sent.results]:
            sent.give(key, self._make_unanswered(whole, late))
        sent.record.note("ended", answered=answered, of=total)
        then = "go out at once, at the full price" if late else "failed, and may go in the next one"
        then = then if whole else "can't be read in the provider's file, and are asked for again"
        more = f"; {total - answered} {then}" if answered < total else ""
        self._say(sent, f"{answered} of {total} calls are answered{more}")
        return True

    def _make_unanswered(self, whole: bool, late: bool) -> CallError:
        """Make the error of a call without a result; if results are missing it may be billed."""
        if not whole:
            return CallError(Failure.SERVER, "the batch's results lack this call", 200)
        if not late:
            return NotAnswered("the batch ended without it")
        wait = f"batch.wait_s={self._batch.wait_s:g}"
        return Late(Failure.TIMEOUT, f"no answer within {wait}: it goes out at once")

    async def _wait_for_end(self, line: Line, sent: SentBatch) -> tuple[BatchState, bool]:
        """Wait until a batch has ended; return True if it took longer than the limit."""
        ident, began, cancelled = str(sent.record.id), time.monotonic(), 0.0
        deadline = sent.record.at + self._batch.wait_s
        while True:
            pause, left = self._batch.poll_s, deadline - time.time()
            try:
                state = await self._patiently(lambda: line.interface.state(ident))
            except CallError as error:
                if error.status != _NOT_FOUND or time.monotonic() - began > 2 * pause:
                    raise
            else:
                if state.ended:
                    return state, time.time() > deadline
                if time.time() > deadline and sent.record.certain:
                    cancelled = cancelled or await self._cancel(line, sent, state)
                    self._require_end(cancelled)
            await asyncio.sleep(min(pause, left) if left > 0 else pause)

    async def _cancel(self, line: Line, sent: SentBatch, state: BatchState) -> float:
        """Have a batch cancelled; when that was, on the monotonic clock."""
        ident, wait = str(sent.record.id), f"batch.wait_s={self._batch.wait_s:g}"
        self._say(sent, f"{state.total - state.done} calls wait longer than {wait}: cancelled")
        try:
            await self._patiently(lambda: line.interface.cancel(ident))
        except CallError as error:
            if error.failure is not Failure.REQUEST:  # such as that it has just ended
                raise
        return time.monotonic()

    def _require_end(self, cancelled: float) -> None:
        if time.monotonic() - cancelled > self._calls.max_wait_s:
            wait = f"calls.max_wait_s={self._calls.max_wait_s:g}"
            raise CallError(Failure.TIMEOUT, f"cancelled, and not ended within {wait}")

    async def _results(self, line: Line, sent: SentBatch, state: BatchState) -> tuple[_Read, bool]:
        """Hand out the results; whether all were there that the provider counts."""
        ident, began = str(sent.record.id), time.monotonic()
        while True:
            read = await self._patiently(partial(self._read, line, sent, state))
            if read.items >= state.done or (read.lines and not (sent.record.certain or read.items)):
                return read, True
            if time.monotonic() - began > self._calls.max_wait_s:
                return read, False
            await asyncio.sleep(self._batch.poll_s)
            state = await self._patiently(lambda: line.interface.state(ident))

    async def _read(self, line: Line, sent: SentBatch, state: BatchState) -> _Read:
        """Hand out the results that are there: of two of one item, the answer."""
        items, lines, answered = set(sent.record.items), 0, set[str]()
        failed: dict[str, CallError] = {}
        try:
            async for item, result in line.interface.results(
                str(sent.record.id), state, len(items), line.price
            ):
                lines += 1
                if item in items and isinstance(result, CallError):
                    failed[item] = result
                elif item in items:
                    answered.add(item)
                    sent.give(batches.key(item), result)
        except CallError as error:
            if error.status != _NOT_FOUND:
                raise
        for item, why in failed.items():
            if not isinstance(why, NotAnswered):
                sent.give(batches.key(item), why)
        return _Read(lines, len(answered | failed.keys()), len(answered))

    async def _end_refused_whole(
        self, line: Line, sent: SentBatch, error: CallError, too_many: bool
    ) -> None:
        items = len(sent.record.items)
        if not too_many or items == 1:
            if too_many:  # other batches of the account must end first
                await asyncio.sleep(self._batch.poll_s)
            self._end_refused(line, sent, error)
            return
        line.most = max(1, items // 2)
        self._say(sent, f"is too large for the account; from here on at most {line.most} calls")
        self._abandon(line, sent, error.detail)

    async def _patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask a provider that may be down for as long as ``calls.max_wait_s``.

        Raises
        ------
        CallError
            It is down for longer, or it refused.
        """
        began = time.monotonic()
        while True:
            try:
                return await ask()
            except CallError as error:
                if not self._goes_on(error, began):
                    raise
                await asyncio.sleep(max(self._batch.poll_s, error.retry_after or 0.0))

    def _goes_on(self, error: CallError, began: float) -> bool:
        """Return whether to try again."""
        waited, most = time.monotonic() - began, self._calls.max_wait_s
        return error.failure.transient and max(waited, error.retry_after or 0.0) <= most

    def _name(self, sent: SentBatch) -> str:
        return sent.record.id or sent.record.name

    def _say(self, sent: SentBatch, what: str) -> None:
        self._lockstep.say(f"batch {self._name(sent)}: {what}")
