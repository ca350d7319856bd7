"""The recording proxy: one server on loopback, with a path for every run.

``/r/RUN/v1`` implements OpenAI's chat completions and responses and Anthropic's messages;
``/r/RUN/plenum`` accepts a program's reports on itself. Knowledge of a run's path authorises its
use: it contains a random token, the only key that a program gets. Requests with another key are
refused, and those that a browser sends for a foreign web page.
"""

import json
import logging
import re
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from plenum.base.text import replace_surrogates
from plenum.calls.api.completions import UnfitReply, parse_body
from plenum_audit.programs.self_reports import RefusedReport
from plenum_audit.programs.session import NoAnswer, Session
from plenum_audit.programs.wire import INTERFACES, BadRequest

MOST_BYTES = 32 * 2**20
"""Maximal size of a request's body."""
_PATHS = {"chat/completions": "chat", "responses": "responses", "messages": "messages"}
_HOST = "127.0.0.1"
_NAMES = (_HOST, "localhost", "[::1]")
"""Names of this machine in its own programs' requests."""

_SILENT = logging.Logger("plenum.proxy", logging.CRITICAL + 1)
"""A logger for aiohttp that drops its tracebacks on malformed requests, with their addresses."""

_NO_RETRY = {"x-should-retry": "false"}
"""Headers that keep the client from retrying, which the audit has done already."""


class Proxy:
    """A server of sessions on one event loop, from :meth:`start` to :meth:`stop`.

    Attributes
    ----------
    url
        URL of the server, without a path; empty before the start.
    """

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self._ended: dict[str, list[str]] = {}
        self._runner: web.AppRunner | None = None
        self.url = ""

    async def start(self) -> None:
        """Listen on a free port."""
        layers = [_in_one_line, self._from_here]
        app = web.Application(client_max_size=MOST_BYTES, middlewares=layers)
        app.router.add_route("*", "/r/{run}/v1/{path:.+}", self._model)
        app.router.add_route("*", "/r/{run}/plenum/{what}", self._report)
        self._runner = web.AppRunner(app, access_log=None, logger=_SILENT, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, _HOST, 0, backlog=4096).start()
        self.url = f"http://{_HOST}:{self._runner.addresses[0][1]}"

    def open(self, session: Session) -> str:
        """Serve a run; return its base URL for OpenAI's clients (Anthropic's omit ``/v1``)."""
        run = _name(session)
        self._sessions[run] = session
        session.base_url = f"{self.url}/r/{run}/v1"
        return session.base_url

    async def close(self, session: Session) -> None:
        """End a run; later requests are refused, and noted among its problems."""
        await session.end()
        self._sessions.pop(_name(session), None)
        self._ended[_name(session)] = session.problems

    async def stop(self) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    @web.middleware
    async def _from_here(self, request: web.Request, handler: Any) -> web.StreamResponse:
        """Refuse requests that a browser sends for a foreign page, possibly by DNS rebinding."""
        port = self.url.rpartition(":")[2]
        hosts = {f"{name}:{port}" for name in _NAMES}
        for name, own in (("Host", hosts), ("Origin", {f"http://{host}" for host in hosts})):
            sent = request.headers.get(name)
            if sent is not None and sent.lower() not in own:
                raise NoAnswer(403, f"{name}: only programs of this machine are served")
        response: web.StreamResponse = await handler(request)
        return response

    def _session(self, request: web.Request) -> Session:
        run = request.match_info["run"]
        if run in self._sessions:
            self._refuse_other_keys(self._sessions[run], request)
            return self._sessions[run]
        if run in self._ended:
            line = "it went on calling after its end: refused"
            self._ended[run] += [] if line in self._ended[run] else [line]
            raise NoAnswer(410, "this run has ended: nothing more is answered")
        index = run.partition("-")[0]
        if any(known.partition("-")[0] == index for known in self._sessions):
            raise NoAnswer(401, f"run {index}: this isn't its token")
        raise NoAnswer(404, "there is no such run: use the base URL that plenum sets")

    def _refuse_other_keys(self, session: Session, request: web.Request) -> None:
        """Refuse a key that isn't the run's; without a key the path is enough.

        The key of another run shows that runs share globals, which would mix their calls.
        """
        key = re.sub("(?i)^bearer *", "", request.headers.get("Authorization", ""))
        keys = {key, request.headers.get("x-api-key", "")} - {"", session.token}
        if not keys:
            return
        line = (
            "it called with a key that isn't its run's: give run.token, OPENAI_API_KEY or {token}"
        )
        if keys & {other.token for other in self._sessions.values()}:
            line = (
                "it called with another run's key: its runs share state; committee.isolate=process"
            )
        session.problem(line)
        raise NoAnswer(401, f"run {session.index}: {line}")

    async def _model(self, request: web.Request) -> web.Response:
        path = request.match_info["path"]
        interface = _PATHS.get(path)
        if path == "models" and request.method == "GET":
            return web.json_response(_models(self._session(request)))
        if interface is None or request.method != "POST":
            raise NoAnswer(
                404, f"{request.method} /v1/{path} isn't served; POST {', '.join(_PATHS)}"
            )
        wire = INTERFACES[interface]
        try:
            session = self._session(request)
            called, body = await session.call(interface, await _body(request), request.headers)
            if not called.stream:
                return _json(body)
            events = "".join(_event(name, data) for name, data in wire.events(body, called))
            headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
            return web.Response(body=events.encode(), headers=headers)
        except BadRequest as why:
            return _json(wire.error(400, str(why)), 400)
        except NoAnswer as why:
            return _json(wire.error(why.status, str(why)), why.status, why.again)

    async def _report(self, request: web.Request) -> web.Response:
        session, what = self._session(request), request.match_info["what"]
        if what == "case" and request.method == "GET":
            return _json(session.case())
        if what not in ("say", "vote", "decision") or request.method != "POST":
            raise NoAnswer(404, f"{request.method} /plenum/{what} isn't served")
        try:
            if what == "decision":
                session.decide(await _body(request))
            else:
                session.report(what, await _body(request))
        except (RefusedReport, BadRequest) as why:
            raise NoAnswer(400, str(why)) from None
        return _json({})


@web.middleware
async def _in_one_line(request: web.Request, handler: Any) -> web.StreamResponse:
    """Convert every refusal to JSON with a one-line message."""
    try:
        response: web.StreamResponse = await handler(request)
        return response
    except NoAnswer as why:
        return _json({"error": {"message": str(why)}}, why.status)
    except web.HTTPException as error:
        return _json({"error": {"message": error.reason}}, error.status)
    except Exception as bug:
        return _json({"error": {"message": f"bug of plenum: {type(bug).__name__}: {bug}"}}, 500)


async def _body(request: web.Request) -> dict[str, Any]:
    """Return the JSON object of a request.

    Raises
    ------
    BadRequest
        It has none.
    NoAnswer
        It is too long.
    """
    try:
        raw = await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise NoAnswer(413, f"the body is longer than {MOST_BYTES // 2**20} MB") from None
    except web.RequestPayloadError:
        raise BadRequest("the body isn't what Content-Encoding or its length says") from None
    try:
        body = parse_body(raw)
    except UnfitReply as why:
        raise BadRequest(f"the body: {why}") from None
    if not isinstance(body, dict):
        raise BadRequest("the body is no object")
    lone = b"\\ud" in raw or b"\\uD" in raw
    return _well_formed(body) if lone or not _is_utf8(raw) else body


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _well_formed(value: Any) -> Any:
    """Remove halves of surrogate pairs, which can't be stored in a file."""
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, Mapping):
        return {replace_surrogates(key): _well_formed(item) for key, item in value.items()}
    return [_well_formed(item) for item in value] if isinstance(value, list) else value


def _models(session: Session) -> dict[str, Any]:
    named = {"id": session.condition.model, "object": "model", "created": 0, "owned_by": "plenum"}
    return {"object": "list", "data": [named]}


def _event(name: str, data: Any) -> str:
    written = data if isinstance(data, str) else json.dumps(data)
    return f"event: {name}\ndata: {written}\n\n" if name else f"data: {written}\n\n"


def _json(body: Any, status: int = 200, again: bool = False) -> web.Response:
    headers = {} if status == 200 or again else _NO_RETRY
    data = json.dumps(body).encode()
    return web.Response(body=data, status=status, content_type="application/json", headers=headers)


def _name(session: Session) -> str:
    return f"{session.index}-{session.token}"
