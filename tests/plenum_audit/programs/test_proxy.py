"""The recording proxy over real sockets, spoken to by OpenAI's own client and by plain HTTP."""

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
import openai
import pytest
from running import CASE, Bench, Play, condition_of

from plenum.base.errors import UserError
from plenum.design.settings import Simulated
from plenum.records.chain import read_entries
from plenum_audit.programs.call_entries import name_seat
from plenum_audit.programs.proxy import MOST_BYTES
from plenum_audit.programs.session import Session
from plenum_hosted.settings import Hosted

MESSAGES: list[Any] = [
    {"role": "system", "content": "You are the engineer."},
    {"role": "user", "content": CASE.text},
]
VOTE = {
    "type": "object",
    "properties": {"option": {"type": "string", "enum": ["A", "B", "C"]}},
    "required": ["option"],
    "additionalProperties": False,
}
TOOL: Any = {"type": "function", "function": {"name": "vote", "parameters": VOTE, "strict": True}}
FLAT_TOOL: Any = {"type": "function", "name": "vote", "parameters": VOTE, "strict": True}


def client(session: Session, **more: Any) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=session.base_url, api_key=session.token, **more)


async def completed(session: Session, **more: Any) -> Any:
    """The answer to a completion, or its chunks."""
    asked = {"model": "gpt-4.1-mini", "messages": MESSAGES, **more}
    async with client(session) as ask:
        answer = await ask.chat.completions.create(**asked)
        return [chunk async for chunk in answer] if "stream" in more else answer


async def exchange(method: str, url: str, **more: Any) -> tuple[int, Any]:
    async with aiohttp.ClientSession() as http, http.request(method, url, **more) as answer:
        return answer.status, json.loads(await answer.read())


def reports(session: Session) -> str:
    return session.base_url.removesuffix("/v1") + "/plenum"


def calls_in(journal: Path) -> list[dict[str, Any]]:
    return [entry for entry in read_entries(journal) if entry["kind"] == "call"]


# --- interfaces ----------------------------------------------------------------------------------


def test_a_completion_is_answered_journaled_and_says_that_it_is_simulated(play: Play) -> None:
    async def test(bench: Bench) -> None:
        answer = await completed(bench.session(), temperature=0.7)
        assert answer.model == "gpt-4.1-mini"
        assert answer.system_fingerprint == "fp_simulated"
        (entry,) = calls_in(bench.journal())
        assert entry["text"] == answer.choices[0].message.content
        assert (entry["tokens_in"], entry["temperature"]) == (answer.usage.prompt_tokens, 0.7)
        assert (entry["system"], entry["question"]) == ("You are the engineer.", CASE.text)
        assert (entry["round"], entry["occurrence"], entry["interface"]) == (1, 0, "chat")

    play(test)


def test_a_stream_has_the_same_text_usage_and_reason(play: Play) -> None:
    async def test(bench: Bench) -> None:
        session = bench.session()
        whole = await completed(session, seed=5)
        usage = {"include_usage": True}
        chunks = await completed(session, seed=5, stream=True, stream_options=usage)
        choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
        assert "".join(c.delta.content or "" for c in choices) == whole.choices[0].message.content
        assert choices[0].delta.role == "assistant"
        assert [c.finish_reason for c in choices if c.finish_reason] == ["stop"]
        assert chunks[-1].usage == whole.usage

    play(test)


def test_a_required_tool_is_called_streaming_or_not(play: Play) -> None:
    async def test(bench: Bench) -> None:
        session = bench.session()
        asked = {"tools": [TOOL], "tool_choice": "required", "seed": 3}
        whole = (await completed(session, **asked)).choices[0]
        async with client(session).chat.completions.stream(
            model="gpt-4.1-mini", messages=MESSAGES, **asked
        ) as stream:
            streamed = (await stream.get_final_completion()).choices[0]
        for choice in (whole, streamed):
            assert choice.finish_reason == "tool_calls"
            (call,) = choice.message.tool_calls
            assert call.function.name == "vote"
            assert json.loads(call.function.arguments)["option"] in CASE.options
        arguments = [c.message.tool_calls[0].function.arguments for c in (whole, streamed)]
        assert arguments[0] == arguments[1]

    play(test)


def test_responses_are_answered_with_the_events_of_their_client(play: Play) -> None:
    async def test(bench: Bench) -> None:
        ask = client(bench.session()).responses
        given: Any = {"model": "gpt-4.1", "instructions": "Be bold.", "input": CASE.text}
        whole = await ask.create(**given, temperature=0)
        assert whole.status == "completed"
        async with ask.stream(**given, temperature=0) as stream:
            kinds = [event.type async for event in stream]
            streamed = await stream.get_final_response()
        assert streamed.output_text == whole.output_text != ""
        assert kinds[:2] == ["response.created", "response.in_progress"]
        assert kinds[-1] == "response.completed"
        async with ask.stream(**given, tools=[FLAT_TOOL], tool_choice="required") as stream:
            (call,) = (await stream.get_final_response()).output
        assert call.type == "function_call"
        assert json.loads(call.arguments)["option"] in CASE.options

    play(test)


def test_a_schema_of_the_answer_is_filled(play: Play) -> None:
    async def test(bench: Bench) -> None:
        form = {"type": "json_schema", "json_schema": {"name": "v", "schema": VOTE}}
        answer = await completed(bench.session(), response_format=form)
        assert json.loads(answer.choices[0].message.content).keys() == {"option"}

    play(test)


def test_seats_are_named_by_their_system_prompt_or_as_the_program_names_them(play: Play) -> None:
    async def test(bench: Bench) -> None:
        session = bench.session()
        for system in ("one", "one", "two"):
            messages = [{"role": "system", "content": system}, MESSAGES[1]]
            await completed(session, messages=messages)
        await completed(session, extra_headers={"X-Plenum-Seat": "the  chair"})
        places = [(entry["seat"], entry["round"]) for entry in calls_in(bench.journal())]
        assert [number for _, number in places] == [1, 2, 1, 1]
        assert places[0][0] == places[1][0] != places[2][0]
        assert places[3][0] == "the chair"
        assert places[2][0].startswith("two ")

    play(test)


@pytest.mark.parametrize(
    ("system", "words"),
    [
        ("You are the Chair. Be brief.", "Chair"),
        ("\n# You're an expert in hiring, and against it.", "expert in hiring"),
        ("Decide whether the claim of this person holds", "Decide whether the claim of"),
        ("<<>>\n\u202eAmara: speak", "Amara"),
        ("w" * 500, "w" * 40),
        ("...", "seat"),
        ("", "seat"),
    ],
)
def test_a_system_prompt_names_its_seat_in_few_words(system: str, words: str) -> None:
    named = name_seat(system)
    assert named.rpartition(" ")[0] == words
    assert named != name_seat(system + " Be kind.")


# --- what is drawn -------------------------------------------------------------------------------


def test_a_seed_of_the_program_fixes_the_draw_in_every_run(play: Play) -> None:
    async def test(bench: Bench) -> None:
        texts = []
        for index in range(6):
            session = bench.session(index)
            answer = await completed(session, temperature=1, seed=8)
            texts.append(answer.choices[0].message.content)
        assert len(set(texts)) == 1

    play(test)


def test_without_one_runs_draw_apart_and_again_alike(play: Play) -> None:
    async def test(bench: Bench) -> tuple[str, ...]:
        answers = [await completed(bench.session(index), temperature=1) for index in range(12)]
        return tuple(answer.choices[0].message.content for answer in answers)

    texts = play(test)
    assert len(set(texts)) > 1


def test_what_the_audit_changes_goes_out_and_is_journaled(play: Play) -> None:
    async def test(bench: Bench) -> None:
        texts = set()
        for index in range(8):
            session = bench.session(index, overrides={"temperature": 0.0, "model": "other"})
            answer = await completed(session, temperature=1)
            assert answer.model == "gpt-4.1-mini"
            texts.add(answer.choices[0].message.content)
            (entry,) = calls_in(bench.journal(index))
            assert (entry["temperature"], entry["model"]) == (0.0, "other")
        assert len(texts) == 1

    play(test)


def test_faults_to_order_reach_the_program_which_may_try_again(play: Play) -> None:
    async def test(bench: Bench) -> None:
        async def statuses(index: int) -> list[int]:
            session = bench.session(index, overrides={"fault_rate": 0.5})
            url = f"{session.base_url}/chat/completions"
            body = {"model": "m", "messages": MESSAGES}
            return [(await exchange("POST", url, json=body))[0] for _ in range(40)]

        first = await statuses(0)
        assert set(first) == {200, 429, 500, 503}
        assert first.count(200) == len(calls_in(bench.journal()))
        assert 8 < first.count(200) < 32
        assert await statuses(0) == first  # replayed, faults and all
        assert await statuses(1) != first
        session = bench.session(2, overrides={"fault_rate": 0.5})
        async with client(session, max_retries=9) as ask:
            answer = await ask.with_options(max_retries=9).chat.completions.create(
                model="m", messages=MESSAGES
            )
        assert answer.choices[0].message.content

    play(test)


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        ({"messages": []}, r"overrides\.messages"),
        ({"temperature": "hot"}, r"overrides\.temperature: 'hot'"),
        ({"fault_rate": 1.5}, r"overrides\.fault_rate: 1\.5"),
        ({"model": ""}, r"overrides\.model"),
    ],
)
def test_an_override_that_is_no_parameter_of_sampling_is_refused(
    overrides: dict[str, Any], named: str
) -> None:
    with pytest.raises(UserError, match=named):
        condition_of(overrides=overrides)


def test_a_hosted_model_has_to_be_named() -> None:
    with pytest.raises(UserError, match=r"overrides\.model"):
        condition_of(Hosted())
    assert condition_of(Hosted(), overrides={"model": "tiny"}).models == ("tiny",)
    assert condition_of().models == ()


# --- what a program reports ----------------------------------------------------------------------


def test_a_program_gets_its_case_and_reports_what_it_says_votes_and_decides(play: Play) -> None:
    async def test(bench: Bench) -> None:
        session = bench.session(4)
        url = reports(session)
        status, given = await exchange("GET", f"{url}/case")
        assert (status, given["index"], given["case"]["options"]) == (200, 4, dict(CASE.options))
        shares = {"A": 0.25, "B": 0.75}
        said = {"round": 1, "seat": "chair", "text": "B", "preferences": shares, "confidence": 80}
        assert (await exchange("POST", f"{url}/say", json=said))[0] == 200
        vote = {"round": 1, "seat": "chair", "option": "B"}
        assert (await exchange("POST", f"{url}/vote", json=vote))[0] == 200
        assert (await exchange("POST", f"{url}/decision", json={"option": "B"}))[0] == 200
        assert await session.decision == {"option": "B"}
        _, *entries = read_entries(bench.journal(4))
        assert entries == [
            {"kind": "say", **said, "preferences": {"A": 0.25, "B": 0.75, "C": 0.0}},
            {"kind": "vote", **vote},
        ]

    play(test)


@pytest.mark.parametrize(
    ("what", "message", "named"),
    [
        ("say", {"round": -1, "seat": "a", "text": "x"}, "round: -1"),
        ("say", {"round": 1, "seat": "", "text": "x"}, "seat: ''"),
        ("say", {"round": 1, "seat": "a", "text": 7}, "text: 7"),
        ("say", {"round": 1, "seat": "a", "text": "x" * 1_000_001}, "text: 1000001 characters"),
        ("say", {"seat": "a", "text": "x", "preferences": {"D": 1}}, "preferences: {'D': 1}"),
        ("say", {"seat": "a", "text": "x", "preferences": {"A": 0.5}}, "preferences: they add up"),
        ("say", {"seat": "a", "text": "x", "confidence": 101}, "confidence: 101"),
        ("vote", {"seat": "a", "option": "D"}, "'D'; it is one of"),
        ("decision", {"option": "D"}, "'D' is no label of the case"),
    ],
)
def test_a_report_that_does_not_fit_is_refused_in_one_line_and_not_journaled(
    play: Play, what: str, message: dict[str, Any], named: str
) -> None:
    async def test(bench: Bench) -> None:
        session = bench.session()
        status, body = await exchange("POST", f"{reports(session)}/{what}", json=message)
        assert status == 400
        assert named in body["error"]["message"]
        assert "\n" not in body["error"]["message"]
        assert len(read_entries(bench.journal())) == 1

    play(test)


# --- hostile programs ----------------------------------------------------------------------------


def test_a_forged_run_is_refused_in_json(play: Play) -> None:
    async def test(bench: Bench) -> None:
        session = bench.session(3)
        for run, expected in (("3-0123", 401), ("9-0123", 404), ("x", 404)):
            status, body = await exchange("GET", f"{bench.proxy.url}/r/{run}/plenum/case")
            assert (status, list(body)) == (expected, ["error"])
            forged = client(session, max_retries=0).with_options(
                base_url=f"{bench.proxy.url}/r/{run}/v1"
            )
            with pytest.raises(openai.APIStatusError) as refusal:
                await forged.chat.completions.create(model="m", messages=MESSAGES)
            assert refusal.value.status_code == expected
            assert session.token not in str(refusal.value)

    play(test)


def test_another_key_than_the_runs_is_refused_as_the_interface_has_it(play: Play) -> None:
    async def test(bench: Bench) -> None:
        session = bench.session(3)
        refused = client(session, max_retries=0).with_options(api_key="sk-of-somebody-else")
        for ask in (refused.chat.completions.create, refused.responses.create):
            prompt = "messages" if "Completions" in ask.__qualname__ else "input"
            with pytest.raises(openai.AuthenticationError) as error:
                await ask(model="m", **{prompt: MESSAGES})
            assert "run.token" in error.value.message
            assert error.value.type == "authentication_error"
        url, body = session.base_url, {"model": "m", "max_tokens": 9, "messages": MESSAGES[1:]}
        for headers in (
            {"x-api-key": "sk-of-somebody-else"},
            {"x-api-key": session.token, "Authorization": "Bearer sk-of-somebody-else"},
        ):
            status, answer = await exchange("POST", f"{url}/messages", json=body, headers=headers)
            assert (status, answer["type"]) == (401, "error")
            assert answer["error"]["type"] == "authentication_error"
        wrong = {"Authorization": "Bearer x"}
        assert (await exchange("GET", f"{reports(session)}/case", headers=wrong))[0] == 401
        assert calls_in(bench.journal(3)) == []
        assert len(session.problems) == 1
        for headers in ({}, {"Authorization": f"bearer {session.token}"}):
            status, _ = await exchange("POST", f"{url}/messages", json=body, headers=headers)
            assert status == 200  # the path holds the token

    play(test)


def test_a_call_after_the_end_is_refused_and_noted(play: Play) -> None:
    async def test(bench: Bench) -> None:
        session = bench.session()
        await bench.proxy.close(session)
        with pytest.raises(openai.APIStatusError) as refusal:
            await client(session).chat.completions.create(model="m", messages=MESSAGES)
        assert refusal.value.status_code == 410
        assert session.problems == ["it went on calling after its end: refused"]
        assert calls_in(bench.journal()) == []

    play(test)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b'{"model": "m"}', 400),
        (b'{"model": "m", "messages": [7]}', 400),
        (b'{"model": "m", "messages": [{"role": "user", "content": {"a": 1}}]}', 400),
        (b'{"model": 7, "messages": [{"role": "user", "content": "x"}]}', 400),
        (b'{"model": "m", "messages": [], "temperature": "hot"}', 400),
        (b'{"a":' * 100_000, 400),
        (b" " * (MOST_BYTES + 1), 413),
    ],
)
def test_a_body_that_is_no_request_is_refused_in_one_line(
    play: Play, body: bytes, status: int
) -> None:
    async def test(bench: Bench) -> None:
        url = f"{bench.session().base_url}/chat/completions"
        answered, error = await exchange("POST", url, data=body)
        assert answered == status
        assert "\n" not in error["error"]["message"]
        assert calls_in(bench.journal()) == []

    play(test)


def test_ten_megabytes_and_halves_of_characters_are_journaled(play: Play) -> None:
    async def test(bench: Bench) -> None:
        url = f"{bench.session().base_url}/chat/completions"
        body = '{"model": "m", "messages": [{"role": "user", "content": "\\ud800 %s"}]}'
        status, _ = await exchange("POST", url, data=(body % ("word " * 2_000_000)).encode())
        assert status == 200
        assert len(calls_in(bench.journal())) == 1

    play(test)


def test_a_failure_reaches_the_program_once_with_its_status(play: Play) -> None:
    async def test(bench: Bench) -> None:
        session = bench.session()
        with pytest.raises(openai.RateLimitError) as failure:
            await client(session, max_retries=5).chat.completions.create(
                model="m", messages=MESSAGES
            )
        assert failure.value.body["message"].startswith("rate_limit: ")
        assert failure.value.response.headers["x-should-retry"] == "false"  # nor did the client
        assert calls_in(bench.journal()) == []

    play(test, Simulated(rate_limit_rate=1.0), max_attempts=2)


# --- many calls at once --------------------------------------------------------------------------


def test_sixty_four_calls_at_once_are_all_answered_and_journaled_once(play: Play) -> None:
    async def test(bench: Bench) -> None:
        session = bench.session()
        async with client(session) as ask:
            answers = await asyncio.gather(
                *(
                    ask.chat.completions.create(
                        model="m",
                        messages=[{"role": "user", "content": f"{CASE.text} {n % 16}"}],
                        temperature=1,
                    )
                    for n in range(64)
                )
            )
        entries = calls_in(bench.journal())
        assert sorted(e["text"] for e in entries) == sorted(
            str(answer.choices[0].message.content) for answer in answers
        )
        keys = {(entry["prompt"], entry["occurrence"]) for entry in entries}
        assert len(keys) == 64
        assert {occurrence for _, occurrence in keys} == {0, 1, 2, 3}
        assert sorted(entry["round"] for entry in entries) == [*range(1, 65)]

    play(test)


# --- what is no request ---------------------------------------------------------------------------

HEAD = "POST {path} HTTP/1.1\r\nHost: {host}\r\n"


async def raw(session: Session, head: str, body: bytes = b"") -> bytes:
    """The status line for bytes as they are; ``{path}`` and ``{host}`` are filled in."""
    root, _, path = session.base_url.removeprefix("http://").partition("/")
    host, _, port = root.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(head.format(path=f"/{path}/chat/completions", host=root).encode() + body)
    line = await asyncio.wait_for(reader.readline(), 20)
    writer.close()
    return line


@pytest.mark.parametrize(
    ("head", "body", "status"),
    [
        ("no HTTP at all {path}\r\n\r\n", b"", 400),
        ("POST {path} HTTP/9.9\r\n\r\n", b"", 400),
        (f"{HEAD}Content-Length: x\r\n\r\n", b"", 400),
        (f"{HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", b"0\r\n\r\n", 400),
        (f"{HEAD}Transfer-Encoding: chunked\r\n\r\n", b"zz\r\n", 400),
        (f"{HEAD}X: {'x' * 100_000}\r\n\r\n", b"", 400),
        (HEAD + "".join(f"X{n}: 1\r\n" for n in range(50_000)) + "\r\n", b"", 400),
        (f"{HEAD}A\x00B: 1\r\n\r\n", b"", 400),
        *(
            (f"{HEAD}Content-Encoding: {name}\r\nContent-Length: 7\r\n\r\n", b"rubbish", 400)
            for name in ("deflate", "gzip", "br")
        ),
    ],
)
def test_what_is_no_request_is_refused_and_nothing_is_printed(
    play: Play,
    head: str,
    body: bytes,
    status: int,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def test(bench: Bench) -> None:
        session = bench.session()
        answer = await raw(session, head, body)
        assert answer.split()[1] == b"%d" % status
        assert (await completed(session)).choices  # it still serves

    play(test)
    printed = capfd.readouterr()
    assert printed.out + printed.err == ""
    assert caplog.text == ""


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:{port}"},
        {"Host": "127.0.0.1:1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
    ],
)
def test_a_request_of_a_foreign_page_is_refused(play: Play, headers: dict[str, str]) -> None:
    async def test(bench: Bench) -> None:
        session = bench.session()
        port = session.base_url.split(":")[2].partition("/")[0]
        sent = {name: value.format(port=port) for name, value in headers.items()}
        status, body = await exchange("GET", f"{reports(session)}/case", headers=sent)
        assert status == 403
        assert next(iter(headers)) in body["error"]["message"]
        own = {"Host": f"localhost:{port}", "Origin": f"http://127.0.0.1:{port}"}
        assert (await exchange("GET", f"{reports(session)}/case", headers=own))[0] == 200

    play(test)
