"""The server's HTTP layer: routes, refusals, and the form of each fault on the wire."""

import asyncio
import json
import math
import socket
import struct
import time
from collections.abc import Awaitable, Callable
from email.utils import formatdate
from functools import partial
from typing import Any

from aiohttp import web

from plenum_checks.fault_server import answers
from plenum_checks.fault_server.anthropic_batches import AnthropicBatchRoutes
from plenum_checks.fault_server.batches import Batches, digest_body
from plenum_checks.fault_server.draws import FaultDraws
from plenum_checks.fault_server.http_answers import (
    JSON,
    json_answer,
    lines_answer,
    make_error,
    refusal,
)
from plenum_checks.fault_server.openai_batches import OpenAIBatchRoutes
from plenum_checks.fault_server.questions import ParsedRequest, UnreadableRequest, read
from plenum_checks.fault_server.request_log import RequestEntry, RequestTally, duration
from plenum_checks.fault_server.settings import FaultSettings

PIECES = 20
"""Number of pieces in which a trickle sends its body."""
ERRORS = {
    "rate_limit": (429, "rate_limit_exceeded", "Rate limit reached; please try again later."),
    "server_error": (500, None, "The server had an error while processing your request."),
    "unavailable": (503, None, "The engine is currently overloaded; please try again later."),
    "auth": (401, "invalid_api_key", "Incorrect API key provided."),
    "content_filter": (
        400,
        "content_policy_violation",
        "Your request was rejected as a result of our safety system.",
    ),
}
"""Status, code and message of the faults that are simple error responses."""
_PAGE = "<html><body><h1>502 Bad Gateway</h1></body></html>"

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class FaultServer:
    """A server that answers requests or injects faults; one per event loop.

    Parameters
    ----------
    settings
        Faults, latency, limits, and the source of answers.
    """

    def __init__(self, settings: FaultSettings) -> None:
        self._settings = settings
        self._draws = FaultDraws(settings)
        self.tally = RequestTally(settings.limits)
        self._answers: answers.Answers = (
            answers.CannedAnswers() if settings.answers == "canned" else answers.SimulatedAnswers()
        )
        self.sides = tuple(
            side(Batches(settings.batches, settings.seed, self.tally), self._item, self._time)
            for side in (OpenAIBatchRoutes, AnthropicBatchRoutes)
        )
        self._clock = asyncio.get_running_loop().time
        self._started = self._clock()
        self._routes: dict[tuple[str, str], Handler] = {
            ("POST", "/v1/chat/completions"): self._chat,
            ("POST", "/api/chat"): self._chat,
            ("GET", "/v1/models"): self._models,
            ("GET", "/stats"): self._stats,
            ("GET", "/log"): self._log,
            ("POST", "/reset"): self._reset,
        }

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer any request."""
        route = self._routes.get((request.method, request.path)) or self._batch_route(request)
        if route is None:
            return refusal(404, None, f"there is no {request.method} {request.path} here")
        return await route(request)

    def _batch_route(self, request: web.BaseRequest) -> Handler | None:
        for side in self.sides:
            if (route := side.route(request.method, request.path)) is not None:
                self.tally.of_batches += 1
                return (
                    self._refuse_key
                    if self._is_locked(request)
                    else partial(self._look_up, side, route)
                )
        return None

    def _time(self) -> float:
        """Return Unix time by the clock that batches use."""
        return time.time() - self._settings.batches.behind_s

    async def _look_up(
        self,
        side: OpenAIBatchRoutes | AnthropicBatchRoutes,
        route: Handler,
        request: web.BaseRequest,
    ) -> web.StreamResponse:
        answer = await route(request)
        if request.method == "GET" and isinstance(answer, web.Response):
            answer = side.batches.garble(answer)
        answer.headers["Date"] = formatdate(self._time(), usegmt=True)
        return answer

    async def _refuse_key(self, request: web.BaseRequest) -> web.StreamResponse:
        return _error("auth")

    def _is_locked(self, request: web.BaseRequest) -> bool:
        key, given = self._settings.key, request.headers
        known = f"Bearer {key}" == given.get("Authorization") or key == given.get("x-api-key")
        return key is not None and not known

    async def _item(self, body: bytes, key: str) -> dict[str, Any]:
        """Return the answer to an item of a batch, equal to a live answer."""
        try:
            question = read(body, key, self._settings.schemas)
            reply = answers.spoilt(await self._answers(question.chat), self._draws.answer(key))
        except UnreadableRequest as error:
            return make_error(400, None, str(error))
        answer: dict[str, Any] = json.loads(answers.completion(question, reply))
        return answer

    async def _models(self, request: web.BaseRequest) -> web.StreamResponse:
        model = {"id": "simulated", "object": "model", "created": answers.CREATED}
        return json_answer({"object": "list", "data": [{**model, "owned_by": "plenum"}]})

    async def _stats(self, request: web.BaseRequest) -> web.StreamResponse:
        return json_answer(self.tally.stats())

    async def _log(self, request: web.BaseRequest) -> web.StreamResponse:
        return lines_answer(self.tally.log())

    async def _reset(self, request: web.BaseRequest) -> web.StreamResponse:
        self.tally.forget()
        return json_answer({"reset": True})

    async def _chat(self, request: web.BaseRequest) -> web.StreamResponse:
        began = self._clock()
        raw = await request.read()
        key = digest_body(raw)
        ident = request.headers.get("X-Client-Request-Id")
        session = request.headers.get("X-Session-ID")
        entry = self.tally.open_entry(ident, key, began - self._started, session)
        try:
            refusal = self._refuse(request)
            if refusal is not None:
                entry.status = refusal.status
                return refusal
            self.tally.admit(entry, self._clock())
            try:
                return await self._serve(request, raw, entry, began)
            finally:
                self.tally.note_end()
        finally:
            entry.done = True

    def _refuse(self, request: web.BaseRequest) -> web.Response | None:
        """Return the refusals of a real provider: wrong key, or request above the limits."""
        if self._is_locked(request):
            return _error("auth")
        wait = self.tally.wait(self._clock())
        if wait is None:
            return None
        wait = wait or self._settings.faults.retry_after_s
        return _error("rate_limit", {"Retry-After": _seconds(wait), **self._limit_headers(wait)})

    def _limit_headers(self, wait: float | None = None) -> dict[str, str]:
        """Return the headers of the limit per minute, or of the exceeded limit in flight."""
        limits, now = self._settings.limits, self._clock()
        if limits.rpm is not None:
            left, resets = self.tally.count_remaining(now), self.tally.frees_in(now)
        elif wait is not None:
            left, resets = 0, wait
        else:
            return {}
        return {
            "x-ratelimit-limit-requests": str(limits.rpm or limits.in_flight),
            "x-ratelimit-remaining-requests": str(left),
            "x-ratelimit-reset-requests": duration(resets),
        }

    async def _serve(
        self, request: web.BaseRequest, raw: bytes, entry: RequestEntry, began: float
    ) -> web.StreamResponse:
        try:
            native = request.path == "/api/chat"
            question = read(raw, entry.key, self._settings.schemas, native)
            entry.fault = self._draws.transport(entry.key, entry.n)
            body = await self._body(question, entry)
        except UnreadableRequest as error:
            entry.status, entry.fault = 400, None
            return refusal(400, None, str(error))
        if entry.fault == "hang":
            await asyncio.sleep(self._settings.faults.hang_s)
            return _abort(request)
        rest = began + self._draws.latency(entry.key, entry.n) - self._clock()
        if rest > 0:
            await asyncio.sleep(rest)
        return await self._send(request, entry, body)

    async def _body(self, question: ParsedRequest, entry: RequestEntry) -> bytes:
        """Return the good body or one with an answer fault; empty if none of it would be sent."""
        if entry.fault in ERRORS or entry.fault in ("hang", "wrong_type"):
            return b""
        if entry.fault == "empty_choices":
            return answers.completion(question, None)
        reply = await self._answers(question.chat)
        if entry.fault is None:
            entry.fault = self._draws.answer(entry.key)
            reply = answers.spoilt(reply, entry.fault)
        return answers.completion(question, reply)

    async def _send(
        self, request: web.BaseRequest, entry: RequestEntry, body: bytes
    ) -> web.StreamResponse:
        fault = entry.fault or ""
        if fault in ERRORS:
            entry.status = ERRORS[fault][0]
            wait = _seconds(self._settings.faults.retry_after_s)
            headers = {"Retry-After": wait} if fault == "rate_limit" else {}
            return _error(fault, {**headers, **self._limit_headers()})
        entry.status = 200
        if fault == "wrong_type":
            return web.Response(text=_PAGE, content_type="text/html")
        if fault == "reset":
            return await self._half(request, body)
        if fault == "trickle":
            return await self._trickle(request, entry, body)
        if fault == "truncated":
            body = body[: len(body) // 2]
        response = web.Response(body=body, content_type=JSON, headers=self._limit_headers())
        await response.prepare(request)
        await response.write_eof()
        entry.answered = fault not in ("truncated", "empty_choices")
        self.tally.paid[entry.key] += entry.answered
        return response

    async def _half(self, request: web.BaseRequest, body: bytes) -> web.StreamResponse:
        response = await self._open_response(request, body)
        await response.write(body[: len(body) // 2])
        return _abort(request, response)

    async def _trickle(
        self, request: web.BaseRequest, entry: RequestEntry, body: bytes
    ) -> web.StreamResponse:
        response = await self._open_response(request, body)
        size = math.ceil(len(body) / PIECES)
        for start in range(0, len(body), size):
            await asyncio.sleep(self._settings.faults.trickle_s / PIECES)
            await response.write(body[start : start + size])
        await response.write_eof()
        entry.answered = True
        self.tally.paid[entry.key] += 1
        return response

    async def _open_response(self, request: web.BaseRequest, body: bytes) -> web.StreamResponse:
        """Return a response whose headers are sent, so that the body can be written by hand."""
        headers = {"Content-Type": JSON, "Content-Length": str(len(body))}
        response = web.StreamResponse(headers={**headers, **self._limit_headers()})
        await response.prepare(request)
        return response


def _error(fault: str, headers: dict[str, str] | None = None) -> web.Response:
    return refusal(*ERRORS[fault], headers)


def _seconds(value: float) -> str:
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
