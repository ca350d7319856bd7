"""What a provider's HTTP may do to whoever asks it for batches: each ends as a failed call."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from plenum.calls.api.routes import Route
from plenum.calls.call_errors import CallError
from plenum.records.failures import Failure
from plenum_fleet.batches.http_interface import BatchHttp

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


def asked(handler: Handler, ask: Callable[[BatchHttp], Awaitable[Any]]) -> Any:
    """What comes of asking a server that answers by a function."""

    async def work() -> Any:
        app = web.Application()
        app.router.add_get("/v1/{path:.*}", handler)
        async with TestServer(app) as server, aiohttp.ClientSession() as session:
            route = Route("m", "openai", "m", str(server.make_url("/v1")), "sk-of-a-test")
            return await ask(BatchHttp(route, lambda: session, most=10_000))

    return asyncio.run(asyncio.wait_for(work(), 60))


def answer(body: str) -> Handler:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(text=body, content_type="application/json")

    return handle


@pytest.mark.parametrize("body", ['{"data": 5}', '{"data": {"id": "b"}}', '{"data": null}', "{}"])
def test_a_list_of_batches_that_is_none_is_not_taken_for_an_empty_one(body: str) -> None:
    with pytest.raises(CallError, match="has no list of data") as raised:
        asked(answer(body), lambda http: http.find_in_list("batches", "after", lambda batch: True))
    assert raised.value.failure == Failure.SERVER


def test_what_is_no_batch_in_a_list_is_passed_over() -> None:
    body = '{"data": [7, null, "b", {"id": "b1"}]}'
    found = asked(
        answer(body), lambda http: http.find_in_list("batches", "after", lambda batch: True)
    )
    assert found == "b1"


@pytest.mark.parametrize("line", ['{"custom_id": "somebody-else"}\n', "\n", "x" * 100])
def test_results_without_end_are_read_as_far_as_the_calls_need(line: str) -> None:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:  # until nobody listens any more
            await response.write(line.encode())

    async def read(http: BatchHttp) -> int:
        return len([entry async for entry in _lines(http)])

    def _lines(http: BatchHttp) -> AsyncIterator[dict[str, Any]]:
        return http.lines("files/f/content", items=3)

    with pytest.raises(CallError, match=r"far beyond|is longer") as raised:
        asked(handle, read)
    assert raised.value.failure == Failure.SERVER
