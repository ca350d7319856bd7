"""The lean path: OpenAI's protocol on one pooled aiohttp session.

LiteLLM costs 3 to 8 ms of CPU a call and an HTTP client of its own. An endpoint that speaks
OpenAI's protocol needs neither; what LiteLLM knows of models stays in use: parameters
(:mod:`plenum.models.routes`), prices, and which error is which.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

import aiohttp
from aiohttp.helpers import get_env_proxy_for_url
from yarl import URL

from plenum.models import allowance, faults
from plenum.models.chat import CallError, Chat, Reply, Response
from plenum.models.prices import Price
from plenum.models.routes import Route
from plenum.records import Failure
from plenum.secrets import redact

_DNS_S = 300
_KEPT_S = 30


class Endpoint:
    """One route on the shared session."""

    def __init__(self, route: Route, price: Price | None) -> None:
        self.route = route
        self._price = price
        self._url = URL(f"{route.base}/chat/completions")
        self._headers = _headers(route)
        self._options = {"allow_redirects": False, **_proxied(self._url)}

    async def post(
        self, session: aiohttp.ClientSession, chat: Chat, number: int, parameters: dict[str, Any]
    ) -> Response:
        """Make one attempt.

        Raises
        ------
        CallError
            It failed.
        """
        headers = {**self._headers, "X-Client-Request-Id": f"{chat.seed:016x}-{number}"}
        body = _body(self.route.wire, chat, parameters)
        try:
            async with session.post(
                self._url, data=body, headers=headers, **self._options
            ) as response:
                raw = await response.read()
        except faults.NOT_SENT as error:
            raise faults.unreached(self.route, error) from None
        except aiohttp.ServerTimeoutError as error:
            raise CallError(Failure.TIMEOUT, f"the connection fell silent: {error}") from None
        except (aiohttp.ClientError, OSError) as error:
            told = redact(f"{type(error).__name__}: {error}")
            raise CallError(Failure.SERVER, told) from None
        if response.status != 200:
            raise faults.refused(self.route, response.status, raw, response.headers)
        return self._read(chat, raw, response.headers)

    def _read(self, chat: Chat, raw: bytes, headers: Mapping[str, str]) -> Response:
        try:
            data = json.loads(raw)
            choices = data["choices"]
            if choices == []:
                raise CallError(Failure.EMPTY, "the provider answered without choices", 200)
            choice, usage = choices[0], data["usage"]
            tokens_in, tokens_out = int(usage["prompt_tokens"]), int(usage["completion_tokens"])
            message, finish = choice["message"], choice.get("finish_reason") or "stop"
            text = message.get("content") or ""
            cost = self._cost(usage, tokens_in, tokens_out)
            logprobs = _logprobs(choice) if chat.logprobs else ()
            if min(tokens_in, tokens_out) < 0:
                raise ValueError("negative tokens")
        except (ValueError, KeyError, TypeError, AttributeError):
            kind = headers.get("Content-Type", "no type")
            raise CallError(
                Failure.SERVER, f"the answer is no completion ({kind}, {len(raw)} bytes)", 200
            ) from None
        if not isinstance(text, str):
            raise CallError(Failure.SERVER, "the answer's content is no text", 200)
        if not text and message.get("refusal"):
            text, finish = str(message["refusal"]), "refusal"
        return Response(
            Reply(text, tokens_in, tokens_out, finish, cost),
            hold_s=allowance.hold_s(headers),
            fingerprint=data.get("system_fingerprint"),
            logprobs=logprobs,
        )

    def _cost(self, usage: dict[str, Any], tokens_in: int, tokens_out: int) -> float | None:
        if self._price is None:
            return None
        details = usage.get("prompt_tokens_details") or {}
        return self._price.of(tokens_in, tokens_out, int(details.get("cached_tokens") or 0))


def open_session(connections: int, idle_s: float) -> aiohttp.ClientSession:
    """A session with a bounded pool, kept connections and cached names.

    The total time of an attempt is bounded by :mod:`plenum.models.retry`.
    """
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            limit=connections, ttl_dns_cache=_DNS_S, keepalive_timeout=_KEPT_S
        ),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=idle_s, sock_read=idle_s),
        cookie_jar=aiohttp.DummyCookieJar(),
    )


def _headers(route: Route) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "User-Agent": "plenum"}
    if route.key:
        headers["Authorization"] = f"Bearer {route.key}"
    if route.provider == "openai":
        for name in ("Organization", "Project"):
            if value := os.environ.get(f"OPENAI_{name.upper()}"):
                headers[f"OpenAI-{name}"] = value
    return headers


def _body(wire: str, chat: Chat, parameters: dict[str, Any]) -> bytes:
    messages = [{"role": m.role, "content": m.content} for m in chat.messages]
    return json.dumps({"model": wire, "messages": messages, **parameters}).encode()


def _logprobs(choice: dict[str, Any]) -> tuple[tuple[str, float], ...]:
    content = (choice.get("logprobs") or {}).get("content") or []
    return tuple(
        (str(token["token"]), float(token["logprob"]))
        for token in content
        if "token" in token and "logprob" in token
    )


def _proxied(url: URL) -> dict[str, Any]:
    """The proxy that the environment names for an URL; looked up once, since it is slow."""
    try:
        proxy, login = get_env_proxy_for_url(url)
    except LookupError:
        return {}
    return {"proxy": proxy, "proxy_auth": login}
