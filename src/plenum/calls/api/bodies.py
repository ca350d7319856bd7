"""Bounds on the decoded bytes of answers, on both paths."""

import asyncio
import zlib
from collections.abc import AsyncIterator
from typing import Any

import aiohttp

_ERROR_BYTES = 2**16
"""Bytes of an error's body that are read at most; its message is at the beginning."""
MOST_VALUES = 10**6
"""A bound above the values in any answer; each takes 56 bytes of memory or more."""
_LARGE_BYTES = 2**18
"""Bytes of a body that may be held of every call under way; of a longer one only one at a time. The
number is plenum's own: a thousand calls under way then hold 256 MB at most, and a usual answer has
a few kB."""
_ZIPPED = ("gzip", "deflate")
_WINDOW = zlib.MAX_WBITS | 32
"""zlib and gzip, by the header."""


class TooLong(Exception):
    """A body that is longer than what is allowed."""


class EncodedBody(Exception):
    """A body whose encoding can't be undone."""


class BodyReader:
    """Reader of the bodies of answers, one large body at a time.

    Parameters
    ----------
    most
        Bytes of a body at most. aiohttp decodes piece by piece, so that little more is ever held.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._large = asyncio.Lock()

    async def read(self, response: aiohttp.ClientResponse) -> bytearray:
        """Read the decoded body of an answer; of an error, its beginning.

        Raises
        ------
        TooLong
            It is longer; the connection is closed.
        """
        body, alone = bytearray(), False
        kept = _count_kept(response.status, self._most)
        try:
            async for piece in response.content.iter_any():
                body += piece
                if len(body) > kept:
                    # Not given back to the pool: the rest of the body would be read as the next
                    # answer.
                    response.close()
                    if response.status == 200:
                        raise make_length_error(self._most)
                    return body[:kept]
                # From here on one at a time: many large bodies at once would fill the memory.
                if len(body) > _LARGE_BYTES and not alone:
                    alone = await self._large.acquire()
        finally:
            if alone:
                self._large.release()
        return body


def _count_kept(status: int, most: int) -> int:
    return most if status == 200 else min(most, _ERROR_BYTES)


def count_values(raw: bytes | bytearray) -> int:
    """Count the values that the JSON in some bytes holds at most."""
    return sum(map(raw.count, (b",", b"[", b"{")))


def make_length_error(most: int) -> TooLong:
    """Make the error of a body of more than ``most`` bytes."""
    return TooLong(f"the body is longer than calls.max_response_mb={most / 1e6:g} allows")


async def bound_body(
    pieces: AsyncIterator[bytes], status: int, encoding: str, most: int
) -> AsyncIterator[bytes]:
    """Bound the pieces of a body for a client that decodes them itself, as LiteLLM's does.

    gzip and deflate are decoded to count them. Of brotli and zstd only the bytes on the wire are
    counted. An error's body ends where it gets too long.

    Parameters
    ----------
    encoding
        The Content-Encoding.

    Raises
    ------
    TooLong
        The next piece would make more than ``most`` decoded bytes, or too many values.
    Encoded
        The body isn't in its encoding, or has several.
    """
    # Encodings in one another multiply how far a small body can grow.
    if "," in encoding:
        raise EncodedBody("the body has more than one encoding")
    decoder = zlib.decompressobj(_WINDOW) if encoding.strip().lower() in _ZIPPED else None
    left, left_values = _count_kept(status, most), MOST_VALUES
    async for piece in pieces:
        decoded = _decode(decoder, piece, left)
        left -= len(decoded)
        left_values -= count_values(decoded)
        if left < 0 and status != 200:
            # Of an error the beginning is enough, which says what failed.
            return
        if left < 0:
            raise make_length_error(most)
        if left_values < 0:
            raise TooLong(f"the body has more than {MOST_VALUES} values")
        yield piece


def _decode(decoder: Any, piece: bytes, left: int) -> bytes:
    """Decode a piece to at most one byte more than is left."""
    # What follows the end of the encoded stream is counted as it is.
    if decoder is None or decoder.eof:
        return piece
    try:
        decoded: bytes = decoder.decompress(piece, left + 1)
    except zlib.error:
        raise EncodedBody("the body is not in its encoding") from None
    return decoded
