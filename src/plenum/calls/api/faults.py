"""Classification of errors of providers and of LiteLLM as typed failures."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import aiohttp

from plenum.calls.api import bodies, completions, rate_headers
from plenum.calls.api.routes import Route
from plenum.calls.call_errors import CallError
from plenum.records.failures import Failure

NOT_SENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ClientHttpProxyError,
    aiohttp.ConnectionTimeoutError,
)
"""Errors before anything was sent to the provider: connection refused, no such host, TLS."""

_BY_WORDS = (
    ("Request Timeout Error|Request timed out|Timed out generating response", Failure.TIMEOUT),
    ("The read operation timed out", Failure.TIMEOUT),
    (r"(?i)rate[\s_-]*limit|service tier capacity exceeded", None),
    ("A timeout occurred", Failure.TIMEOUT),
    ("(?s)(?=.*invalid_request_error).*content_policy_violation", Failure.CONTENT_FILTER),
    ("(?s)Invalid prompt.*violating our usage policy", Failure.CONTENT_FILTER),
    ("(?i)request was rejected as a result of the safety system", Failure.CONTENT_FILTER),
)
"""Failures by words of an error, in LiteLLM's order; ``None`` leaves it to the status."""
_BY_TYPE = {
    "ContentPolicyViolationError": Failure.CONTENT_FILTER,
    "Timeout": Failure.TIMEOUT,
    "APIConnectionError": Failure.SERVER,
}
"""Errors of LiteLLM's by their class, or one that it comes from."""
_BY_STATUS = {
    401: Failure.AUTH, 402: Failure.BUDGET, 403: Failure.AUTH, 408: Failure.TIMEOUT,
    429: Failure.RATE_LIMIT, 504: Failure.TIMEOUT,
}  # fmt: skip
# What the error body's `code` says more exactly than the status.
_BY_CODE = {
    "content_policy_violation": Failure.CONTENT_FILTER,
    "content_filter": Failure.CONTENT_FILTER,
    "insufficient_quota": Failure.BUDGET,
    "billing_hard_limit_reached": Failure.BUDGET,
    "Arrearage": Failure.BUDGET,
}

# How providers say of an account that it has no money; the status is 400, 402, 403 or 429.
_NO_MONEY = re.compile(
    r"insufficient[ _](?:account )?(?:balance|credits?|funds|quota)|credit balance|out of credits|"
    r"balance is (?:negative|too low|insufficient)|top up|account.{0,20}in good standing|"
    r"exceeded your current quota|billing_hard_limit|no credits? (?:left|remaining)|"
    r"used all (?:available|your) credits|(?:specified|monthly) (?:api )?(?:usage|spending) limit|"
    r"余额不足|欠费",
    re.IGNORECASE,
)
# A quota of so many calls a minute is a limit that one waits for, whatever else is said.
_RATE = re.compile(r"per (?:second|minute|hour|day)|(?:retry|try again) in", re.IGNORECASE)

_REFUSED = re.compile(r"refused|Connect call failed", re.IGNORECASE)
"""Words of systems for an address that nobody listens at."""
_UNAVAILABLE = 503
"""Servers answer with it while they load a model, and where they have too much to do."""
_LOADING = re.compile(
    r"\b(?:(?:down)?loading|loaded|starting|booting|initiali[sz]ing|warming up|not ready|"
    r"no healthy upstream)\b",
    re.IGNORECASE,
)

_LONGEST = 10_000
"""Characters of an error's body that are classified. A reason stands at the beginning, and patterns
with `.*` take time with each character."""


def classify_status(
    route: Route, status: int, raw: bytes | bytearray, headers: Mapping[str, str]
) -> CallError:
    """Classify an answer whose status isn't 200, as LiteLLM would have done."""
    text = raw.decode(errors="replace")
    code, message = _error(raw)
    told = (failure for words, failure in _BY_WORDS if re.search(words, text[:_LONGEST]))
    # The most exact first: 400 and 429 may both say that an account has no money.
    failure = _by_code(code, message) or next(told, None) or _by_status(status)
    said = message or text or f"status {status}"
    return _make_error(failure, said, status, rate_headers.retry_after(headers))


def classify_reported(
    route: Route, told: completions.ReportedError, headers: Mapping[str, str]
) -> CallError:
    """Classify an error that came with status 200, by the code that it names."""
    raw = json.dumps({"error": told.error}).encode()
    return classify_status(route, told.status, raw, headers)


def classify_connection(route: Route, error: BaseException) -> CallError:
    """Classify a connection that wasn't made; the first cause says most."""
    *_, cause = (candidate for candidate in _causes(error) if str(candidate) or candidate is error)
    detail = f"no connection to {route.base or route.provider}: {type(cause).__name__}: {cause}"
    return CallError(Failure.SERVER, detail, reached=False, starting=bool(_REFUSED.search(detail)))


def classify_raised(route: Route, error: Exception) -> CallError:
    """Classify an error that LiteLLM raised; it uses one without a status for a broken answer."""
    import httpx  # LiteLLM has imported it

    # What wasn't sent comes first: it alone can't be billed.
    for cause in _causes(error):
        if isinstance(cause, (*NOT_SENT, httpx.ConnectError, httpx.ConnectTimeout)):
            return classify_connection(route, cause)
    for cause in _causes(error):
        if isinstance(cause, bodies.TooLong):
            return CallError(Failure.SERVER, str(cause), 200)
    status = getattr(error, "status_code", None)
    status = status if isinstance(status, int) else None
    text = str(getattr(error, "message", error))
    body = getattr(error, "body", None)
    code = body.get("code") if isinstance(body, dict) else None
    failure = _by_code(code, text) or next(
        (kind for name, kind in _BY_CODE.items() if name in text[:_LONGEST]), None
    )
    said, wait = f"{type(error).__name__}: {text}", rate_headers.retry_after(_headers(error))
    return _make_error(failure or _failure(error, status), said, status, wait)


def _make_error(failure: Failure, said: str, status: int | None, wait: float | None) -> CallError:
    # a server that is being started answers later: nothing was read, nothing is billed
    loading = status == _UNAVAILABLE and _LOADING.search(said[:_LONGEST]) is not None
    failure = Failure.SERVER if loading else failure
    return CallError(failure, said, status, wait, reached=not loading, starting=loading)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, and those that led to it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _failure(error: Exception, status: int | None) -> Failure:
    names = (kind.__name__ for kind in type(error).__mro__)
    return next((_BY_TYPE[name] for name in names if name in _BY_TYPE), _by_status(status))


def _by_status(status: int | None) -> Failure:
    # A redirect isn't followed: the address is wrong, which no other attempt mends.
    ours = status is not None and 300 <= status < 500
    return _BY_STATUS.get(status or 0, Failure.REQUEST if ours else Failure.SERVER)


def _error(raw: bytes | bytearray) -> tuple[Any, str]:
    """Read the code and the message of an error in OpenAI's form, if it has them."""
    try:
        error = completions.parse_body(raw)["error"]
    except (completions.UnfitReply, KeyError, TypeError):
        return None, ""
    if not isinstance(error, dict):
        error = {"message": error}
    message = error.get("message")
    message = message if isinstance(message, str) else ""
    return error.get("code"), message + _quote_upstream(error)


def _quote_upstream(error: Any) -> str:
    """Quote what the provider behind a router said."""
    metadata = error.get("metadata") if isinstance(error, dict) else None
    words = metadata.get("raw") if isinstance(metadata, dict) else None
    return f": {words}" if isinstance(words, str) else ""


def _by_code(code: Any, message: str) -> Failure | None:
    said = message[:_LONGEST]
    if _NO_MONEY.search(said) and not _RATE.search(said):
        return Failure.BUDGET
    return _BY_CODE.get(code) if isinstance(code, str) else None


def _headers(error: Exception) -> dict[str, str]:
    for holder in (
        getattr(error, "litellm_response_headers", None),
        getattr(getattr(error, "response", None), "headers", None),
    ):
        if holder:
            return {str(k).lower(): str(v) for k, v in dict(holder).items()}
    return {}
