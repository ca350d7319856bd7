"""A lock for threads that take turns, such as engines on the same cores."""

import threading


class FairLock:
    """A lock that its threads get in turn: one that waits comes before one that just had it."""

    def __init__(self) -> None:
        self._next, self._held = threading.Lock(), threading.Lock()

    def __enter__(self) -> None:
        # Whoever waits for the lock holds `_next`: one that just had it has to queue behind, where
        # a plain lock would often let it in again.
        with self._next:
            self._held.acquire()

    def __exit__(self, *_: object) -> None:
        self._held.release()
