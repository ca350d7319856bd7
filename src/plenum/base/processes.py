"""Child processes: servers that answer JSON lines with JSON lines, and pools that share work."""

import asyncio
import json
import os
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from typing import Any, TypeVar

from plenum.base.collector import collect_rarely
from plenum.base.environment import close_environment, hide_environment
from plenum.base.secrets import strip_secrets

_LIMIT = 2**26
"""Most bytes of a line that a child may write."""

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Environment of processes that already use one core each. Several threads a process would take
some seven times the CPU time on small arrays."""

_AHEAD = 4
"""Tasks per process that are submitted ahead of the results."""

Task = TypeVar("Task")
Result = TypeVar("Result")


class ProcessEnded(Exception):
    """Raised when a child process ended before it answered; the message has its last output."""


class LineProcess:
    """A child process that answers requests in order, seen from the parent.

    The child ends when its input ends, so that a killed parent leaves none behind; Ctrl-C reaches
    the parent alone. It starts without secrets in its environment, which other processes of this
    user could read.

    Parameters
    ----------
    module
        The child's main module.
    note
        Called with lines that are notes to the user and no answers: ``{"note": ...}``.
    keyed
        Hand it the secrets, once it has closed itself by :func:`prepare_child`.

    Attributes
    ----------
    sent, done
        Requests sent, and requests answered.
    """

    def __init__(self, module: str, note: Callable[[str], None], keyed: bool = False) -> None:
        self._module, self._note, self._keyed = module, note, keyed
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self._waiting: deque[asyncio.Future[dict[str, Any]]] = deque()
        self._last_words: ProcessEnded | None = None
        self._starting: asyncio.Task[None] | None = None
        self.sent = self.done = 0

    @property
    def started(self) -> bool:
        """True once the process has been started, even if it has ended since."""
        return self._starting is not None

    async def start(self, setup: dict[str, Any] | None = None) -> None:
        """Start the process once, and send it a first line that it doesn't answer."""
        if self._starting is None:
            self._starting = asyncio.create_task(self._start(setup))
        await asyncio.shield(self._starting)

    async def _start(self, setup: dict[str, Any] | None) -> None:
        shown = strip_secrets(os.environ)
        held = {k: v for k, v in os.environ.items() if k not in shown} if self._keyed else {}
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-Pm",  # -P: a file here may be named as a module of Python
                    self._module,
                    str(theirs.fileno()),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.PIPE,
                    limit=_LIMIT,
                    start_new_session=True,
                    pass_fds=[theirs.fileno()],
                    env=shown | ONE_THREAD,
                )
            self._listening = asyncio.create_task(self._listen(self._process))
            if held:
                await _hand_over(ours, held)
        if setup is not None:
            self._write(setup)

    def ask(self, request: dict[str, Any]) -> "asyncio.Future[dict[str, Any]]":
        """Send a request; the future is the answer, or raises :class:`ProcessEnded`."""
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.sent += 1
        if self._last_words is not None:
            answer.set_exception(self._last_words)
            return answer
        self._waiting.append(answer)
        self._write(request)
        return answer

    async def finish(self) -> ProcessEnded | None:
        """Wait for all answers and end the process; return its error if it ended badly."""
        if self._process is None or self._listening is None:
            return None
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._listening
        self._process = None
        return self._last_words

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        last = asyncio.create_task(_last_line(process.stderr))
        async for line in process.stdout:
            self._take(line)
        last_line, status = await last, await process.wait()
        if status or self._waiting:
            name = self._module.rpartition(".")[0].rpartition(".")[2]
            self._last_words = ProcessEnded(
                f"the {name} process ended with status {status}: {last_line}"
            )
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_exception(self._last_words or ProcessEnded("the process ended"))
                waiting.exception()  # nobody need look at it

    def _take(self, line: bytes) -> None:
        """Handle a line: an answer or a note; anything else a library printed."""
        try:
            answer = json.loads(line)
        except ValueError:
            return
        if not isinstance(answer, dict):
            return
        if "note" in answer:
            self._note(answer["note"])
        elif self._waiting:
            self.done += 1
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_result(answer)

    def _write(self, request: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write((json.dumps(request) + "\n").encode())


def answer_parent(answer: dict[str, Any]) -> None:
    """Answer the parent with one line; called in the child."""
    try:
        print(json.dumps(answer), flush=True)
    except BrokenPipeError:
        # The parent is gone; what it asked for is done all the same.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


async def _last_line(stream: asyncio.StreamReader) -> str:
    """Drain a stream and return its last line that isn't empty."""
    last = ""
    async for line in stream:
        last = line.decode(errors="replace").strip() or last
    return last


async def _hand_over(ours: socket.socket, held: dict[str, str]) -> None:
    """Send secrets to a child as soon as it asks for them; do nothing if it ends before.

    A socket can't be opened from ``/proc``, as a pipe can.
    """
    loop = asyncio.get_running_loop()
    ours.setblocking(False)
    with suppress(ConnectionError):
        if await loop.sock_recv(ours, 1):
            await loop.sock_sendall(ours, json.dumps(held).encode())


def prepare_child() -> None:
    """Give the parent priority, close this process to others, and receive its secrets.

    Called in the child. It closes itself to other processes of this user first, and only then asks
    for the secrets that its parent may have for it.
    """
    collect_rarely()
    hide_environment()
    with socket.socket(fileno=int(sys.argv[1])) as parent, suppress(ConnectionError):
        parent.sendall(b"?")
        sent = b"".join(iter(lambda: parent.recv(2**16), b""))
        os.environ.update(json.loads(sent or b"{}"))
    close_environment()
    os.nice(5)


def name_other_work() -> str:
    """Say that other work holds this machine's cores, where it does; else return nothing.

    A computation of ours has about as many threads as there are cores: a load of twice as many is
    others' as well.
    """
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    return f" (other work holds the cores: load {load:.0f} on {cores})" if load > 2 * cores else ""


def map_in_processes(work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
    """Yield the results of tasks, in their order, computed in one process a core.

    A few tasks a process are taken ahead of the results, so that each task may be large.

    Parameters
    ----------
    work
        A function of a module, or a partial of one.
    """
    processes = os.cpu_count() or 1
    os.environ.update(ONE_THREAD)  # for the processes
    waiting: deque[Future[Result]] = deque()
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        try:
            for task in tasks:
                waiting.append(pool.submit(work, task))
                if len(waiting) > _AHEAD * processes:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
