"""What a hostile server writes: whole answers, broken ones, and ones that never end."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

Completion = dict[str, Any]
Write = Callable[[asyncio.StreamWriter, Completion], Awaitable[None]]
"""Writes one answer; is given the completion that a good server would send."""


def changed(**changes: Any) -> Callable[[Completion], bytes]:
    """The good completion with other fields: ``usage__x`` lies in the usage, and so on."""

    def body(good: Completion) -> bytes:
        completion: Completion = json.loads(json.dumps(good))
        choice = completion["choices"][0]
        places = {"usage": completion["usage"], "choice": choice, "message": choice["message"]}
        for name, value in changes.items():
            where, _, key = name.partition("__")
            (places[where] if key else completion)[key or name] = value
        return json.dumps(completion).encode()

    return body


def spoken(change: Callable[[str], Any]) -> Callable[[Completion], bytes]:
    """The good completion with another content, made of the good one."""
    return lambda good: changed(message__content=change(content(good)))(good)


def content(good: Completion) -> str:
    """The answer that a completion holds."""
    return str(good["choices"][0]["message"]["content"])


def whole(
    body: bytes | Callable[[Completion], bytes], status: str = "200 OK", *headers: str
) -> Write:
    """A body with its length."""

    async def write(writer: asyncio.StreamWriter, good: Completion) -> None:
        sent = body if isinstance(body, bytes) else body(good)
        writer.write(head(status, f"Content-Length: {len(sent)}", *headers) + sent)
        await writer.drain()

    return write


def raw(*pieces: bytes | Callable[[Completion], bytes]) -> Write:
    """Bytes as they are, headers among them; then the connection is closed."""

    async def write(writer: asyncio.StreamWriter, good: Completion) -> None:
        for piece in pieces:
            writer.write(piece if isinstance(piece, bytes) else piece(good))
            await writer.drain()

    return write


def endless(opening: bytes, piece: bytes, pause_s: float = 0.0) -> Write:
    """An opening, then the same piece until the client has enough."""

    async def write(writer: asyncio.StreamWriter, good: Completion) -> None:
        writer.write(opening)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return write


def head(status: str, *headers: str) -> bytes:
    """A status line and headers, the last line empty."""
    lines = [f"HTTP/1.1 {status}", "Connection: close", *headers]
    if not any(line.lower().startswith("content-type") for line in headers):
        lines.append("Content-Type: application/json")
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
