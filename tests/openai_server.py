"""An OpenAI-compatible server on loopback, whose answers come from the simulated backend.

``script`` faults the first requests: each is a status, a header mapping, a body, or ``"hang"``.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from plenum.conditions import Simulated
from plenum.identity import seed_for
from plenum.models import Chat, Message
from plenum.models.simulated import SimulatedBackend


@dataclass
class Server:
    """What a test tells the server, and what the server saw."""

    script: list[dict[str, Any]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/chat/completions."""
        body = await request.json()
        self.requests.append({"body": body, "headers": dict(request.headers)})
        if self.script:
            fault = self.script.pop(0)
            await asyncio.sleep(fault.get("wait", 0))
            if "status" in fault:
                return web.json_response(
                    {"error": {"message": fault.get("message", "scripted"), "type": "t"}},
                    status=fault["status"],
                    headers=fault.get("headers"),
                )
            if "raw" in fault:
                return web.Response(text=fault["raw"], content_type="application/json")
            if "choice" in fault:
                return web.json_response(completion(body["model"], **fault["choice"]))
        return web.json_response(completion(body["model"], await answer(body)))


async def answer(body: dict[str, Any]) -> str:
    """The simulated agent's answer; the same prompt always gets the same one."""
    messages = tuple(Message(m["role"], m["content"]) for m in body["messages"])
    seed = seed_for("server", *(m.content for m in messages))
    chat = Chat(body["model"], messages, body["temperature"], body["max_tokens"], seed)
    return (await SimulatedBackend(Simulated()).attempt(chat, 1)).text


def completion(model: str, content: str, finish: str = "stop") -> dict[str, Any]:
    """A body as OpenAI sends it."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content},
                "finish_reason": finish,
            }
        ],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
    }


@contextmanager
def serving() -> Iterator[Server]:
    """Run a server in a thread of its own."""
    server, ready = Server(), threading.Event()
    loop = asyncio.new_event_loop()

    async def start() -> web.AppRunner:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", server.chat)
        runner = web.AppRunner(app, shutdown_timeout=0)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        assert site._server is not None
        port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
        server.url = f"http://127.0.0.1:{port}/v1"
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
