"""The server's HTTP layer: routes, refusals, and the form of each fault on the wire."""

import asyncio
import json
import math
import socket
import struct
import time
from email.utils import formatdate
from typing import Any

from aiohttp import web

from support.fault_server import answers
from support.fault_server.anthropic_batches import AnthropicBatchRoutes
from support.fault_server.batches import Handler, digest_body
from support.fault_server.draws import FaultDraws
from support.fault_server.http_answers import JSON, answer_json, answer_lines, make_error, refuse
from support.fault_server.openai_batches import OpenAIBatchRoutes
from support.fault_server.questions import ParsedRequest, UnreadableRequest, read_request
from support.fault_server.request_log import RequestEntry, RequestTally
from support.fault_server.settings import FaultSettings

PIECES = 20
"""Number of pieces in which a trickle sends its body."""
ERRORS = {
    "rate_limit": (429, "rate_limit_exceeded", "Rate limit reached; please try again later."),
    "server_error": (500, None, "The server had an error while processing your request."),
    "unavailable": (503, None, "The engine is currently overloaded; please try again later."),
    "auth": (401, "invalid_api_key", "Incorrect API key provided."),
    "content_filter": (400, "content_policy_violation", "Your request was rejected."),
}
"""Status, code and message of the faults that are simple error responses."""
_PAGE = "<html><body><h1>502 Bad Gateway</h1></body></html>"


class FaultServer:
    """A server that answers requests or injects faults; one per event loop."""

    def __init__(self, settings: FaultSettings) -> None:
        self._settings = settings
        self._draws = FaultDraws(settings)
        self.tally = RequestTally(settings.limits)
        canned = settings.answers == "canned"
        self._answers = answers.answer_canned if canned else answers.SimulatedAnswers()
        self.sides = tuple(
            side(settings.batches, self.tally, self._answer_item, self._now)
            for side in (OpenAIBatchRoutes, AnthropicBatchRoutes)
        )
        self._clock = asyncio.get_running_loop().time
        self._started = self._clock()
        self._routes: dict[tuple[str, str], Handler] = {
            ("POST", "/v1/chat/completions"): self._answer_chat,
            ("POST", "/api/chat"): self._answer_chat,
            ("GET", "/stats"): self._show_stats,
            ("GET", "/log"): self._show_log,
        }

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer any request."""
        if (route := self._routes.get((request.method, request.path))) is not None:
            return await route(request)
        for side in self.sides:
            if (route := side.find_route(request.method, request.path)) is not None:
                self.tally.of_batches += 1
                if self._is_locked(request):
                    return _refuse("auth")
                answer = await route(request)
                if request.method == "GET" and isinstance(answer, web.Response):
                    answer = side.garble(answer)
                answer.headers["Date"] = formatdate(self._now(), usegmt=True)
                return answer
        return refuse(404, None, f"there is no {request.method} {request.path} here")

    def _now(self) -> float:
        """Return Unix time by the clock that batches use."""
        return time.time() - self._settings.batches.behind_s

    def _is_locked(self, request: web.BaseRequest) -> bool:
        key, given = self._settings.key, request.headers
        known = f"Bearer {key}" == given.get("Authorization") or key == given.get("x-api-key")
        return key is not None and not known

    async def _answer_item(self, body: bytes, key: str) -> dict[str, Any]:
        """Return the answer to an item of a batch, equal to a live answer."""
        try:
            question = read_request(body, key, self._settings.schemas)
            reply = answers.spoil(await self._answers(question.chat), self._draws.answer(key))
        except UnreadableRequest as error:
            return make_error(400, None, str(error))
        answer: dict[str, Any] = json.loads(answers.write_completion(question, reply))
        return answer

    async def _show_stats(self, request: web.BaseRequest) -> web.StreamResponse:
        return answer_json(self.tally.stats())

    async def _show_log(self, request: web.BaseRequest) -> web.StreamResponse:
        return answer_lines(self.tally.log())

    async def _answer_chat(self, request: web.BaseRequest) -> web.StreamResponse:
        began = self._clock()
        raw = await request.read()
        ident = request.headers.get("X-Client-Request-Id")
        entry = self.tally.open_entry(ident, digest_body(raw), began - self._started)
        if (refusal := self._refuse_at_once(request)) is not None:
            entry.status = refusal.status
            return refusal
        self.tally.admit(entry, self._clock())
        try:
            return await self._serve(request, raw, entry, began)
        finally:
            self.tally.note_end()

    def _refuse_at_once(self, request: web.BaseRequest) -> web.Response | None:
        """Return the refusals of a real provider: wrong key, or request above the limits."""
        if self._is_locked(request):
            return _refuse("auth")
        wait = self.tally.wait(self._clock())
        if wait is None:
            return None
        seconds = _round_up(wait or self._settings.faults.retry_after_s)
        return _refuse("rate_limit", {"Retry-After": seconds})

    async def _serve(
        self, request: web.BaseRequest, raw: bytes, entry: RequestEntry, began: float
    ) -> web.StreamResponse:
        try:
            native = request.path == "/api/chat"
            question = read_request(raw, entry.key, self._settings.schemas, native)
            entry.fault = self._draws.transport(entry.key, entry.n)
            body = await self._make_body(question, entry)
        except UnreadableRequest as error:
            entry.status, entry.fault = 400, None
            return refuse(400, None, str(error))
        if entry.fault == "hang":
            await asyncio.sleep(self._settings.faults.hang_s)
            return _abort(request)
        # The time that the answer took to make is part of the latency.
        await asyncio.sleep(began + self._settings.latency.median_s - self._clock())
        return await self._send(request, entry, body)

    async def _make_body(self, question: ParsedRequest, entry: RequestEntry) -> bytes:
        """Return the good body or one with an answer fault; empty if none of it would be sent."""
        if entry.fault in ERRORS or entry.fault in ("hang", "wrong_type"):
            return b""
        if entry.fault == "empty_choices":
            return answers.write_completion(question, None)
        reply = await self._answers(question.chat)
        if entry.fault is None:
            entry.fault = self._draws.answer(entry.key)
            reply = answers.spoil(reply, entry.fault)
        return answers.write_completion(question, reply)

    async def _send(
        self, request: web.BaseRequest, entry: RequestEntry, body: bytes
    ) -> web.StreamResponse:
        fault = entry.fault or ""
        if fault in ERRORS:
            entry.status = ERRORS[fault][0]
            wait = _round_up(self._settings.faults.retry_after_s)
            return _refuse(fault, {"Retry-After": wait} if fault == "rate_limit" else None)
        entry.status = 200
        if fault == "wrong_type":
            return web.Response(text=_PAGE, content_type="text/html")
        if fault == "truncated":
            body = body[: len(body) // 2]
        if fault in ("reset", "trickle"):
            response = await self._open_response(request, body)
            if fault == "reset":
                await response.write(body[: len(body) // 2])
                return _abort(request, response)
            size = math.ceil(len(body) / PIECES)
            for start in range(0, len(body), size):
                await asyncio.sleep(self._settings.faults.trickle_s / PIECES)
                await response.write(body[start : start + size])
        else:
            response = web.Response(body=body, content_type=JSON)
            await response.prepare(request)
        await response.write_eof()
        if fault not in ("truncated", "empty_choices"):
            self.tally.note_answer(entry)
        return response

    async def _open_response(self, request: web.BaseRequest, body: bytes) -> web.StreamResponse:
        """Return a response whose headers are sent, so that the body can be written by hand."""
        headers = {"Content-Type": JSON, "Content-Length": str(len(body))}
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        return response


def _refuse(fault: str, headers: dict[str, str] | None = None) -> web.Response:
    return refuse(*ERRORS[fault], headers)


def _round_up(value: float) -> str:
    """Format seconds, rounded up to milliseconds, so that a client never returns too early."""
    return f"{math.ceil(value * 1000 - 1e-6) / 1000:g}"


def _abort(
    request: web.BaseRequest, response: web.StreamResponse | None = None
) -> web.StreamResponse:
    """Cut the connection with a TCP reset; the returned response is never sent."""
    if request.transport is not None:
        wire = request.transport.get_extra_info("socket")
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        request.transport.abort()
    return response or web.Response()
