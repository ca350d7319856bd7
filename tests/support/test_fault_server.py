"""The fault server through real sockets: what other tests and a benchmark rely on."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from plenum.calls.conversation import Ask
from plenum.committee import ballots
from plenum.committee import state as stateline
from plenum.committee.deliberation import Deliberation
from plenum.design.condition import Condition
from support.fault_server import (
    KINDS,
    Faults,
    FaultSettings,
    Latency,
    Limits,
    RunningServer,
    serve_in_thread,
)

TESTS = Path(__file__).resolve().parents[1]
Body = dict[str, Any]
Bodies = dict[str, Body]
Deliberate = Callable[[Deliberation, Callable[[Ask], str]], list[dict[str, Any]]]


@contextmanager
def talking(**given: Any) -> Iterator[tuple[RunningServer, httpx.Client]]:
    """A server, and a client whose base URL it is."""
    settings = FaultSettings(**{"latency": Latency(0.0), **given})
    with serve_in_thread(settings) as server, httpx.Client(base_url=server.url) as client:
        yield server, client


def post(client: httpx.Client, sent: Body, **headers: str) -> httpx.Response:
    return client.post("/chat/completions", json=sent, headers=headers, timeout=10)


def text(response: httpx.Response) -> str:
    return str(response.json()["choices"][0]["message"]["content"])


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not holds():
        assert time.monotonic() < deadline, "it didn't come true"
        time.sleep(0.01)


@pytest.fixture(scope="module")
def bodies(condition: Callable[..., Condition], deliberate: Deliberate) -> Bodies:
    """A turn, a ballot and a clerk's call of a committee that deliberates to its end."""
    sent: Bodies = {}

    def answer(ask: Ask) -> str:
        chat = ask.chat
        messages = [{"role": m.role, "content": m.content} for m in chat.messages]
        sent[ask.kind] = {"model": chat.model, "messages": messages, "temperature": 0.0}
        return text(post(client, sent[ask.kind]))

    with talking() as (server, client):
        deliberation = Deliberation(condition("rounds=2"), 0)
        deliberate(deliberation, answer)
        stats = server.stats()
    assert deliberation.end is not None
    assert deliberation.end["status"] == "completed"
    assert (stats["requests"], stats["answered"]) == (16, 16)
    return sent


@pytest.mark.parametrize(
    ("kind", "status", "said"),
    [
        ("rate_limit", 429, "rate_limit_exceeded"),
        ("server_error", 500, "server_error"),
        ("unavailable", 503, "server_error"),
        ("auth", 401, "invalid_api_key"),
        ("content_filter", 400, "content_policy_violation"),
        ("truncated", 200, ""),
        ("wrong_type", 200, "<html>"),
        ("empty_choices", 200, '"choices": []'),
    ],
)
def test_a_fault_on_the_wire(bodies: Bodies, kind: str, status: int, said: str) -> None:
    with talking(faults=Faults(**{kind: 1.0})) as (server, client):
        got = post(client, bodies["turn"])
        stats = server.stats()
    assert got.status_code == status
    assert got.headers.get("Retry-After") == ("0.2" if kind == "rate_limit" else None)
    assert (stats["faults"][kind], stats["answered"], stats["paid"]) == (1, 0, 0)
    assert said in got.text
    if kind == "truncated":
        with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
            got.json()


@pytest.mark.parametrize("kind", ["hang", "trickle", ""])
def test_what_nobody_waits_for_is_no_answer(bodies: Bodies, kind: str) -> None:
    given = {"faults": Faults(**{kind: 1.0}, trickle_s=5.0)} if kind else {"latency": Latency(5.0)}
    with talking(**given) as (server, client):
        with pytest.raises(httpx.ReadTimeout):
            client.post("/chat/completions", json=bodies["turn"], timeout=0.2)
        time.sleep(0.1)
        assert server.stats()["answered"] == 0


def test_a_trickle_is_whole_and_a_reset_comes_after_half_the_body(bodies: Bodies) -> None:
    with talking() as (_, client):
        good = post(client, bodies["turn"]).content
    with talking(faults=Faults(trickle=1.0, trickle_s=0.1)) as (server, client):
        assert post(client, bodies["turn"]).content == good
        assert server.stats()["answered"] == 1
    came = b""
    with talking(faults=Faults(reset=1.0)) as (server, client):
        with client.stream("POST", "/chat/completions", json=bodies["turn"]) as got:
            assert (got.status_code, int(got.headers["Content-Length"])) == (200, len(good))
            with pytest.raises(httpx.TransportError):  # noqa: PT012
                for piece in got.iter_raw():
                    came += piece
        assert server.stats()["answered"] == 0
    assert came == good[: len(good) // 2]


def test_answer_faults_spoil_every_answer_and_stay_on_asking_again(bodies: Bodies) -> None:
    parse: dict[str, Callable[[str], Any]] = {
        "turn": lambda said: stateline.parse_answer(said, 3),
        "ballot": lambda said: ballots.parse_ballot(said, ("A", "B", "C")),
        "clerk": lambda said: ballots.parse_count(said, ("A", "B", "C")),
    }
    for kind in ("length", "malformed"):
        with talking(faults=Faults(**{kind: 1.0})) as (server, client):
            for task, sent in bodies.items():
                got = post(client, sent)
                finish = got.json()["choices"][0]["finish_reason"]
                assert finish == ("length" if kind == "length" else "stop")
                with pytest.raises(stateline.Malformed):
                    parse[task](text(got))
            assert server.stats()["answered"] == 3
        sent_all = [{**bodies["turn"], "seed": n} for n in range(20)]
        with talking(faults=Faults(**{kind: 0.5})) as (server, client):
            first = [post(client, each).content for each in sent_all]
            assert [post(client, each).content for each in sent_all] == first
            assert {entry["fault"] for entry in server.log()} == {None, kind}


def met(faults: Faults, sent: list[Body], workers: int) -> dict[tuple[str, int], Any]:
    """Which fault each body met, by its key and how often it had been sent."""
    with talking(faults=faults) as (server, client):

        def one(each: Body) -> None:
            with suppress(httpx.TransportError):
                post(client, each)

        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, sent))
        log = server.log()
        assert log[0].keys() == {"id", "key", "n", "fault", "status", "answered", "at"}
        return {(entry["key"], entry["n"]): entry["fault"] for entry in log}


def test_faults_follow_from_the_body_not_from_the_order(bodies: Bodies) -> None:
    sent = [{**bodies["ballot"], "seed": n} for n in range(50)] * 2
    faults = Faults(all=0.6, hang_s=0.01, trickle_s=0.02)
    once = met(faults, sent, 1)
    assert met(faults, sent[::-1], 8) == once
    assert len(once) == 100
    assert 0.45 < sum(1 for fault in once.values() if fault) / 100 < 0.75
    assert len(set(once.values())) > 8
    assert set(once.values()) <= {None, *KINDS} - {"auth", "content_filter"}


def test_what_was_paid_twice_is_counted_by_call_and_by_body(bodies: Bodies) -> None:
    with talking() as (server, client):
        for ident, twice in (("a-b-1", 0), ("a-c-1", 0), ("a-b-2", 1)):
            post(client, bodies["turn"], **{"X-Client-Request-Id": ident})
            assert server.stats()["answered_twice"] == twice
        assert (server.stats()["paid"], server.stats()["paid_twice"]) == (3, 1)
        assert server.log()[0]["id"] == "a-b-1"


def test_limits_and_a_key(bodies: Bodies) -> None:
    with talking(limits=Limits(in_flight=2), latency=Latency(0.3)) as (server, client):
        with ThreadPoolExecutor(5) as pool:
            got = list(pool.map(lambda _: post(client, bodies["turn"]), range(5)))
        assert server.stats()["max_in_flight"] == 2
    assert sorted(each.status_code for each in got) == [200, 200, 429, 429, 429]
    with talking(limits=Limits(rpm=3)) as (_, client):
        got = [post(client, bodies["turn"]) for _ in range(4)]
    assert [each.status_code for each in got] == [200, 200, 200, 429]
    assert 58 < float(got[3].headers["Retry-After"]) <= 60
    with talking(key="abc") as (_, client):
        keys = ("Bearer abd", "Bearer abc")
        got = [post(client, bodies["turn"], Authorization=key) for key in keys]
    assert [each.status_code for each in got] == [401, 200]


def test_logprobs_on_request(bodies: Bodies) -> None:
    with talking() as (_, client):
        got = post(client, {**bodies["turn"], "logprobs": True})
    tokens = got.json()["choices"][0]["logprobs"]["content"]
    assert [token["token"] for token in tokens] == text(got).split()
    assert all(token["logprob"] <= 0 for token in tokens)


def test_a_process_of_its_own_says_where_it_serves_and_what_it_saw(bodies: Bodies) -> None:
    command = [sys.executable, "-m", "support.fault_server", "faults.server_error=1"]
    with subprocess.Popen(command, cwd=TESTS, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().removeprefix("serving ").strip()
            with httpx.Client(base_url=url) as client:
                assert post(client, bodies["turn"]).status_code == 500
                root = url.removesuffix("/v1")
                assert client.get(f"{root}/stats").json()["faults"]["server_error"] == 1
                (line,) = client.get(f"{root}/log").text.splitlines()
                assert '"fault": "server_error"' in line
        finally:
            process.terminate()
