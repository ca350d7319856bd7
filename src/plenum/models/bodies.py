"""How much of an answer is read: a bound on its decoded bytes, on both paths."""

import zlib
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
from aiohttp.connector import Connection

_ERROR_BYTES = 2**16
"""So much of an error's body is read at most; its message stands at the beginning."""
MOST_VALUES = 10**6
"""More objects, lists and fields than any answer has; each takes 56 bytes of memory or more."""
_WINDOW = zlib.MAX_WBITS | 32
"""zlib and gzip, by the header."""


class TooLong(aiohttp.ClientPayloadError):
    """A body that is longer than what is allowed."""


async def whole(response: aiohttp.ClientResponse, most: int) -> bytearray:
    """The decoded body of an answer; of an error, its beginning.

    Parameters
    ----------
    most
        Bytes of a body at most. aiohttp decodes piece by piece, so that little more is ever held.

    Raises
    ------
    TooLong
        It is longer; the connection is closed.
    """
    body = bytearray()
    kept = _kept(response.status, most)
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > kept:
            response.close()
            if response.status == 200:
                raise too_long(most)
            return body[:kept]
    return body


def _kept(status: int, most: int) -> int:
    return most if status == 200 else min(most, _ERROR_BYTES)


def values(raw: bytes | bytearray) -> int:
    """How many values the JSON in some bytes holds at most."""
    return sum(map(raw.count, (b",", b"[", b"{")))


def too_long(most: int) -> TooLong:
    """The error of a body of more than ``most`` bytes."""
    return TooLong(f"the body is longer than calls.max_response_mb={most / 1e6:g} allows")


def bounded(most: int) -> type[aiohttp.ClientResponse]:
    """A class of responses for a client that reads and decodes them by itself, as LiteLLM's does.

    A piece that would make more than ``most`` decoded bytes, or too many values, raises
    :class:`TooLong` before the client gets it; an error's body ends there. gzip and deflate are
    decoded to count them. Of brotli and zstd only what is on the wire is counted; of several
    encodings at once, none is taken.
    """

    class Bounded(aiohttp.ClientResponse):
        async def start(self, connection: Connection) -> aiohttp.ClientResponse:
            await super().start(connection)
            self.content = _Counted(self, most)  # type: ignore[assignment]
            return self

    return Bounded


class _Counted:
    """A response's stream that ends in an error where it gets too long."""

    def __init__(self, response: aiohttp.ClientResponse, most: int) -> None:
        self._stream, self._most, self._status = response.content, most, response.status
        self._values = MOST_VALUES
        self._encoding = response.headers.get("Content-Encoding", "").strip().lower()
        zipped = self._encoding in ("gzip", "deflate")
        self._decoder = zlib.decompressobj(_WINDOW) if zipped else None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def iter_chunked(self, size: int) -> AsyncIterator[bytes]:
        if "," in self._encoding:
            raise aiohttp.ClientPayloadError("the body has more than one encoding")
        left = _kept(self._status, self._most)
        async for piece in self._stream.iter_chunked(size):
            decoded = self._decoded(piece, left)
            left -= len(decoded)
            self._values -= values(decoded)
            if left < 0 and self._status != 200:
                return
            if left < 0:
                raise too_long(self._most)
            if self._values < 0:
                raise TooLong(f"the body has more than {MOST_VALUES} values")
            yield piece

    def _decoded(self, piece: bytes, left: int) -> bytes:
        """What a piece makes; at most one byte more than is left."""
        if self._decoder is None or self._decoder.eof:
            return piece
        try:
            return self._decoder.decompress(piece, left + 1)
        except zlib.error:
            raise aiohttp.ClientPayloadError("the body is not in its encoding") from None
