"""Programs whose requests go on to a provider: a server on loopback that keeps what it gets."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import openai
import pytest
from aiohttp import web
from running import Bench, serving

from plenum.base.errors import Stopped, UserError
from plenum.design.settings import Api
from plenum.records.chain import read_entries

KEY = "sk-canary-0123456789abcdef"
TOOLS: Any = [{"type": "function", "function": {"name": "vote", "parameters": {}}}]
LOOK: Any = [
    {"type": "text", "text": "Which?"},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
]
ASKED: Any = {"model": "board-model", "messages": [{"role": "user", "content": LOOK}]}


def completion(number: int, **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}
    body = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1}
    return {**body, "model": "board-model-2026-01-01", "choices": [choice], "usage": usage}


class Provider:
    """Numbers its answers, each the call of a tool where the request has tools."""

    def __init__(self) -> None:
        self.seen: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.status = 200
        self._numbers = itertools.count()

    async def answer(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.seen.append((dict(request.headers), body))
        if self.status != 200:
            return web.json_response({"error": {"message": "no"}}, status=self.status)
        number = next(self._numbers)
        function = {"name": "vote", "arguments": f'{{"n": {number}}}'}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        said = (
            {"content": None, "tool_calls": [call]} if "tools" in body else {"content": f"{number}"}
        )
        return web.json_response(completion(number, **said))


@asynccontextmanager
async def behind(folder: Path) -> AsyncIterator[tuple[Bench, Provider]]:
    """A proxy with a provider behind it."""
    provider, app = Provider(), web.Application()
    app.router.add_post("/v1/chat/completions", provider.answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    backend = Api(api_base={"openai": f"http://127.0.0.1:{runner.addresses[0][1]}/v1"})
    async with serving(folder, backend) as bench:
        yield bench, provider
    await runner.cleanup()


async def raw(session: Any, **more: Any) -> tuple[int, Any]:
    """The status and the body of a plain request, with the key that the program was given."""
    headers = {"Authorization": f"Bearer {session.token}"}
    url = f"{session.base_url}/chat/completions"
    async with (
        aiohttp.ClientSession() as http,
        http.post(url, json={**ASKED, **more}, headers=headers) as answer,
    ):
        return answer.status, await answer.json()


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.mark.usefixtures("key")
def test_tools_and_images_pass_through_both_ways_and_are_replayed_whole(tmp_path: Path) -> None:
    async def test() -> None:
        async with behind(tmp_path) as (bench, provider):
            session = bench.session()
            status, body = await raw(session, tools=TOOLS)
            assert (status, body["model"]) == (200, "board-model")
            assert {**body, "model": "board-model-2026-01-01"} == completion(
                0, content=None, tool_calls=body["choices"][0]["message"]["tool_calls"]
            )
            assert await raw(bench.session(), tools=TOOLS) == (200, body)
            ((headers, sent),) = provider.seen
            assert sent == {**ASKED, "tools": TOOLS}
            assert headers["Authorization"] == f"Bearer {KEY}"
            assert session.token not in str(headers)
            assert KEY not in bench.journal().read_text()

    asyncio.run(test())


@pytest.mark.usefixtures("key")
def test_a_stream_is_asked_for_whole_and_made_into_chunks(tmp_path: Path) -> None:
    async def test() -> None:
        async with behind(tmp_path) as (bench, provider):
            session = bench.session()
            async with openai.AsyncOpenAI(
                base_url=session.base_url, api_key=session.token
            ) as client:
                stream = await client.chat.completions.create(**ASKED, tools=TOOLS, stream=True)
                deltas = [chunk.choices[0].delta async for chunk in stream]
            (first, second) = (d.tool_calls[0] for d in deltas if d.tool_calls)
            assert (first.id, first.function.name) == ("call_0", "vote")
            assert second.function.arguments == '{"n": 0}'
            assert "stream" not in provider.seen[0][1]

    asyncio.run(test())


@pytest.mark.usefixtures("key")
def test_equal_answers_have_equal_digests_whatever_their_ids(tmp_path: Path) -> None:
    async def test() -> None:
        async with behind(tmp_path) as (bench, provider):
            provider._numbers = itertools.repeat(7)  # type: ignore[assignment]
            for index in range(2):
                await raw(bench.session(index))
            provider._numbers = itertools.count(8)
            await raw(bench.session(2))
            first, second, third = (
                read_entries(bench.journal(index))[1]["answer"] for index in range(3)
            )
            assert first == second != third

    asyncio.run(test())


@pytest.mark.usefixtures("key")
def test_a_refused_key_stops_the_audit_and_the_program_gets_one_line(tmp_path: Path) -> None:
    async def test() -> None:
        async with behind(tmp_path) as (bench, provider):
            provider.status = 401
            session = bench.session()
            status, body = await raw(session)
            assert status == 503
            assert KEY not in str(body)
            assert isinstance(await session.stopped, Stopped)
            assert (await raw(session))[0] == 503
            assert len(provider.seen) == 1

    asyncio.run(test())


def test_a_provider_that_needs_a_key_ends_in_the_line_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

    async def test() -> None:
        async with behind(tmp_path) as (bench, _):
            session = bench.session()
            assert (await raw(session, model="anthropic/claude-sonnet-4-6"))[0] == 503
            problem = await session.stopped
            assert isinstance(problem, UserError)
            assert "ANTHROPIC_API_KEY" in str(problem)

    asyncio.run(test())
