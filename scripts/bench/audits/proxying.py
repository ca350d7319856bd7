"""What the recording proxy adds to a call: its CPU, and the wall time of 64 runs in flight.

A provider, the proxy and the programs have a process each, as in an audit. The provider answers a
chat completion of 200 words after 100 to 300 ms, as the call's number says; the programs send
prompts of 1,000 words by a bare HTTP client, straight to it or through the proxy, which journals
each answer.
"""

import asyncio
import json
import multiprocessing
import os
import re
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

RUNS = 64
LATENCY_S = 0.2
"""On average."""
_PROMPT = "consider the bridge and what it costs " * 143
_CALL = re.compile(rb"#[0-9-]+#")
_ANSWER = "I recommend to repair it now, " * 33


def measure(quick: bool = False) -> dict[str, Any]:
    """``proxy_ms``: CPU of the proxy's process a call; ``proxy_wall``: over the direct path."""
    calls, turns, times = (500, 5, 1) if quick else (4000, 20, 3)
    with _process(_provider, 0.0) as provider, _process(_proxy, provider.recv()) as proxy:
        urls = proxy.recv()
        asyncio.run(_play(urls[:16], 20))  # connections are open, modules are loaded
        before = _cpu(proxy)
        asyncio.run(_play(urls[:16], calls // 16))
        proxy_ms = 1000 * (_cpu(proxy) - before) / (calls // 16 * 16)
    with _process(_provider, LATENCY_S) as provider:
        url = provider.recv()
        with _process(_proxy, url) as proxy:
            urls, direct = proxy.recv(), [url] * RUNS
            asyncio.run(_play(urls, 1))
            pairs = [
                (asyncio.run(_play(direct, turns)), asyncio.run(_play(urls, turns)))
                for _ in range(times)
            ]
    straight, through = (min(walls) for walls in zip(*pairs, strict=True))
    return {
        "proxy_ms": round(proxy_ms, 3),
        "proxy_wall": round(through / straight, 3),
        "proxy_direct_s": round(straight, 3),
    }


async def _play(urls: list[str], turns: int) -> float:
    """Wall seconds in which each run makes so many calls, one after the other."""
    import aiohttp

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as http:
        began = time.perf_counter()
        await asyncio.gather(*(_run(http, number, url, turns) for number, url in enumerate(urls)))
        return time.perf_counter() - began


async def _run(http: Any, number: int, url: str, turns: int) -> None:
    for turn in range(turns):
        content = f"{_PROMPT} #{number}-{turn}#"
        messages = [
            {"role": "system", "content": "You chair."},
            {"role": "user", "content": content},
        ]
        body = {"model": "gpt-4.1-mini", "messages": messages, "temperature": 0.7}
        async with http.post(f"{url}/chat/completions", json=body) as answer:
            assert answer.status == 200, await answer.text()
            await answer.json()


def _cpu(process: Connection) -> float:
    process.send(None)
    return float(process.recv())


@contextmanager
def _process(serve: Any, *arguments: Any) -> Iterator[Connection]:
    """A process that serves, and how one speaks to it."""
    context = multiprocessing.get_context("spawn")
    here, its = context.Pipe()
    process = context.Process(target=_serve, args=(serve, its, *arguments), daemon=True)
    process.start()
    its.close()
    try:
        yield here
    finally:
        here.close()
        process.join(10)


def _serve(serve: Any, pipe: Connection, *arguments: Any) -> None:
    asyncio.run(serve(pipe, *arguments))


async def _answering(pipe: Connection) -> None:
    """Say how much CPU was used, each time one asks, until nobody does."""
    loop = asyncio.get_running_loop()
    with suppress(EOFError, OSError):
        while True:
            await loop.run_in_executor(None, pipe.recv)
            pipe.send(time.process_time())


async def _provider(pipe: Connection, latency_s: float) -> None:
    from aiohttp import web

    message = {"role": "assistant", "content": _ANSWER}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4.1-mini",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1300, "completion_tokens": 250, "total_tokens": 1550},
    }
    data = json.dumps(body).encode()

    async def answer(request: web.Request) -> web.Response:
        call = _CALL.search(await request.read())
        draw = zlib.crc32(call[0] if call else b"") / 2**32
        await asyncio.sleep(latency_s * (0.5 + draw))
        return web.Response(body=data, content_type="application/json")

    app = web.Application(client_max_size=2**25)
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=4096).start()
    pipe.send(f"http://127.0.0.1:{runner.addresses[0][1]}/v1")
    await _answering(pipe)
    await runner.cleanup()


async def _proxy(pipe: Connection, url: str) -> None:
    from plenum.design import Api, Budget, Calls, Sampling
    from plenum.execution import Admission, Caller, Ledger, Ticket
    from plenum.models import Prices, backends
    from plenum.records import CallLog, Journal
    from plenum_audit.programs import AuditCase, ProgramCondition, Proxy, Session

    os.environ.setdefault("OPENAI_API_KEY", "sk-of-the-benchmark")
    condition = ProgramCondition(
        model="its own",
        sampling=Sampling(),
        backend=Api(api_base={"openai": url}),
        rounds=1,
        seed=0,
        committee="benchmark",
        program={},
        case=AuditCase("bridge", "Repair it?", {"A": "yes", "B": "no"}),
        knobs={},
        overrides={},
    )
    calls, prices = Calls(start_concurrency=RUNS), Prices()
    model = backends.build_backend(condition.backend, calls, prices)
    admission, proxy = Admission(calls, Ledger(Budget(), prices.of)), Proxy()
    await proxy.start()
    with tempfile.TemporaryDirectory() as folder, CallLog(Path(folder) / "calls.jsonl") as log:

        def session(index: int) -> Session:
            def caller() -> Caller:
                ticket = Ticket(admission, model.provider, condition.folder, index)
                return Caller(model, backends.make_retry_policy(calls), ticket, log)

            head = {**condition.as_mapping(), "replicate": index}
            return Session(condition, index, Journal(Path(folder) / f"{index}.jsonl", head), caller)

        pipe.send([proxy.open(session(index)) for index in range(RUNS)])
        await _answering(pipe)
    await proxy.stop()
    await model.close()
