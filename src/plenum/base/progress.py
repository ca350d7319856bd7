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
def show_progress(what: str, of: str = "conditions") -> Iterator[Callable[[int, int], None]]:
    """Show progress as a bar on a terminal, else as lines now and then.

    Yields a function that takes the counts done and total.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(what, of)
        return
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn(of))
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task(what, total=None, visible=False)
        yield lambda done, total: bar.update(task, completed=done, total=total, visible=True)


def _lines(what: str, of: str) -> Callable[[int, int], None]:
    last = time.monotonic()

    def report_progress(done: int, total: int) -> None:
        nonlocal last
        if done < total and time.monotonic() - last >= _EVERY:
            last = time.monotonic()
            print(f"{what}: {done} of {total} {of}", file=sys.stderr)

    return report_progress
