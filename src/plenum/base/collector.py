"""Pauses of Python's cyclic garbage collector, where it would only cost time."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_collector() -> Iterator[None]:
    """Pause the collector of reference cycles, for work that makes many objects and no cycles.

    The collector looks at all of them again and again as they become more: a fifth of the time
    that a log of many runs takes.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
