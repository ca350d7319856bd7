"""Messages that wait to be sent, and how errors travel."""

import asyncio
import pickle
import traceback
from contextlib import suppress
from typing import Any

Message = tuple[int, int, str, tuple[Any, ...]]
"""The lease, the request that is answered or wants an answer (0: none), a method, arguments."""

POLL_S = 0.2
"""A worker is polled so often at least; messages without haste wait for as long."""


class Outbox:
    """Messages in order; whoever takes them gets all at once."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._haste = asyncio.Event()

    def put(
        self, lease: int, method: str, *arguments: Any, request: int = 0, haste: bool = True
    ) -> None:
        """Add a message."""
        self._messages.append((lease, request, method, arguments))
        if haste:
            self._haste.set()

    async def take(self) -> list[Message]:
        """Return queued messages, at the next loop tick if hurried, else after the poll."""
        with suppress(TimeoutError):
            async with asyncio.timeout(POLL_S):
                await self._haste.wait()
        await asyncio.sleep(0)  # what is put in the same turn of the loop goes along
        self._haste.clear()
        messages, self._messages = self._messages, []
        return messages


def portable(error: Exception) -> Exception:
    """Make an error that can be sent; one of the code has its traceback as a note."""
    error.add_note("".join(traceback.format_exception(error)))
    try:  # both ways: some errors can be pickled, and not be made again
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever it holds
        error = RuntimeError(f"{type(error).__name__}: {error}")
    return error.with_traceback(None)
