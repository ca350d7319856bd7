"""A server of a fleet dies and returns, on a clock that jumps: what each one bears stays so."""

import asyncio
from collections import Counter

import virtual_clock

from plenum.calls.admission import Admission, Ticket
from plenum.calls.budget import Ledger
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Chat, Message, Reply, Response
from plenum.calls.retry import Policy, call_with_retries
from plenum.design.settings import Budget, Calls, Sampling
from plenum.records.failures import Failure
from plenum_fleet.servers import Fleet

URLS = [f"http://gpu{number}:8000/v1" for number in range(3)]
DYING = "gpu1:8000"
BREAKS_S, RETURNS_S, LATENCY_S = 6.0, 12.0, 1.0
MOST = 8
POLICY = Policy(max_attempts=6, timeout_s=None, backoff_s=1.0, backoff_max_s=60.0)


class Servers:
    """Three servers that answer after a second; one is gone for a while, and breaks connections."""

    def __init__(self) -> None:
        self.fleet = Fleet(URLS, virtual_clock.now)
        self.in_flight: Counter[str] = Counter()
        self.peak: Counter[str] = Counter()
        self.returned: list[int] = []

    def check(self, models: tuple[str, ...], sampling: Sampling) -> None: ...

    def provider(self, model: str) -> str:
        return "openai"

    def server(self, chat: Chat) -> str:
        return self.fleet.choose(chat)

    async def close(self) -> None: ...

    def environment(self, models: tuple[str, ...], constrained: bool = False) -> dict[str, str]:
        return {}

    async def attempt(self, chat: Chat, number: int) -> Response:
        return await self.fleet.attempt(chat, lambda url: self._ask(url.split("/")[2]))

    def _gone(self, server: str) -> bool:
        return server == DYING and BREAKS_S <= virtual_clock.now() < RETURNS_S

    async def _ask(self, server: str) -> Response:
        self.in_flight[server] += 1
        self.peak[server] = max(self.peak[server], self.in_flight[server])
        if server == DYING and virtual_clock.now() >= RETURNS_S:
            self.returned.append(self.in_flight[server])
        try:
            if self._gone(server):
                raise CallError(Failure.SERVER, "connection refused", reached=False)
            await asyncio.sleep(LATENCY_S)
            if self._gone(server):
                raise CallError(Failure.SERVER, "connection reset")
            return Response(Reply("fine", 1, 1))
        finally:
            self.in_flight[server] -= 1


async def _play(servers: Servers, admission: Admission, index: int, turns: int) -> None:
    ticket = Ticket(admission, servers.provider, "c", index)
    chat = Chat("openai/m", (Message("user", "x"),), 0.0, 10, index, session=f"c-{index}")
    for _ in range(turns):
        await call_with_retries(servers, chat, POLICY, ticket, lambda attempt: None)


def _swept(calls: Calls, replicates: int, turns: int) -> Servers:
    async def scene() -> Servers:
        servers, ledger = Servers(), Ledger(Budget(), lambda model: None)
        admission = Admission(calls, ledger)
        plays = (_play(servers, admission, index, turns) for index in range(replicates))
        await asyncio.gather(*plays)
        return servers

    return virtual_clock.run(scene())


def test_no_server_gets_more_than_its_limit_when_another_one_dies() -> None:
    servers = _swept(Calls(max_concurrency=MOST, adapt=False), replicates=60, turns=4)
    assert servers.peak == {f"gpu{number}:8000": MOST for number in range(3)}


def test_a_server_that_returns_begins_as_at_first() -> None:
    """One call tries it; then as many as at the start, and more as it answers."""
    calls = Calls(max_concurrency=500, start_concurrency=4)
    servers = _swept(calls, replicates=120, turns=24)
    assert servers.peak[DYING] > 20
    assert servers.returned[0] == 1
    assert max(servers.returned[:9]) <= 8
