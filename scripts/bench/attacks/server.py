"""A server on loopback that answers by the model's name: each kind of hostile answer is a model."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from attacks.wire import Completion, Write, whole
from plenum.models import Chat, Message
from plenum_checks.fault_server.answers import SimulatedAnswers

_HOSTILE_CALLS = 3
"""So many calls of a kind are answered with hostility, each at its first attempt."""


@dataclass
class Hostile:
    """What the server does, and what it has seen.

    Attributes
    ----------
    always
        Every attempt is answered with hostility, not only the first one of some calls.
    requests
        Requests by kind.
    """

    kinds: Mapping[str, Write]
    always: bool = False
    url: str = ""
    requests: Counter[str] = field(default_factory=Counter)
    _calls: dict[str, set[str]] = field(default_factory=dict)
    _answers: SimulatedAnswers = field(default_factory=SimulatedAnswers)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request."""
        try:
            write, good = await self._answer(reader)
            await write(writer, good)
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client had enough
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader) -> tuple[Write, Completion]:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        request = json.loads(await reader.readexactly(int(headers["content-length"])))
        kind, ident = request["model"], headers.get("x-client-request-id", "-")
        self.requests[kind] += 1
        good = await self._completion(request)
        if self._turns(kind, *ident.rsplit("-", 1)):
            return self.kinds[kind], good
        return whole(json.dumps(good).encode()), good

    def _turns(self, kind: str, call: str, attempt: str) -> bool:
        """Return whether an attempt is answered with hostility."""
        calls = self._calls.setdefault(kind, set())
        if self.always or (attempt == "1" and (call in calls or len(calls) < _HOSTILE_CALLS)):
            calls.add(call)
            return True
        return False

    async def _completion(self, request: Completion) -> Completion:
        messages = tuple(Message(m["role"], m["content"]) for m in request["messages"])
        chat = Chat("m", messages, request["temperature"], request["max_tokens"], seed=1)
        message = {"role": "assistant", "content": (await self._answers(chat)).text}
        return {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": request["model"],
            "system_fingerprint": "fp_simulated",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
        }


async def _cancel_others() -> None:
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


@contextmanager
def serving(kinds: Mapping[str, Write], always: bool = False) -> Iterator[Hostile]:
    """Run a server in a thread of its own."""
    hostile, ready = Hostile(kinds, always), threading.Event()
    loop = asyncio.new_event_loop()

    async def start() -> asyncio.Server:
        server = await asyncio.start_server(hostile.serve, "127.0.0.1", 0, limit=2**26)
        hostile.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        ready.set()
        return server

    def run() -> None:
        loop.set_exception_handler(lambda *_: None)  # of connections that the clients cut
        server = loop.run_until_complete(start())
        loop.run_forever()
        server.close()
        loop.run_until_complete(_cancel_others())
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield hostile
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
