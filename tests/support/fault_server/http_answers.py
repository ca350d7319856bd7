"""HTTP responses: JSON, and errors in OpenAI's form."""

import json
from typing import Any

from aiohttp import web

JSON = "application/json"
LINES = "application/x-ndjson"
_TYPES = {400: "invalid_request_error", 401: "invalid_request_error", 429: "requests"}


def answer_json(value: Any) -> web.Response:
    """Return a JSON body with status 200."""
    return web.Response(body=json.dumps(value).encode(), content_type=JSON)


def answer_lines(lines: list[dict[str, Any]]) -> web.Response:
    """Return a body of JSON lines."""
    body = "".join(json.dumps(line) + "\n" for line in lines)
    return web.Response(body=body.encode(), content_type=LINES)


def refuse(
    status: int, code: str | None, message: str, headers: dict[str, str] | None = None
) -> web.Response:
    """Return an error response in OpenAI's form."""
    body = json.dumps(make_error(status, code, message)).encode()
    return web.Response(body=body, status=status, content_type=JSON, headers=headers)


def make_error(status: int, code: str | None, message: str) -> dict[str, Any]:
    """Return the body of an error."""
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
