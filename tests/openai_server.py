"""The fault server with a script: how each of its first requests is answered.

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
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web
from support.fault_server import FaultServer, FaultSettings, RunningServer
from support.fault_server import serve_in_thread as fault_serving
from support.fault_server.answers import SimulatedAnswers
from support.fault_server.questions import read_request


class Server(FaultServer):
    """The script, and the requests that came; ``running`` is set once it listens."""

    running: RunningServer

    def __init__(self, settings: FaultSettings) -> None:
        super().__init__(settings)
        self.script: list[dict[str, Any]] = []
        self.requests: list[dict[str, Any]] = []
        self.dies_after = math.inf
        self._simulated = SimulatedAnswers()

    @property
    def url(self) -> str:
        """The base URL that clients are given."""
        return self.running.url

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer by the script, or as the simulated agent."""
        body = await request.json()
        assert request.transport is not None
        port = request.transport.get_extra_info("peername")[1]
        seen = {"headers": dict(request.headers), "path": request.path, "port": port}
        self.requests.append({"body": body, **seen})
        if len(self.requests) > self.dies_after:
            self.running.stop()
            request.transport.abort()
            return web.Response()
        if self.script:
            step = self.script.pop(0)
            await asyncio.sleep(step.get("wait", 0))
            scripted = await self._scripted(request, body, step)
            if scripted is not None:
                return scripted
        question = read_request(await request.read(), "")
        return web.json_response(
            completion(body["model"], (await self._simulated(question.chat)).text)
        )

    async def _scripted(
        self, request: web.BaseRequest, body: dict[str, Any], step: dict[str, Any]
    ) -> web.StreamResponse | None:
        headers = step.get("headers")
        if "status" in step:
            error = {"message": step.get("message", "scripted"), "type": "t"}
            if "code" in step:
                error["code"] = step["code"]
            return web.json_response({"error": error}, status=step["status"], headers=headers)
        if "raw" in step:
            kind = step.get("content_type", "application/json")
            return web.Response(text=step["raw"], content_type=kind)
        if "choice" in step:
            return web.json_response(completion(body["model"], **step["choice"]), headers=headers)
        if "reset" in step:
            assert request.transport is not None
            if "sent" in step:
                begun = web.StreamResponse(headers={"Content-Type": "application/json"})
                begun.content_length = 5000
                await begun.prepare(request)
                await begun.write(step["sent"].encode())
            request.transport.abort()
            return web.Response()
        return None


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
    with fault_serving(FaultSettings(port=port), Server) as running:
        server = running.server
        assert isinstance(server, Server)
        server.running, server.dies_after = running, dies_after
        yield server
