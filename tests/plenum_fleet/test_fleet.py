"""A fleet: each session has its server, and a server that is down moves its own sessions alone."""

import asyncio
from collections import Counter
from collections.abc import Sequence

import pytest

from plenum.calls.api.servers import replica
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Chat, Message, Reply, Response
from plenum.records.failures import Failure
from plenum_fleet.servers import Fleet, name_server

URLS = [f"http://node{number}:8000/v1" for number in range(5)]
REFUSED = CallError(Failure.SERVER, "no connection", reached=False)


def of(session: str, server: str = "") -> Chat:
    return Chat("m", (Message("user", "x"),), 0.0, 10, 7, session=session, server=server)


def chosen(fleet: Fleet, sessions: int = 1000) -> dict[str, str]:
    names = [f"condition-{number}" for number in range(sessions)]
    return {name: fleet.choose(of(name)) for name in names}


class Clocked:
    """A fleet with a clock that a test moves, and servers that a test takes down."""

    def __init__(self, urls: Sequence[str] = URLS) -> None:
        self.now = 0.0
        self.lines: list[str] = []
        self.fleet = Fleet(urls, lambda: self.now, self.lines.append)
        self.errors: dict[str, CallError] = {}
        self.asked: Counter[str] = Counter()

    async def _ask(self, url: str) -> Response:
        self.asked[name_server(url)] += 1
        if error := self.errors.get(name_server(url)):
            raise error
        return Response(Reply("fine", 1, 1))

    def call(self, session: str) -> str:
        """Who answers in the end; or the failure."""
        chat, tried = of(session), set[str]()
        while (server := self.fleet.choose(chat)) not in tried:
            tried.add(server)
            try:
                return asyncio.run(self.fleet.attempt(of(session, server), self._ask)).server
            except CallError as error:
                if error.reached:
                    break
        return "server"


def test_a_session_keeps_its_server_and_all_servers_get_their_share() -> None:
    first = chosen(Fleet(URLS))
    assert chosen(Fleet(URLS[::-1])) == first
    shares = Counter(first.values())
    assert set(shares) == {name_server(url) for url in URLS}
    assert 150 < min(shares.values()) <= max(shares.values()) < 250


def test_a_server_that_goes_or_comes_moves_its_own_sessions_alone() -> None:
    all_five, without = chosen(Fleet(URLS)), chosen(Fleet(URLS[:2] + URLS[3:]))
    moved = {session for session in all_five if all_five[session] != without[session]}
    assert moved == {s for s, server in all_five.items() if server == name_server(URLS[2])}


def test_one_url_is_no_fleet() -> None:
    single = Clocked(URLS[:1])
    assert single.fleet.choose(of("a")) == ""
    assert single.call("a") == ""


def test_a_refused_connection_takes_the_next_server_at_once_and_tries_again_later() -> None:
    scene = Clocked()
    home = scene.fleet.choose(of("a"))
    scene.errors[home] = REFUSED
    stand_in = scene.call("a")
    assert stand_in not in (home, "server")
    assert [scene.call("a") for _ in range(20)] == [stand_in] * 20
    assert scene.asked[home] == 1
    scene.now += 2.0
    assert [scene.call("a") for _ in range(20)] == [stand_in] * 20
    assert scene.asked[home] == 2
    del scene.errors[home]
    scene.now += 4.0
    assert scene.call("a") == home
    assert scene.fleet.choose(of("a")) == home
    assert scene.lines == [
        f"server {home} is down (no connection); its sessions go to the next ones",
        f"server {home} answers again; its sessions come back",
    ]


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_gateway_error_counts_against_a_server_when_it_is_repeated(status: int) -> None:
    scene = Clocked()
    home = scene.fleet.choose(of("a"))
    scene.errors[home] = CallError(Failure.SERVER, "upstream", status)
    assert [scene.call("a") for _ in range(3)] == ["server"] * 3
    (line,) = scene.lines
    assert line.startswith(f"server {home} is down ({status} upstream); its sessions go")
    assert scene.call("a") not in (home, "server")


def test_other_errors_say_nothing_about_a_server() -> None:
    scene = Clocked()
    home = scene.fleet.choose(of("a"))
    for error in (CallError(Failure.RATE_LIMIT, "", 429), CallError(Failure.SERVER, "", 500)):
        scene.errors[home] = error
        for _ in range(5):
            scene.call("a")
        assert scene.fleet.choose(of("a")) == home


def test_where_all_are_down_each_is_tried_once_and_then_the_first() -> None:
    scene = Clocked()
    scene.errors = {name_server(url): REFUSED for url in URLS}
    assert scene.call("a") == "server"
    assert set(scene.asked.values()) == {1}
    assert [line.endswith("its sessions have no other that is up") for line in scene.lines] == [
        *[False] * 4,
        True,
    ]
    assert scene.call("a") == "server"
    assert sum(scene.asked.values()) == len(URLS) + 1
    scene.errors = {}
    assert scene.call("a") != "server"  # nobody waits for a server's turn where there is no other


def test_calls_that_were_under_way_when_a_server_went_down_do_not_keep_it_down() -> None:
    scene = Clocked()
    home = scene.fleet.choose(of("a"))
    scene.errors[home] = CallError(Failure.SERVER, "reset")
    for _ in range(40):
        with pytest.raises(CallError):
            asyncio.run(scene.fleet.attempt(of("a", home), scene._ask))
    assert scene.asked[home] == 3  # later ones, which waited for their turn, aren't sent
    scene.now += 2.0
    del scene.errors[home]
    assert scene.call("a") == home


def test_names_of_servers() -> None:
    named = {"http://a:8000/v1": "a:8000", "https://gw/replica1/v1/": "gw/replica1"}
    assert {url: name_server(url) for url in named} == named
    assert replica({"x-litellm-model-id": "gpu-3"}) == "gpu-3"
    assert replica({"x-served-by": "a\x1b[0m"}) == replica({}) == ""
