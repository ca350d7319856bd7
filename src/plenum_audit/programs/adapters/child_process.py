"""A child process: its output is limited, and it is killed with all its descendants at the end."""

import asyncio
import io
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from plenum.base.secrets import redact
from plenum.base.text import make_printable

_HEAD, _TAIL = 2**18, 2**16
"""Number of bytes of each stream to keep, at its beginning and at its end."""

_DRAIN_S = 2.0
_SWEEPS = 50


@dataclass(frozen=True)
class ProcessEnd:
    """The result of a process: its status (negative: a signal), and last line of each stream."""

    status: int
    stdout: str
    stderr: str


class _Stream:
    """The beginning and the end of a stream."""

    def __init__(self) -> None:
        self._head, self._tail, self._size = bytearray(), bytearray(), 0

    async def drain(self, stream: asyncio.StreamReader) -> None:
        while chunk := await stream.read(2**16):
            self._size += len(chunk)
            room = _HEAD - len(self._head)
            self._head += chunk[:room] if room > 0 else b""
            self._tail = (self._tail + chunk)[-_TAIL:]

    @property
    def last_line(self) -> str:
        lines = self._tail.decode(errors="replace").splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    @property
    def kept(self) -> str:
        if self._size <= _HEAD:
            return self._head.decode(errors="replace")
        rest = bytes(self._tail[-(self._size - _HEAD) :])
        left_out = self._size - _HEAD - len(rest)
        gap = f"\n[{left_out} bytes left out]\n" if left_out else ""
        return self._head.decode(errors="replace") + gap + rest.decode(errors="replace")


async def run(
    arguments: Sequence[str], environment: Mapping[str, str], output: Path | None = None
) -> ProcessEnd:
    """Run a process in its own group; if the caller is cancelled, none of it is left.

    Parameters
    ----------
    arguments
        The command line.
    environment
        All its variables; ``PLENUM_RUN_URL`` among them identifies all its descendants.
    output
        The file for its output; not written if there is none.

    Raises
    ------
    OSError
        It can't be started.
    """
    out, err = _Stream(), _Stream()
    with ExitStack() as stack:
        # Pipes of our own: asyncio's would have us wait for everybody who holds their ends.
        ends = [await _pipe(stack) for _ in (out, err)]
        process = await asyncio.create_subprocess_exec(
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=ends[0][1],
            stderr=ends[1][1],
            env=dict(environment),
            start_new_session=True,
        )
        for _, writing in ends:
            writing.close()
        streams = zip((out, err), ends, strict=True)
        draining = asyncio.gather(*(kept.drain(reader) for kept, (reader, _) in streams))
        try:
            status = await process.wait()
        finally:
            kill(process.pid, environment.get("PLENUM_RUN_URL", ""))
            try:
                await asyncio.wait([draining], timeout=_DRAIN_S)
            finally:
                draining.cancel()  # who left the group may hold the pipes for ever
                await asyncio.gather(draining, return_exceptions=True)
                if output is not None:
                    _write(output, out, err)
    return ProcessEnd(status, out.last_line, err.last_line)


async def _pipe(stack: ExitStack) -> tuple[asyncio.StreamReader, io.FileIO]:
    """Return a reader of a pipe, and the end to write to."""
    reading, writing = os.pipe()
    end = stack.enter_context(io.FileIO(writing, "w"))
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), io.FileIO(reading)
    )
    stack.callback(transport.close)
    return reader, end


def kill(group: int, mark: str) -> None:
    """Kill a process group, and on Linux all processes that left it but carry its mark.

    Parameters
    ----------
    mark
        A text in their environment.
    """
    with suppress(ProcessLookupError, PermissionError):  # nobody is left in it
        os.killpg(group, signal.SIGKILL)
    if not mark or sys.platform != "linux":
        return
    for _ in range(_SWEEPS):  # what forks while it is killed is met in the next sweep
        if not _kill_marked(mark.encode()):
            return


def _kill_marked(mark: bytes) -> int:
    killed = 0
    for folder in os.scandir("/proc"):
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            if mark in Path(folder.path, "environ").read_bytes():
                os.kill(int(folder.name), signal.SIGKILL)
                killed += 1
        except OSError:
            continue  # another user's, or gone
    return killed


def _write(path: Path, out: _Stream, err: _Stream) -> None:
    parts = [
        (name, make_printable(redact(s.kept))) for name, s in (("stdout", out), ("stderr", err))
    ]
    text = "".join(f"--- {name}\n{kept.rstrip()}\n" for name, kept in parts if kept)
    if text:
        path.write_text(text, encoding="utf-8")
