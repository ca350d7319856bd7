"""Progress of long work, shown to the user."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

_EVERY = 10.0
"""Seconds between lines where there is no terminal."""


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, a line now and then elsewhere; called with done and total conditions."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(what)
        return
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn("conditions"))
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task(what, total=None, visible=False)
        yield lambda done, of: bar.update(task, completed=done, total=of, visible=True)


def _lines(what: str) -> Callable[[int, int], None]:
    last = time.monotonic()

    def report_progress(done: int, of: int) -> None:
        nonlocal last
        if done < of and time.monotonic() - last >= _EVERY:
            last = time.monotonic()
            print(f"{what}: {done} of {of} conditions", file=sys.stderr)

    return report_progress
