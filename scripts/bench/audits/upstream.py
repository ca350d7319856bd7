"""A provider on loopback that keeps count of what it was paid for."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from aiohttp import web

from plenum.base import derive_seed
from plenum.design import Simulated
from plenum.models import Chat, RawRequest
from plenum.models.simulated import SimulatedBackend
from plenum_audit.programs.wire import INTERFACES


class Upstream:
    """Answers chat completions as simulated agents do, each request with a draw of its own.

    Attributes
    ----------
    url
        Its base URL.
    paid
        The digests of the prompts that were answered, in order.
    """

    def __init__(self, latency_s: float) -> None:
        self.url, self.paid = "", list[str]()
        self._latency_s, self._draws = latency_s, count()
        self._backend = SimulatedBackend(Simulated())

    async def answer(self, request: web.Request) -> web.Response:
        """Answer a request, and book it before anybody can miss the answer."""
        wire, body = INTERFACES["chat"], json.loads(await request.read())
        asked = wire.read(body)
        number = next(self._draws)
        await asyncio.sleep(self._latency_s * (0.5 + number % 7 / 6))
        chat = Chat(
            asked.model,
            asked.messages,
            temperature=asked.temperature or 0.0,
            max_tokens=asked.max_tokens or 4096,
            seed=derive_seed("bench", "upstream", number),
            request=RawRequest("chat", body),
        )
        answered = wire.answer(asked, await self._backend.attempt(chat, 1), str(number))
        self.paid.append(asked.digest)
        return web.json_response(answered)


@contextmanager
def serving(latency_s: float) -> Iterator[Upstream]:
    """A provider that listens, in a thread of its own, for as long as the context lasts."""
    upstream, ready = Upstream(latency_s), threading.Event()
    loop = asyncio.new_event_loop()

    async def listen() -> web.AppRunner:
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/chat/completions", upstream.answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        upstream.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        return runner

    def run() -> None:
        runner = loop.run_until_complete(listen())
        ready.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    ready.wait()
    try:
        yield upstream
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
