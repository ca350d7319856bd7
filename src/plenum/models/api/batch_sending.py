"""How a batch is submitted, found again after a kill, waited for, and read."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from plenum.design.condition import Batch, Calls
from plenum.models.api.batch_http import BatchState, NotAnswered
from plenum.models.api.batch_line import Late, Line, Sent
from plenum.models.chat import CallError
from plenum.models.lockstep import Lockstep
from plenum.records import Failure, batches

T = TypeVar("T")
_NOT_FOUND = 404


class Sender:
    """Sees batches through.

    Parameters
    ----------
    calls, batch
        How often submitting is tried, and for how long a provider may be down; how long a batch is
        waited for, and how often it is asked for.
    folder
        Of the journals of batches.
    lockstep
        Prints lines for the user.
    """

    def __init__(self, calls: Calls, batch: Batch, folder: Path, lockstep: Lockstep) -> None:
        self._calls, self._batch = calls, batch
        self._folder, self._lockstep = folder, lockstep

    async def run(self, line: Line, sent: Sent, items: list[bytes] | None) -> None:
        """See a batch through: a new one with its items, or one of an earlier process.

        Raises
        ------
        CallError
            The provider refused it, or can't be asked; in that case it is still out.
        """
        if items is not None:
            await self._submit(line, sent, items)
        elif sent.record.id is not None:
            self._say(sent, "of an earlier run, is picked up")
        elif not await self._find(line, sent):
            return
        while not await self._follow(line, sent):
            if not await self._find(line, sent):
                return

    async def _submit(self, line: Line, sent: Sent, items: list[bytes]) -> None:
        """Submit a batch; what came through in spite of an error is looked for first."""
        for left in reversed(range(self._calls.max_attempts)):
            try:
                ident: str | None = await line.interface.submit(sent.record.name, items)
            except CallError as error:
                ident = await self._after(error, line, sent)
                if ident is None and (not left or not error.failure.transient):
                    self._refused(line, sent, error)
                    return
            if ident is not None:
                sent.record = sent.record.submitted(ident)
                self._say(sent, f"{len(items)} calls to {line.model} are submitted")
                return

    async def _after(self, error: CallError, line: Line, sent: Sent) -> str | None:
        """The id of a batch whose submitting ended in an error, where it came through."""
        if not error.failure.transient:
            return None
        await asyncio.sleep(max(self._calls.backoff_s, error.retry_after or 0.0))
        return await self._look(line, sent) if error.reached else None

    def _refused(self, line: Line, sent: Sent, error: CallError) -> None:
        """Nothing of a batch will be answered: its calls end so, or go on with another one."""
        sent.record.note("abandoned", why=error.detail)
        waiting = [*sent.waiting.values()]
        sent.waiting.clear()
        line.forget(sent)
        for call in waiting:
            call.end(error)

    async def _look(self, line: Line, sent: Sent) -> str | None:
        """The id of a batch that may have been submitted."""
        record, known = sent.record, batches.known_ids(self._folder)
        return await self._patiently(
            lambda: line.interface.find(record.name, record.at, len(record.items), known)
        )

    async def _find(self, line: Line, sent: Sent) -> bool:
        """Find what a killed process may have submitted; twice, since a list may lag behind."""
        ident = await self._look(line, sent)
        if ident is None:
            lag = sent.record.at + 2 * self._batch.poll_s - time.time()
            await asyncio.sleep(min(max(0.0, lag), 2 * self._batch.poll_s))
            ident = await self._look(line, sent)
        if ident is None:
            sent.record.note("abandoned", why="the provider doesn't have it")
            line.forget(sent)
            return False
        sent.record = sent.record.submitted(ident)
        self._say(sent, "which a killed run had submitted, is found")
        return True

    async def _follow(self, line: Line, sent: Sent) -> bool:
        """Wait for the end of a batch, and hand out its results; false where it isn't this one."""
        try:
            state, late = await self._ended(line, sent)
        except CallError as error:
            if error.status != _NOT_FOUND:
                raise
            sent.record.note("abandoned", why="the provider doesn't have it any more")
            line.forget(sent)
            return True
        if state.refused is not None:
            self._refused_whole(line, sent, state)
            return True
        answered = await self._patiently(lambda: self._read(line, sent, state))
        if answered is None:
            sent.record = replace(sent.record, id=None)
            return False
        wait = f"no answer within batch.wait_s={self._batch.wait_s:g}: it goes out at once"
        for key in [key for key in sent.left if key not in sent.results]:
            sent.give(key, Late(Failure.TIMEOUT, wait) if late else NotAnswered("not taken up"))
        total = len(sent.record.items)
        sent.record.note("ended", answered=answered, of=total)
        then = "go out at once, at the full price" if late else "failed, and may go in the next one"
        more = f"; {total - answered} {then}" if answered < total else ""
        self._say(sent, f"{answered} of {total} calls are answered{more}")
        return True

    async def _ended(self, line: Line, sent: Sent) -> tuple[BatchState, bool]:
        """Wait until a batch has ended; whether that took longer than it is waited for."""
        ident, cancelled = str(sent.record.id), False
        deadline = sent.record.at + self._batch.wait_s
        while True:
            state = await self._patiently(lambda: line.interface.state(ident))
            late = time.time() > deadline
            if state.ended:
                return state, late
            if late and not cancelled:
                cancelled = await self._cancel(line, sent, state)
            pause = self._batch.poll_s
            left = deadline - time.time()
            await asyncio.sleep(min(pause, left) if left > 0 else pause)

    async def _cancel(self, line: Line, sent: Sent, state: BatchState) -> bool:
        ident, wait = str(sent.record.id), f"batch.wait_s={self._batch.wait_s:g}"
        self._say(sent, f"{state.total - state.done} calls wait longer than {wait}: cancelled")
        try:
            await self._patiently(lambda: line.interface.cancel(ident))
        except CallError as error:
            if error.failure is not Failure.REQUEST:  # such as that it has just ended
                raise
        return True

    async def _read(self, line: Line, sent: Sent, state: BatchState) -> int | None:
        """Hand out the results; how many are answers, ``None`` where they aren't this batch's."""
        items, ours, answered = set(sent.record.items), 0, 0
        async for item, result in line.interface.results(str(sent.record.id), state, line.price):
            if item in items:
                ours += 1
                answered += not isinstance(result, CallError)
                if not isinstance(result, NotAnswered):
                    sent.give(batches.key(item), result)
        return answered if ours or not state.done else None

    def _refused_whole(self, line: Line, sent: Sent, state: BatchState) -> None:
        assert state.refused is not None
        items = len(sent.record.items)
        if not state.too_many or items == 1:
            self._refused(line, sent, state.refused)
            return
        line.most = max(1, items // 2)
        self._say(sent, f"is too large for the account; from here on at most {line.most} calls")
        sent.record.note("abandoned", why=state.refused.detail)
        line.forget(sent)

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
                waited = time.monotonic() - began
                if not error.failure.transient or waited > self._calls.max_wait_s:
                    raise
                await asyncio.sleep(max(self._batch.poll_s, error.retry_after or 0.0))

    def _say(self, sent: Sent, what: str) -> None:
        name = sent.record.id or sent.record.name
        self._lockstep.say(f"batch {name}: {what}")
