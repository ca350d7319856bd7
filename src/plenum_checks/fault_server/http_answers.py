"""HTTP responses: JSON, and errors in OpenAI's form."""

import json
from typing import Any

from aiohttp import web

JSON = "application/json"
LINES = "application/x-ndjson"
_TYPES = {400: "invalid_request_error", 401: "invalid_request_error", 429: "requests"}


def json_answer(value: Any) -> web.Response:
    """Return a JSON body with status 200."""
    return web.Response(body=json.dumps(value).encode(), content_type=JSON)


def lines_answer(lines: list[dict[str, Any]]) -> web.Response:
    """Return a body of JSON lines."""
    body = "".join(json.dumps(line) + "\n" for line in lines)
    return web.Response(body=body.encode(), content_type=LINES)


def submit_refusal(fault: str | None) -> web.Response | None:
    """Return the error response for a fault of a submit."""
    if fault == "busy":
        return refusal(429, "rate_limit_exceeded", "Too many batches.", {"Retry-After": "0.02"})
    server_error = refusal(500, None, "The server had an error while processing your request.")
    return server_error if fault else None


def refusal(
    status: int, code: str | None, message: str, headers: dict[str, str] | None = None
) -> web.Response:
    """Return an error response in OpenAI's form."""
    return web.Response(
        body=json.dumps(make_error(status, code, message)).encode(),
        status=status,
        content_type=JSON,
        headers=headers,
    )


def make_error(status: int, code: str | None, message: str) -> dict[str, Any]:
    """Return the body of an error."""
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
