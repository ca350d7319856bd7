"""An OpenAI-compatible server on loopback, whose answers come from the simulated backend.

``script`` says how the first requests are answered, one step a request; all other requests get the
simulated agent's answer. A step has one of

- ``status``, with ``message``, ``code`` and ``headers``: an error as OpenAI words it
- ``raw``, with ``content_type``: a body as it is
- ``choice``: the arguments of :func:`completion`, with ``headers``
- ``reset``: the connection is cut; with ``sent``, after the beginning of a body

and ``wait``: seconds before any of it.

A server that ``dies_after`` so many requests answers none of the others, and listens no more.
"""

import asyncio
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from plenum.base.identity import seed_for
from plenum.design.condition import Simulated
from plenum.models import Chat, Message
from plenum.models.simulated import SimulatedBackend

KEY = "sk-canary-0123456789abcdef"
"""What the tests look for wherever no key may be."""


@dataclass
class Server:
    """What a test tells the server, and what the server saw."""

    script: list[dict[str, Any]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""
    dies_after: float = math.inf
    site: web.TCPSite | None = None

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/chat/completions."""
        body = await request.json()
        assert request.transport is not None
        self.requests.append(
            {
                "body": body,
                "headers": dict(request.headers),
                "path": request.path,
                "port": request.transport.get_extra_info("peername")[1],
            }
        )
        if len(self.requests) > self.dies_after:
            assert self.site is not None
            assert self.site._server is not None
            self.site._server.close()
            request.transport.abort()
            return web.Response()
        if self.script:
            fault = self.script.pop(0)
            await asyncio.sleep(fault.get("wait", 0))
            scripted = await self._scripted(request, body, fault)
            if scripted is not None:
                return scripted
        return web.json_response(completion(body["model"], await answer(body)))

    async def _scripted(
        self, request: web.Request, body: dict[str, Any], fault: dict[str, Any]
    ) -> web.StreamResponse | None:
        headers = fault.get("headers")
        if "status" in fault:
            error = {"message": fault.get("message", "scripted"), "type": "t"}
            if "code" in fault:
                error["code"] = fault["code"]
            return web.json_response({"error": error}, status=fault["status"], headers=headers)
        if "raw" in fault:
            kind = fault.get("content_type", "application/json")
            return web.Response(text=fault["raw"], content_type=kind)
        if "choice" in fault:
            return web.json_response(completion(body["model"], **fault["choice"]), headers=headers)
        if "reset" in fault:
            assert request.transport is not None
            if "sent" in fault:
                begun = web.StreamResponse(headers={"Content-Type": "application/json"})
                begun.content_length = 5000
                await begun.prepare(request)
                await begun.write(fault["sent"].encode())
            request.transport.abort()
            return web.Response()
        return None


async def answer(body: dict[str, Any]) -> str:
    """The simulated agent's answer; the same prompt always gets the same one."""
    messages = tuple(Message(m["role"], m["content"]) for m in body["messages"])
    seed = seed_for("server", *(m.content for m in messages))
    chat = Chat(body["model"], messages, body["temperature"], body["max_tokens"], seed)
    return (await SimulatedBackend(Simulated()).attempt(chat, 1)).reply.text


def completion(
    model: str, content: str | None, finish: str = "stop", cached: int = 0, **message: Any
) -> dict[str, Any]:
    """A body as OpenAI sends it; ``message`` goes into the message."""
    usage: dict[str, Any] = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    if cached:
        usage["prompt_tokens_details"] = {"cached_tokens": cached}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "system_fingerprint": "fp_1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **message},
                "finish_reason": finish,
            }
        ],
        "usage": usage,
    }


@contextmanager
def serving(port: int = 0, dies_after: float = math.inf) -> Iterator[Server]:
    """Run a server in a thread of its own."""
    server, ready = Server(dies_after=dies_after), threading.Event()
    loop = asyncio.new_event_loop()

    async def start() -> web.AppRunner:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", server.chat)
        runner = web.AppRunner(app, shutdown_timeout=0.01)  # 0 would be no limit
        await runner.setup()
        server.site = site = web.TCPSite(runner, "127.0.0.1", port, reuse_address=True)
        await site.start()
        assert site._server is not None
        bound = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
        server.url = f"http://127.0.0.1:{bound}/v1"
        return runner

    def serve() -> None:
        asyncio.set_event_loop(loop)
        runner = loop.run_until_complete(start())
        ready.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
