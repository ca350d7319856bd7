"""Which error is which: what a provider or LiteLLM says, as a typed failure."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import aiohttp
import httpx

from plenum.models import allowance
from plenum.models.chat import CallError
from plenum.models.quiet import OpenAIError, exceptions, litellm
from plenum.models.routes import Route
from plenum.records import Failure
from plenum.secrets import redact

NOT_SENT = (
    *(aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError, aiohttp.ConnectionTimeoutError),
    *(httpx.ConnectError, httpx.ConnectTimeout),
)
"""Errors before anything was sent to the provider: connection refused, no such host, TLS."""

_BY_TYPE: tuple[tuple[type[Exception], Failure], ...] = (
    (exceptions.ContentPolicyViolationError, Failure.CONTENT_FILTER),
    (exceptions.Timeout, Failure.TIMEOUT),
    (exceptions.APIConnectionError, Failure.SERVER),
)
_BY_STATUS = {
    401: Failure.AUTH,
    403: Failure.AUTH,
    408: Failure.TIMEOUT,
    429: Failure.RATE_LIMIT,
}
# What the error body's `code` says more exactly than the status.
_BY_CODE = {
    "content_policy_violation": Failure.CONTENT_FILTER,
    "content_filter": Failure.CONTENT_FILTER,
    "insufficient_quota": Failure.BUDGET,
    "billing_hard_limit_reached": Failure.BUDGET,
}


def refused(route: Route, status: int, raw: bytes, headers: Mapping[str, str]) -> CallError:
    """The error of an answer whose status isn't 200, as LiteLLM would have classed it."""
    text = raw.decode(errors="replace")
    original = OpenAIError(status_code=status, message=text, headers=dict(headers))
    try:
        _classify(route, original)
    except Exception as error:
        failure = _BY_CODE.get(_code(text)) or _failure(error, status)
    wait = allowance.retry_after(headers)
    return CallError(failure, redact(_message(text) or f"status {status}"), status, wait)


def unreached(route: Route, error: BaseException) -> CallError:
    """The error of a connection that wasn't made; the first cause says most."""
    *_, cause = (one for one in _causes(error) if str(one) or one is error)
    told = f"no connection to {route.base or route.provider}: {type(cause).__name__}: {cause}"
    return CallError(Failure.SERVER, redact(told), reached=False)


def raised(route: Route, error: Exception) -> CallError:
    """The error that LiteLLM raised."""
    for cause in _causes(error):
        if isinstance(cause, NOT_SENT):
            return unreached(route, cause)
    status = getattr(error, "status_code", None)
    text = str(getattr(error, "message", error))
    body = getattr(error, "body", None)
    code = body.get("code") if isinstance(body, dict) else None
    failure = _BY_CODE.get(str(code)) or next((k for c, k in _BY_CODE.items() if c in text), None)
    return CallError(
        failure or _failure(error, status),
        redact(f"{type(error).__name__}: {text}"),
        status,
        allowance.retry_after(_headers(error)),
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and those that led to it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _classify(route: Route, original: Exception) -> NoReturn:
    litellm.exception_type(
        model=route.wire, original_exception=original, custom_llm_provider="openai"
    )
    raise original


def _failure(error: Exception, status: int | None) -> Failure:
    for kind, failure in _BY_TYPE:
        if isinstance(error, kind):
            return failure
    if status is None:
        return Failure.BUG
    return _BY_STATUS.get(status, Failure.SERVER if status >= 500 else Failure.REQUEST)


def _error(text: str) -> dict[str, Any]:
    try:
        error = json.loads(text)["error"]
    except (ValueError, KeyError, TypeError):
        return {}
    return error if isinstance(error, dict) else {"message": error}


def _code(text: str) -> str:
    return str(_error(text).get("code") or "")


def _message(text: str) -> str:
    return str(_error(text).get("message") or text)


def _headers(error: Exception) -> dict[str, str]:
    for holder in (
        getattr(error, "litellm_response_headers", None),
        getattr(getattr(error, "response", None), "headers", None),
    ):
        if holder:
            return {str(k).lower(): str(v) for k, v in dict(holder).items()}
    return {}
