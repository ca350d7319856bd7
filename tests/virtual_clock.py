"""An event loop whose clock jumps: where nothing is ready, it is the next timer's time at once."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any


class _Jumping(selectors.DefaultSelector):
    """Waits for no timer; without one it waits for what other threads and sockets do."""

    jumped = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(None if timeout is None else 0)
        if timeout is not None and not ready:
            self.jumped += max(timeout, 0.0)
        return ready


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.jumped


def now() -> float:
    """The time of the running loop, in seconds since it began."""
    return asyncio.get_running_loop().time()


def run(scene: Coroutine[Any, Any, Any]) -> Any:
    """:func:`asyncio.run`, by a clock that jumps."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(scene)
