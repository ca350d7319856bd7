"""Recording of printed output, so that it can be printed again."""

import io
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO

_OF_TERMINALS = ("TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS")


class _Copying(io.TextIOBase):
    """A stream that keeps a copy of what is written to it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding


@contextmanager
def copied() -> Iterator[tuple[_Copying, _Copying]]:
    """Keep copies of what is printed meanwhile: to standard output, and to standard error."""
    output, errors = _Copying(sys.stdout), _Copying(sys.stderr)
    with ExitStack() as stack:
        stack.enter_context(redirect_stdout(output))
        stack.enter_context(redirect_stderr(errors))
        yield output, errors


def shape() -> list[Any]:
    """What the shape of printed text depends on: where it goes, its width and its colours."""
    return [
        sys.stdout.isatty(),
        sys.stdout.encoding,
        tuple(shutil.get_terminal_size()),
        [os.environ.get(name) for name in _OF_TERMINALS],
    ]
