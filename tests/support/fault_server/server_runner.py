"""Running a fault server: in a thread of a test's process, or as a process of its own."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from aiohttp import web

from support.fault_server.server import FaultServer
from support.fault_server.settings import FaultSettings

T = TypeVar("T")
HOST = "127.0.0.1"


@dataclass(frozen=True)
class RunningServer:
    """A server that runs in its own thread; ``url`` is the base URL for clients."""

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
    """Run a server in its own thread for the duration of the context; ``build`` makes it."""
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


def serve(settings: FaultSettings) -> None:
    """Print the base URL, and serve until the process is ended."""

    async def run() -> None:
        async with _listen(settings) as (url, _):
            print(f"serving {url}", flush=True)
            await asyncio.Event().wait()

    asyncio.run(run())


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
        await web.TCPSite(runner, HOST, settings.port, backlog=4096).start()
        yield f"http://{HOST}:{runner.addresses[0][1]}/v1", server
    finally:
        await runner.cleanup()
