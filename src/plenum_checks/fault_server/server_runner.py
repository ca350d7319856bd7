"""Running a fault server: in the foreground, or in a thread of a test's process."""

import asyncio
import errno
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from aiohttp import web

from plenum.base import UserError
from plenum_checks.fault_server.server import FaultServer
from plenum_checks.fault_server.settings import FaultSettings

T = TypeVar("T")
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class RunningServer:
    """A server that runs in its own thread.

    Attributes
    ----------
    url
        The base URL for clients, ``http://127.0.0.1:PORT/v1``.
    """

    url: str
    server: FaultServer
    loop: asyncio.AbstractEventLoop
    ended: asyncio.Event

    def stats(self) -> dict[str, Any]:
        """Return the response of ``GET /stats``."""
        return self._run_between_requests(self.server.tally.stats)

    def log(self) -> list[dict[str, Any]]:
        """Return the response of ``GET /log``."""
        return self._run_between_requests(self.server.tally.log)

    def reset(self) -> None:
        """Do the same as ``POST /reset``."""
        self._run_between_requests(self.server.tally.forget)

    def stop(self) -> None:
        """Close all connections and stop listening; may be called from any thread."""
        self.loop.call_soon_threadsafe(self.ended.set)

    def _run_between_requests(self, get: Callable[[], T]) -> T:
        async def call() -> T:
            return get()

        return asyncio.run_coroutine_threadsafe(call(), self.loop).result(30)


@contextmanager
def serve_in_thread(
    settings: FaultSettings, build: Callable[[FaultSettings], FaultServer] = FaultServer
) -> Iterator[RunningServer]:
    """Run a server in its own thread for the duration of the context.

    Parameters
    ----------
    settings
        The settings of the command line; ``port=0`` takes a free port.
    build
        Builds the server; a custom one may answer differently.

    Raises
    ------
    UserError
        It can't listen on this address.
    """
    ready: Future[RunningServer] = Future()

    async def serve() -> None:
        async with _listen(settings, build) as (url, server):
            ended = asyncio.Event()
            ready.set_result(RunningServer(url, server, asyncio.get_running_loop(), ended))
            await ended.wait()

    def run() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:
            if ready.done():
                raise
            ready.set_exception(error)

    thread = threading.Thread(target=run, name="fault server", daemon=True)
    thread.start()
    running = ready.result(30)
    try:
        yield running
    finally:
        if thread.is_alive():
            running.stop()
        thread.join(10)


def serve(settings: FaultSettings) -> signal.Signals:
    """Run a server until SIGTERM or Ctrl-C, and return that signal.

    Raises
    ------
    UserError
        It can't listen on this address.
    """
    return asyncio.run(_until_signalled(settings))


async def _until_signalled(settings: FaultSettings) -> signal.Signals:
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[signal.Signals] = loop.create_future()

    def end(by: signal.Signals) -> None:
        if not ended.done():
            ended.set_result(by)

    for number in _SIGNALS:
        loop.add_signal_handler(number, end, number)
    async with _listen(settings) as (url, _):
        print(f"serving {url}", flush=True)
        return await ended


@asynccontextmanager
async def _listen(
    settings: FaultSettings, build: Callable[[FaultSettings], FaultServer] = FaultServer
) -> AsyncIterator[tuple[str, FaultServer]]:
    server = build(settings)
    # A handler ends with its connection: an answer that nobody waits for isn't written.
    http = web.Server(server.handle, handler_cancellation=True, access_log=None)
    runner = web.ServerRunner(http, shutdown_timeout=0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, settings.host, settings.port, backlog=4096)
        await _start(site, settings)
        port = runner.addresses[0][1]
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        yield f"http://{host}:{port}/v1", server
    finally:
        await runner.cleanup()


async def _start(site: web.TCPSite, settings: FaultSettings) -> None:
    try:
        await site.start()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise UserError(
                f"port: {settings.port} of {settings.host} is in use; choose another, or 0 for "
                "a free one"
            ) from None
        raise UserError(
            f"host: {settings.host}, port {settings.port}: {error.strerror or error}"
        ) from None
