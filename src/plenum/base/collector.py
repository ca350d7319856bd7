"""Python's collector of reference cycles, where it would only cost time."""

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager


def collect_rarely() -> None:
    """Let the collector run after 20,000 new objects instead of 700, in a process of plenum's own.

    Modules are made of objects that stay: with the usual setting a sixth of the time of importing
    MLflow goes into looking for cycles among them. At the end Python would look at all of them
    twice more, 0.6 s with MLflow imported, to free what the system frees anyway.
    """
    gc.set_threshold(20_000)
    atexit.register(gc.freeze)  # what is frozen isn't looked at


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
