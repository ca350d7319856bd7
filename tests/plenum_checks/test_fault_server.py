"""The fault server through real sockets: what a client sees, and what the server says it did."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from forking import Process
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig

from plenum.base.errors import UserError
from plenum.committee import Deliberation, ballots
from plenum.committee import state as stateline
from plenum.design import Condition
from plenum.models import Chat
from plenum.models.conversation import Ask
from plenum_checks.fault_server import (
    KINDS,
    Faults,
    FaultSettings,
    Latency,
    Limits,
    RunningServer,
    check_fault_settings,
    serve_in_thread,
)
from plenum_checks.fault_server.request_log import duration

ROOT = Path(__file__).resolve().parents[2]
QUICK = Latency(median_s=0.0)
Body = dict[str, Any]
Bodies = dict[str, Body]
Deliberate = Callable[[Deliberation, Callable[[Ask], str]], list[dict[str, Any]]]


def served(**given: Any) -> FaultSettings:
    return FaultSettings(**{"port": 0, "latency": QUICK, **given})


def body(chat: Chat, **more: Any) -> Body:
    messages = [{"role": m.role, "content": m.content} for m in chat.messages]
    sampling = {"temperature": chat.temperature, "max_tokens": chat.max_tokens}
    return {"model": chat.model, "messages": messages, **sampling, **more}


@contextmanager
def talking(**given: Any) -> Iterator[tuple[RunningServer, httpx.Client]]:
    """A server, and a client whose base URL it is."""
    with serve_in_thread(served(**given)) as server, httpx.Client(base_url=server.url) as client:
        yield server, client


def post(client: httpx.Client, sent: Body, **headers: str) -> httpx.Response:
    return client.post("/chat/completions", json=sent, headers=headers, timeout=10)


def text(response: httpx.Response) -> str:
    return str(response.json()["choices"][0]["message"]["content"])


def committee(
    client: httpx.Client, condition: Condition, deliberate: Deliberate
) -> tuple[Deliberation, list[dict[str, Any]], Bodies]:
    """A whole deliberation over HTTP; also the body of the last call of each kind."""
    sent: Bodies = {}

    def answer(ask: Ask) -> str:
        sent[ask.kind] = body(ask.chat)
        return text(post(client, sent[ask.kind]))

    deliberation = Deliberation(condition, 0)
    return deliberation, deliberate(deliberation, answer), sent


@pytest.fixture(scope="module")
def bodies(condition: Callable[..., Condition], deliberate: Deliberate) -> Bodies:
    """A turn, a ballot and a clerk's call, and the repairs that follow malformed ones."""
    with talking() as (_, client):
        sent = committee(client, condition("rounds=2"), deliberate)[2]
    with talking(faults=Faults(malformed=1.0)) as (_, client):
        sent |= committee(client, condition("rounds=1"), deliberate)[2]
    return sent


@pytest.mark.parametrize("answers", ["simulated", "canned"])
def test_a_committee_deliberates_to_its_end(
    answers: str, condition: Callable[..., Condition], deliberate: Deliberate
) -> None:
    with talking(answers=answers) as (server, client):
        deliberation, entries, _ = committee(client, condition("rounds=2"), deliberate)
        stats = server.stats()
    assert deliberation.end is not None
    assert deliberation.end["status"] == "completed"
    assert deliberation.end["clerk_agrees"]
    assert [e["kind"] for e in entries] == ["turn"] * 10 + ["ballot"] * 5 + ["clerk"]
    assert (stats["requests"], stats["answered"], stats["keys"]) == (16, 16, 16)
    if answers == "canned":
        assert 50 <= len(entries[0]["argument"].split()) <= 70


def test_a_body_is_as_openai_sends_it(bodies: Bodies) -> None:
    with talking() as (server, client):
        got = post(client, bodies["turn"]).json()
        models = client.get("/models").json()
    assert got["object"] == "chat.completion"
    assert got["model"] == bodies["turn"]["model"]
    assert got["system_fingerprint"] == "fp_simulated"
    assert got["choices"][0]["finish_reason"] == "stop"
    assert got["choices"][0]["logprobs"] is None
    usage = got["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 1000
    assert models["data"][0]["object"] == "model"
    assert server.url.endswith("/v1")


def test_the_answer_is_a_function_of_the_body(bodies: Bodies) -> None:
    warm = {**bodies["turn"], "temperature": 0.7}
    with talking() as (_, client):
        first = post(client, warm).content
        post(client, bodies["ballot"])
        assert post(client, warm).content == first
        seeded = {text(post(client, {**warm, "seed": seed})) for seed in range(5)}
    with talking(seed=9) as (_, client):
        assert post(client, warm).content == first
    assert len(seeded) == 5


def test_logprobs_on_request(bodies: Bodies) -> None:
    with talking() as (_, client):
        got = post(client, {**bodies["turn"], "logprobs": True})
        again = post(client, {**bodies["turn"], "logprobs": True})
    assert got.content == again.content
    tokens = got.json()["choices"][0]["logprobs"]["content"]
    assert [token["token"] for token in tokens] == text(got).split()
    assert all(token["logprob"] <= 0 and token["bytes"] is None for token in tokens)
    assert len({token["logprob"] for token in tokens}) > 10


@pytest.mark.parametrize("answers", ["simulated", "canned"])
def test_what_cant_be_read_is_a_400(answers: str) -> None:
    refused = (
        (b"{", "no JSON"),
        (b"[]", "no JSON object"),
        (b'{"model": "m"}', "messages: a list"),
        (b'{"messages": [{"role": "user", "content": "hello"}]}', "model: a model's name"),
        (b'{"model": "m", "messages": [{"role": "user", "content": "hello"}]}', "can't read"),
        (b'{"model": "m", "messages": [{"role": "user"}]}', "a content of text"),
        (b'{"model": "m", "messages": [{}], "stream": true}', "stream"),
        (
            b'{"model": "m", "messages": [{"role": "system", "content": "x"},'
            b' {"role": "user", "content": "The private ballots"}]}',
            "can't read",
        ),
    )
    with talking(answers=answers) as (server, client):
        for sent, reason in refused:
            got = client.post("/chat/completions", content=sent)
            assert got.status_code == 400
            assert reason in got.json()["error"]["message"]
            assert got.json()["error"]["type"] == "invalid_request_error"
        assert server.stats()["unreadable"] == len(refused)
        assert client.get("/nothing").status_code == 404


@pytest.mark.parametrize(
    ("kind", "status", "code"),
    [
        ("rate_limit", 429, "rate_limit_exceeded"),
        ("server_error", 500, None),
        ("unavailable", 503, None),
        ("auth", 401, "invalid_api_key"),
        ("content_filter", 400, "content_policy_violation"),
        ("truncated", 200, "Unterminated|Expecting"),
        ("wrong_type", 200, "<html>"),
        ("empty_choices", 200, "[]"),
    ],
)
def test_a_fault_on_the_wire(bodies: Bodies, kind: str, status: int, code: str | None) -> None:
    with talking(faults=Faults(**{kind: 1.0})) as (server, client):
        got = post(client, bodies["turn"])
        stats = server.stats()
    assert got.status_code == status
    assert got.headers.get("Retry-After") == ("0.2" if kind == "rate_limit" else None)
    assert (stats["faults"][kind], stats["answered"]) == (1, 0)
    assert got.headers["Content-Type"].startswith("text/html") == (kind == "wrong_type")
    assert int(got.headers["Content-Length"]) == len(got.content)
    if kind == "truncated":
        with pytest.raises(ValueError, match=str(code)):
            got.json()
    elif kind == "wrong_type":
        assert got.text.startswith(str(code))
    elif kind == "empty_choices":
        assert str(got.json()["choices"]) == code
    else:
        assert got.json()["error"]["code"] == code


@pytest.mark.parametrize(
    ("given", "end"),
    [
        ({"faults": Faults(hang=1.0)}, "hang"),
        ({"faults": Faults(trickle=1.0, trickle_s=5.0)}, "abandoned"),
        ({"latency": Latency(5.0)}, "abandoned"),
    ],
)
def test_what_nobody_waits_for_ends_and_is_no_answer(
    bodies: Bodies, given: dict[str, Any], end: str
) -> None:
    with talking(**given) as (server, client):
        with pytest.raises(httpx.ReadTimeout):
            client.post("/chat/completions", json=bodies["turn"], timeout=0.2)
        _await(lambda: server.stats()["in_flight"] == 0)
        stats = server.stats()
    assert stats["answered"] == 0
    assert (stats["faults"]["hang"] if end == "hang" else stats[end]) == 1


def test_a_trickle_is_whole(bodies: Bodies) -> None:
    with talking() as (_, client):
        good = post(client, bodies["turn"]).content
    with talking(faults=Faults(trickle=1.0, trickle_s=0.1)) as (server, client):
        assert post(client, bodies["turn"]).content == good
        assert server.stats()["answered"] == 1


def test_a_reset_comes_after_half_the_body(bodies: Bodies) -> None:
    with talking(faults=Faults(reset=1.0)) as (server, client):
        with client.stream("POST", "/chat/completions", json=bodies["turn"]) as got:
            promised = int(got.headers["Content-Length"])
            assert got.status_code == 200
            received, whole = _received(got)
        stats = server.stats()
    assert (len(received), whole) == (promised // 2, False)
    assert (stats["answered"], stats["faults"]["reset"], stats["in_flight"]) == (0, 1, 0)


def test_answer_faults_spoil_the_answer(bodies: Bodies) -> None:
    with talking() as (_, client):
        good = text(post(client, bodies["turn"]))
    seen = {}
    for kind in ("length", "empty_text", "refusal"):
        with talking(faults=Faults(**{kind: 1.0})) as (server, client):
            got = post(client, bodies["turn"])
            seen[kind] = (text(got), got.json()["choices"][0]["finish_reason"])
            assert server.stats()["answered"] == server.stats()["faults"][kind] == 1
    assert seen["length"] == (good[: len(good) // 2], "length")
    assert "STATE" not in seen["length"][0]
    assert seen["empty_text"] == ("", "stop")
    assert seen["refusal"] == ("I'm sorry, but I can't help with that.", "stop")


@pytest.mark.parametrize("answers", ["simulated", "canned"])
def test_malformed_answers_of_every_task(bodies: Bodies, answers: str) -> None:
    with talking(faults=Faults(malformed=1.0), answers=answers) as (_, client):
        said = {kind: text(post(client, sent)) for kind, sent in bodies.items()}
    assert {"turn", "turn_repair", "ballot", "clerk"} <= said.keys()
    for kind, spoilt in said.items():
        with pytest.raises(stateline.Malformed):
            _parse(kind, spoilt)


def met(given: dict[str, Any], sent: list[Body], workers: int = 1) -> dict[tuple[str, int], Any]:
    """Which fault each body met, by its key and how often it had been sent."""
    with talking(**given) as (server, client):

        def one(each: Body) -> None:
            with suppress(httpx.TransportError):
                post(client, each)

        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, sent))
        _await(lambda: server.stats()["in_flight"] == 0)
        return {(entry["key"], entry["n"]): entry["fault"] for entry in server.log()}


def test_faults_follow_from_seed_and_body_not_from_the_order(bodies: Bodies) -> None:
    sent = [{**bodies["ballot"], "seed": n} for n in range(50)] * 2
    faults = {"faults": Faults(all=0.6, hang_s=0.01, trickle_s=0.02)}
    once = met(faults, sent)
    assert met(faults, sent[::-1], workers=8) == once
    assert met({**faults, "seed": 1}, sent) != once
    assert len(once) == 100
    share = sum(1 for fault in once.values() if fault) / 100
    assert 0.45 < share < 0.75
    assert len(set(once.values())) > 9


def test_a_retry_may_pass_where_the_transport_failed(bodies: Bodies) -> None:
    with talking(faults=Faults(server_error=0.5)) as (server, client):
        statuses = [post(client, bodies["turn"]).status_code for _ in range(20)]
        assert set(statuses) == {200, 500}
        assert [entry["n"] for entry in server.log()] == list(range(20))
        assert server.stats()["keys"] == 1


@pytest.mark.parametrize("kind", ["length", "malformed", "empty_text", "refusal"])
def test_an_answer_fault_stays_on_asking_again(bodies: Bodies, kind: str) -> None:
    sent = [{**bodies["turn"], "seed": n} for n in range(20)]
    with talking(faults=Faults(**{kind: 0.5})) as (server, client):
        first = [post(client, each).content for each in sent]
        assert [post(client, each).content for each in sent] == first
        faults = [entry["fault"] for entry in server.log()]
    assert set(faults) == {None, kind}
    assert faults[:20] == faults[20:]


def test_all_kinds_together_are_a_share_of_all_requests(bodies: Bodies) -> None:
    sent = [{**bodies["ballot"], "seed": n} for n in range(150)]
    both = {"faults": Faults(server_error=0.5, refusal=0.5), "answers": "canned"}
    faults = list(met(both, sent).values())
    assert set(faults) == {"server_error", "refusal"}


def test_the_stats_add_up(bodies: Bodies) -> None:
    rates = dict.fromkeys(KINDS, 0.05)
    faults = Faults(**rates, hang_s=0.01, trickle_s=0.02)
    sent = [{**bodies["ballot"], "seed": n} for n in range(200)]
    with talking(faults=faults, answers="canned") as (server, client):
        for each in sent:
            with suppress(httpx.TransportError):
                post(client, each)
        client.post("/chat/completions", content=b"{")
        stats, log = server.stats(), server.log()
        assert client.get(server.url.replace("/v1", "/stats")).json() == stats
        lines = client.get(server.url.replace("/v1", "/log")).text.splitlines()
        assert [json.loads(line) for line in lines] == log
    answered = {"length", "malformed", "empty_text", "refusal", "trickle"}
    unanswered = sum(n for kind, n in stats["faults"].items() if kind not in answered)
    others = ("in_flight", "limited", "unauthorized", "unreadable", "abandoned")
    assert stats["requests"] == 201 == len(log)
    assert stats["requests"] == stats["answered"] + unanswered + sum(stats[k] for k in others)
    assert stats["answered"] == sum(entry["answered"] for entry in log)
    assert stats["unreadable"] == 1
    assert [entry["at"] for entry in log] == sorted(entry["at"] for entry in log)
    assert log[0].keys() == {"id", "key", "n", "fault", "status", "answered", "at", "session"}


def test_what_was_answered_twice(bodies: Bodies) -> None:
    def ids(server: RunningServer) -> int:
        return int(server.stats()["answered_twice"])

    with talking() as (server, client):
        post(client, bodies["turn"], **{"X-Client-Request-Id": "a-b-1"})
        post(client, bodies["turn"], **{"X-Client-Request-Id": "a-c-1"})
        assert ids(server) == 0
        post(client, bodies["turn"], **{"X-Client-Request-Id": "a-b-2"})
        assert ids(server) == 1
        post(client, bodies["ballot"])
        assert ids(server) == 1
        post(client, bodies["ballot"])
        assert ids(server) == 2
        assert server.log()[0]["id"] == "a-b-1"
    with talking(faults=Faults(server_error=1.0)) as (server, client):
        post(client, bodies["ballot"])
        post(client, bodies["ballot"])
        assert ids(server) == 0


def test_reset_forgets(bodies: Bodies) -> None:
    with talking(faults=Faults(server_error=0.5)) as (server, client):
        first = [post(client, bodies["turn"]).status_code for _ in range(8)]
        assert client.post(server.url.replace("/v1", "/reset")).status_code == 200
        assert server.stats()["requests"] == 0
        assert [post(client, bodies["turn"]).status_code for _ in range(8)] == first


def test_a_limit_in_flight(bodies: Bodies) -> None:
    limits = Limits(in_flight=2)
    with talking(limits=limits, latency=Latency(0.3)) as (server, client):
        with ThreadPoolExecutor(5) as pool:
            got = list(pool.map(lambda _: post(client, bodies["turn"]), range(5)))
        stats = server.stats()
    assert sorted(response.status_code for response in got) == [200, 200, 429, 429, 429]
    refused = next(response for response in got if response.status_code == 429)
    assert refused.headers["Retry-After"] == "0.2"
    assert refused.headers["x-ratelimit-limit-requests"] == "2"
    assert refused.headers["x-ratelimit-reset-requests"] == "200ms"
    assert (stats["limited"], stats["max_in_flight"], stats["answered"]) == (3, 2, 2)


def test_a_limit_per_minute(bodies: Bodies) -> None:
    with talking(limits=Limits(rpm=3)) as (server, client):
        got = [post(client, bodies["turn"]) for _ in range(4)]
        assert server.stats()["limited"] == 1
    assert [response.status_code for response in got] == [200, 200, 200, 429]
    left = [response.headers["x-ratelimit-remaining-requests"] for response in got]
    assert left == ["2", "1", "0", "0"]
    assert {response.headers["x-ratelimit-limit-requests"] for response in got} == {"3"}
    assert 58 < float(got[3].headers["Retry-After"]) <= 60
    assert got[3].headers["x-ratelimit-reset-requests"][:2] in ("58", "59", "1m")
    durations = {0.0: "0ms", 0.12: "120ms", 1.0: "1s", 17.64: "17.64s", 60.0: "1m0s"}
    assert {seconds: duration(seconds) for seconds in durations} == durations


def test_a_key_where_one_is_set(bodies: Bodies) -> None:
    with talking(key="abc") as (server, client):
        assert post(client, bodies["turn"]).status_code == 401
        assert post(client, bodies["turn"], Authorization="Bearer abd").status_code == 401
        assert post(client, bodies["turn"], Authorization="Bearer abc").status_code == 200
        assert server.stats()["unauthorized"] == 2


def test_many_servers_at_once_and_a_port_in_use(bodies: Bodies) -> None:
    with talking() as (one, client), talking() as (two, _):
        assert one.url != two.url
        post(client, bodies["turn"])
        assert (one.stats()["requests"], two.stats()["requests"]) == (1, 0)
        taken = int(one.url.split(":")[2].partition("/")[0])
        with (
            pytest.raises(UserError, match="is in use"),
            serve_in_thread(FaultSettings(port=taken)),
        ):
            pass
    assert "fault server" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.parametrize(
    ("override", "reason"),
    [
        ("faults.hang=1.5", "faults.hang: 1.5 is not allowed; it must be 0 to 1"),
        ("faults.all=-0.1", "faults.all: -0.1"),
        ("faults.all=0.1 faults.hang=0.1", "faults.all: 0.1 is set together with faults.hang"),
        ("faults.hang=0.6 faults.length=0.6", "add up to 1.2"),
        ("faults.trickle_s=-1.0", "faults.trickle_s: -1.0"),
        ("faults.hang=often", "faults.hang: often; a number, 0 to 1"),
        ("answers=wise", "answers: 'wise' is not one of simulated, canned"),
        ("port=70000", "port: 70000 is not allowed; it must be 0 to 65535"),
        ("seed=-1", "seed: -1"),
        ("latency.sigma=9", "latency.sigma: 9 is not allowed; it must be 0 to 5"),
        ("limits.rpm=0", "limits.rpm: 0 is not allowed; it must be 1 or more"),
    ],
)
def test_values_are_checked(override: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        check_fault_settings(composed(*override.split()))
    assert check_fault_settings(composed()) == FaultSettings()


def composed(*overrides: str) -> DictConfig:
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        return compose("fault_server", list(overrides))


def command(*arguments: str) -> list[str]:
    return [sys.executable, str(ROOT / "scripts" / "fault_server.py"), *arguments]


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_the_command_line_serves_until_it_is_told_to_stop(
    tmp_path: Path, bodies: Bodies, sent: signal.Signals, status: int
) -> None:
    process = Process(
        command("port=0", "faults.hang=0.5"),
        cold=True,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": ""},
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("serving http://127.0.0.1:")
        url = line.split()[1]
        if sent is signal.SIGTERM:
            port = f"port={url.split(':')[2].partition('/')[0]}"
            taken = subprocess.run(command(port), cwd=tmp_path, capture_output=True, text=True)
            assert taken.returncode == 2
            assert "is in use" in taken.stderr
            assert taken.stderr.count("\n") == 1
        with httpx.Client(base_url=url) as client:
            for _ in range(5):  # one of them hangs, which must not hold up the end
                try:
                    client.post("/chat/completions", json=bodies["turn"], timeout=0.3)
                except httpx.ReadTimeout:
                    break
        process.send_signal(sent)
        out, err = process.communicate(timeout=10)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == status, err
    assert (out, err) == ("", "")


def _await(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not holds():
        assert time.monotonic() < deadline, "it didn't come true"
        time.sleep(0.01)


def _received(response: httpx.Response) -> tuple[bytes, bool]:
    """The bytes that came, and whether they were all."""
    pieces = []
    try:
        for piece in response.iter_raw():
            pieces.append(piece)
    except httpx.TransportError:
        return b"".join(pieces), False
    return b"".join(pieces), True


def _parse(kind: str, answer: str) -> None:
    if kind.startswith("turn"):
        stateline.parse_answer(answer, 3)
    elif kind.startswith("ballot"):
        ballots.parse_ballot(answer, ("A", "B", "C"))
    else:
        ballots.parse_count(answer, ("A", "B", "C"))
