"""The lean path: OpenAI's protocol, and Anthropic's, on one pooled aiohttp session.

LiteLLM costs 3 to 8 ms of CPU a call and an HTTP client of its own. An endpoint that speaks
OpenAI's protocol needs neither; what LiteLLM knows of models stays in use: parameters
(:mod:`plenum.calls.api.routes`), prices, and which error is which.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import aiohttp
from aiohttp.helpers import get_env_proxy_for_url
from pydantic_core import PydanticSerializationError, to_json
from yarl import URL

from plenum.calls.api import bodies, completions, exchanges, faults, rate_headers
from plenum.calls.api.event_streams import parse_answer
from plenum.calls.api.interfaces import CHAT, ProviderInterface
from plenum.calls.api.prices import Price
from plenum.calls.api.routes import Route
from plenum.calls.api.servers import replica
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Chat, Response
from plenum.records.failures import Failure

ANTHROPIC_VERSION = "2023-06-01"
"""The version that is sent if a program names no other."""
_SESSION = ("X-Session-ID", "x-litellm-session-id", "X-SMG-Routing-Key")
"""Headers by which vLLM's router, LiteLLM and SGLang tell sessions apart; each reads its own
alone."""
_DNS_S = 300
"""Seconds for which an address is kept. aiohttp's 10 would look names up again all through a sweep;
with more, a provider that moves is missed for longer. The number is plenum's own."""
_KEPT_S = 30
"""Seconds for which an idle connection is kept, twice aiohttp's 15. The number is plenum's own:
less means more handshakes between turns, more means connections that the other end has closed."""


class Endpoint:
    """One route on the shared session, with the reader of its answers."""

    def __init__(
        self,
        route: Route,
        price: Price | None,
        reader: bodies.BodyReader,
        interface: ProviderInterface = CHAT,
    ) -> None:
        self.route = route
        self._price = price
        self._reader = reader
        self._interface = interface
        self._url = URL(f"{route.base}/{interface.path}")
        self._headers = make_headers(route)
        # A redirect could take the key, and the prompt, to another host.
        self._options = {"allow_redirects": False, **_look_up_proxy(self._url)}

    async def post(
        self, session: aiohttp.ClientSession, chat: Chat, number: int, parameters: dict[str, Any]
    ) -> Response:
        """Make one attempt.

        Raises
        ------
        CallError
            It failed.
        """
        headers = {**self._headers, **call_headers(chat, number)}
        if chat.request is not None:
            headers |= chat.request.headers
        request = make_request(self.route.wire, chat, parameters)
        body = _encode(request)
        try:
            async with session.post(
                self._url, data=body, headers=headers, **self._options
            ) as response:
                raw = await self._reader.read(response)
        except faults.NOT_SENT as error:
            raise faults.classify_connection(self.route, error) from None
        except aiohttp.ServerTimeoutError as error:
            raise CallError(Failure.TIMEOUT, f"the connection fell silent: {error}") from None
        except bodies.TooLong as error:
            raise CallError(Failure.SERVER, str(error), 200) from None
        except Exception as error:  # whatever aiohttp makes of what a server sends
            raise CallError(Failure.SERVER, f"{type(error).__name__}: {error}") from None
        exchanges.note(request, response.status, response.content_type, raw)
        if response.status != 200:
            raise faults.classify_status(self.route, response.status, raw, response.headers)
        return self._read(chat, raw, response.headers)

    def _read(self, chat: Chat, raw: bytearray, headers: Mapping[str, str]) -> Response:
        try:
            data = parse_answer(raw)
            response = completions.read_completion(
                self._interface.as_completion(data),
                self._price,
                logprobs=chat.logprobs,
                hold_s=rate_headers.hold_s(headers),
                server=replica(headers),
                chat=chat,
            )
            # A program reads the provider's own body, of which a reply is only a part.
            return response if chat.request is None else replace(response, body=data)
        except completions.ReportedError as told:
            raise faults.classify_reported(self.route, told, headers) from None
        except completions.UnfitReply as why:
            kind = headers.get("Content-Type", "no type")
            problem = f"the answer is no completion ({kind}, {len(raw)} bytes): {why}"
            raise CallError(Failure.SERVER, problem, 200) from None


def open_session(connections: int, idle_s: float) -> aiohttp.ClientSession:
    """Open a session with a bounded pool, kept connections and cached names.

    The total time of an attempt is bounded by :mod:`plenum.calls.retry`.
    """
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            limit=connections, ttl_dns_cache=_DNS_S, keepalive_timeout=_KEPT_S
        ),
        # A long answer may take minutes: silence ends it here, its length elsewhere.
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=idle_s, sock_read=idle_s),
        # Calls are independent draws: nothing of an answer goes along with the next one.
        cookie_jar=aiohttp.DummyCookieJar(),
    )


def call_headers(chat: Chat, number: int) -> dict[str, str]:
    """Make the headers that identify an attempt at a call.

    By the session's header, routers send all calls of a replicate to one server: vLLM's, LiteLLM's,
    SGLang's.
    """
    session = dict.fromkeys(_SESSION, chat.session) if chat.session else {}
    # An attempt has its own id, by which a provider can find it in its logs.
    return {**session, "X-Client-Request-Id": f"{chat.seed:016x}-{number}"}


def make_headers(route: Route) -> dict[str, str]:
    """Make the headers of every request to an endpoint."""
    headers = {"Content-Type": "application/json", "User-Agent": "plenum"}
    if route.provider == "anthropic":
        headers |= {"x-api-key": route.key or "", "anthropic-version": ANTHROPIC_VERSION}
    if route.key:
        headers["Authorization"] = f"Bearer {route.key}"
    if route.provider == "openai":
        for name in ("Organization", "Project"):
            if value := os.environ.get(f"OPENAI_{name.upper()}"):
                headers[f"OpenAI-{name}"] = value
    return headers


def make_request(wire: str, chat: Chat, parameters: dict[str, Any]) -> dict[str, Any]:
    """Make a call in OpenAI's protocol, or the request that a program wrote."""
    if chat.request is not None:
        return {**chat.request.body, "model": wire}
    messages = [{"role": m.role, "content": m.content} for m in chat.messages]
    return {"model": wire, "messages": messages, **parameters}


def _encode(request: dict[str, Any]) -> bytes:
    """Encode a request as JSON, in a third of the time that Python's encoder takes."""
    try:
        return to_json(request)
    except PydanticSerializationError:  # a program's half of a character, which has no UTF-8
        return json.dumps(request).encode()


def _look_up_proxy(url: URL) -> dict[str, Any]:
    """Look up the proxy that the environment names for a URL; cached, since it is slow."""
    try:
        proxy, login = get_env_proxy_for_url(url)
    except LookupError:
        return {}
    return {"proxy": proxy, "proxy_auth": login}
