"""The contract of providers' batch interfaces, and the HTTP that they share."""

import asyncio
import math
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Protocol

import aiohttp

from plenum.calls.api.bodies import BodyReader, make_length_error
from plenum.calls.api.completions import UnfitReply, parse_body
from plenum.calls.api.faults import NOT_SENT, classify_connection, classify_status
from plenum.calls.api.openai_http import make_headers
from plenum.calls.api.prices import Price
from plenum.calls.api.routes import Route
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Chat, Response
from plenum.records.failures import Failure

_ID = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_LONG_S = 600.0
"""Seconds without a word after an upload of 200 MB."""
SKEW_S = 600
"""The greatest difference between a batch's time and its provider's clock, in seconds."""
_SPARE_LINES = 100
"""Lines that results may hold besides two for each call."""
_PAGES = 20
"""Pages of a list that are looked through at most."""


@dataclass(frozen=True)
class BatchState:
    """The state of a batch.

    Attributes
    ----------
    ended
        True if nothing more will be answered.
    done, total
        Items that are over, each of which has a result, and all.
    files
        Where results are, as the interface names it.
    refused
        Why the whole batch was refused; ``too_many`` where a smaller one may be taken.
    """

    ended: bool
    done: int
    total: int
    files: tuple[str, ...] = ()
    refused: CallError | None = None
    too_many: bool = False


class NotAnswered(CallError):
    """An item that the provider didn't take up, and doesn't bill."""

    def __init__(self, why: str) -> None:
        super().__init__(Failure.TIMEOUT, why)


class BatchInterface(Protocol):
    """A provider's interface for batches.

    Attributes
    ----------
    most_items, most_bytes
        Of a batch.
    named
        True if the provider keeps a batch's name, so that a list tells whose it is.
    base
        The URL of the endpoint.
    """

    most_items: int
    most_bytes: int
    named: bool
    base: str

    def body(self, chat: Chat, parameters: dict[str, Any]) -> bytes:
        """Return the request of a call, as a live one would have it."""

    def item(self, ident: str, body: bytes) -> bytes:
        """Return the item of a batch that sends the body."""

    async def submit(self, name: str, items: Sequence[bytes]) -> str:
        """Submit a batch; returns the provider's id. Raises :class:`CallError`."""

    async def find(self, name: str, since: float, items: int, others: Set[str]) -> str | None:
        """Find the id of a batch that may have been submitted since; it is none of the others."""

    async def state(self, ident: str) -> BatchState:
        """Return the state of a batch. Raises :class:`CallError`."""

    async def cancel(self, ident: str) -> None:
        """Have the provider answer no more of it. Raises :class:`CallError`."""

    def results(
        self, ident: str, state: BatchState, items: int, price: Price | None
    ) -> AsyncIterator[tuple[str, Response | CallError]]:
        """Yield the results of items by their ids; one that can't be read fails alone."""


class BatchHttp:
    """Requests to an endpoint for batches.

    Parameters
    ----------
    route
        The endpoint, with its version in the path, and its key.
    pool
        The session.
    most
        Bytes of one line, or of one answer, at most.

    Attributes
    ----------
    behind_s
        How far the provider's clock is behind ours, by the ``Date`` of its last answer: 0 or more;
        infinite where it doesn't tell the time.
    """

    def __init__(self, route: Route, pool: Callable[[], aiohttp.ClientSession], most: int) -> None:
        self.route = route
        self._pool, self._most = pool, most
        self._reader = BodyReader(most)
        self.behind_s = math.inf
        self._headers = make_headers(route)
        del self._headers["Content-Type"]
        if route.provider == "anthropic":
            self._headers.pop("Authorization", None)

    async def json(self, method: str, path: str, data: Any = None) -> dict[str, Any]:
        """Send a request, and read the JSON object that is answered.

        Raises
        ------
        CallError
            It failed.
        """
        async with self._send(method, path, data) as response:
            self.behind_s = _behind(response.headers)
            raw = await self._reader.read(response)
            if response.status != 200:
                raise classify_status(self.route, response.status, raw, response.headers)
        try:
            answer = parse_body(raw)
        except UnfitReply as why:
            raise CallError(Failure.SERVER, f"{method} {path}: {why}", 200) from None
        if not isinstance(answer, dict):
            raise CallError(Failure.SERVER, f"{method} {path}: the answer is no object", 200)
        return answer

    async def lines(self, path: str, items: int) -> AsyncIterator[dict[str, Any]]:
        """Yield the JSON objects of a file of results, without the lines that hold none.

        Parameters
        ----------
        items
            As many calls were sent: the file may hold some lines more, but not go on for ever.

        Raises
        ------
        CallError
            It can't be read to its end, or has none.
        """
        left, left_bytes = 2 * items + _SPARE_LINES, items * self._most
        async with self._send("GET", path) as response:
            if response.status != 200:
                raw = await self._reader.read(response)
                raise classify_status(self.route, response.status, raw, response.headers)
            rest = bytearray()
            async for piece in response.content.iter_any():
                rest += piece
                left, left_bytes = left - piece.count(b"\n"), left_bytes - len(piece)
                if left < 0 or left_bytes < 0:
                    endless = f"the results of {items} calls go on far beyond them"
                    raise CallError(Failure.SERVER, endless, 200)
                if b"\n" in piece:
                    *whole, rest = rest.split(b"\n")
                    for line in whole:
                        if (entry := _object(line)) is not None:
                            yield entry
                if len(rest) > self._most:
                    raise CallError(Failure.SERVER, str(make_length_error(self._most)), 200)
            if (entry := _object(rest)) is not None:
                yield entry

    def _send(self, method: str, path: str, data: Any = None) -> "_PartialAnswer":
        url = f"{self.route.base}/{path}"
        kind = {"Content-Type": "application/json"} if isinstance(data, bytes) else {}
        request = self._pool().request(
            method,
            url,
            data=data,
            headers={**self._headers, **kind},
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=60.0, sock_read=_LONG_S),
        )
        return _PartialAnswer(self.route, request)

    async def find_in_list(
        self, path: str, cursor: str, fits: Callable[[dict[str, Any]], bool | None]
    ) -> str | None:
        """Return the id of the first batch of a list that fits; the list ends at ``None``.

        Raises
        ------
        CallError
            The list can't be read.
        """
        after = ""
        for _ in range(_PAGES):
            page = await self.json("GET", f"{path}?limit=100{after}")
            data = page.get("data")
            if not isinstance(data, list):  # not an empty list: then batches would be sent again
                raise CallError(Failure.SERVER, f"GET {path}: the answer has no list of data", 200)
            batches = [batch for batch in data if isinstance(batch, dict)]
            for batch in batches:
                if (fit := fits(batch)) is None:
                    return None
                if fit:
                    return ident(batch)
            if not batches or not page.get("has_more"):
                return None
            after = f"&{cursor}={ident(batches[-1])}"
        return None


class _PartialAnswer:
    """An answer while it is read: whatever goes wrong is a :class:`CallError`."""

    def __init__(self, route: Route, request: Any) -> None:
        self._route, self._request = route, request

    async def __aenter__(self) -> aiohttp.ClientResponse:
        try:
            response: aiohttp.ClientResponse = await self._request.__aenter__()
        except Exception as error:
            raise self._as_call_error(error) from None
        return response

    async def __aexit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        await self._request.__aexit__(kind, error, trace)
        if isinstance(error, Exception) and not isinstance(error, CallError):
            raise self._as_call_error(error) from None

    def _as_call_error(self, error: Exception) -> CallError:
        if isinstance(error, NOT_SENT):
            return classify_connection(self._route, error)
        if isinstance(error, aiohttp.ServerTimeoutError | asyncio.TimeoutError):
            return CallError(Failure.TIMEOUT, f"the connection fell silent: {error}")
        return CallError(Failure.SERVER, f"{type(error).__name__}: {error}")


def _behind(headers: Mapping[str, str]) -> float:
    """Return the seconds that a server's clock is behind ours; infinite if it is unknown."""
    try:
        return max(0.0, time.time() - parsedate_to_datetime(headers["Date"]).timestamp())
    except (KeyError, ValueError, OverflowError):
        return math.inf


def ident(answer: dict[str, Any]) -> str:
    """Return the id of what a provider made, which goes into URLs.

    Raises
    ------
    CallError
        It is none.
    """
    value = answer.get("id")
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise CallError(Failure.SERVER, "the provider's batch has no id", 200)
    return value


def status(answer: dict[str, Any], name: str) -> str:
    """Return a batch's status; an unknown one means that the batch goes on.

    Raises
    ------
    CallError
        It is none.
    """
    value = answer.get(name)
    if not isinstance(value, str):
        raise CallError(Failure.SERVER, f"the provider's batch has no {name}", 200)
    return value


def file_id(answer: dict[str, Any], name: str) -> tuple[str, ...]:
    """Return the id of a file that an answer names, if it does."""
    return (ident({"id": answer[name]}),) if answer.get(name) else ()


def count(counts: Any, *names: str) -> int:
    """Return the sum of some counts, as far as they are numbers."""
    if not isinstance(counts, dict):
        return 0
    return sum(v for name in names if type(v := counts.get(name)) is int)


def _object(line: bytes | bytearray) -> dict[str, Any] | None:
    try:
        entry = parse_body(line) if line.strip() else None
    except UnfitReply:
        return None
    return entry if isinstance(entry, dict) else None
