"""A lock for threads that take turns, such as engines on the same cores."""

import threading


class FairLock:
    """A lock that its threads get in turn: one that waits comes before one that just had it."""

    def __init__(self) -> None:
        self._next, self._held = threading.Lock(), threading.Lock()

    def __enter__(self) -> None:
        with self._next:
            self._held.acquire()

    def __exit__(self, *_: object) -> None:
        self._held.release()
