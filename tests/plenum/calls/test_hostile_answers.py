"""What a provider may send to harm: every answer ends as a reply or as a typed failure.

Both transports are asked, unless LiteLLM hides what is tested.
"""

import asyncio
import gzip
import json
import zlib
from functools import partial
from typing import Any

import pytest
from command_line import KEY
from hypothesis import given
from hypothesis import strategies as st
from openai_server import Server, completion

from plenum.base.text import flatten, make_printable
from plenum.calls.api import completions
from plenum.calls.api.backend import ApiBackend
from plenum.calls.api.prices import Price
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Chat, Message, Response
from plenum.design.settings import Calls
from plenum.records.failures import Failure

pytestmark = pytest.mark.slow

MOST = 2_000_000
ESCAPES = (
    "\x1b[2J\x1b]0;owned\x07\x1b]52;c;ZXZpbA==\x07\x00\x9b31m\u202edesrever\u2066\u200f\u061c\u200b"
)
CLEAN = "the message of the provider"


def attempt(base: str, transport: str, logprobs: bool = False, most_mb: int = 2) -> Response:
    calls = Calls(transport=transport, idle_timeout_s=10, max_response_mb=most_mb)
    backend = ApiBackend({"openai": base}, False, calls)
    chat = Chat("gpt-4.1-mini", (Message("user", "Speak."),), 0.0, 50, 1, logprobs=logprobs)

    async def once() -> Response:
        try:
            async with asyncio.timeout(60):
                return await backend.attempt(chat, 1)
        finally:
            await backend.close()

    return asyncio.run(once())


def answered(server: Server, transport: str, body: Any, **more: Any) -> Response:
    """What is read of a body; one that is no text is sent as JSON."""
    raw = body if isinstance(body, str) else json.dumps(body)
    server.script[:] = [{"raw": raw}]
    return attempt(server.url, transport, **more)


def failed(server: Server, transport: str, step: dict[str, Any]) -> CallError:
    server.script[:] = [step]
    with pytest.raises(CallError) as caught:
        attempt(server.url, transport)
    return caught.value


def body(**changes: Any) -> dict[str, Any]:
    """A healthy completion, but for what is changed; ``usage__x`` and the like go inside."""
    found = completion("m", "I agree.")
    places = {"usage": found["usage"], "message": found["choices"][0]["message"]}
    places["choice"] = found["choices"][0]
    for name, value in changes.items():
        where, _, key = name.partition("__")
        if key:
            places[where][key] = value
        else:
            found[name] = value
    return found


# --- types and bounds ---------------------------------------------------------------------------

DEEP = 100_000
NO_COMPLETIONS = {
    "nested lists": "[" * DEEP,
    "nested objects": '{"a":' * DEEP,
    "nested in a field": json.dumps(body())[:-1] + ',"x":' + "[" * DEEP + "]" * DEEP + "}",
    "choices are a text": body(choices=""),
    "choices hold nothing": body(choices=[None]),
    "choices hold a list": body(choices=[[]]),
    "message is null": body(choice__message=None),
    "content is a number": body(message__content=7),
    "endless content": body(message__content="a" * (completions.MOST_TEXT + 1)),
    "a number of 10,000 digits": json.dumps(body()).replace("1000", "9" * 10_000),
    "NaN tokens": body(usage__prompt_tokens=float("nan")),
    "infinite tokens": body(usage__prompt_tokens=float("inf")),
    "latin-1": '{"choices": "\udce9"}'.encode("latin-1", "surrogateescape").decode("latin-1"),
}


@pytest.mark.parametrize("kind", NO_COMPLETIONS)
def test_what_is_no_completion_is_a_server_failure(
    server: Server, transport: str, kind: str
) -> None:
    sent = NO_COMPLETIONS[kind]
    error = failed(server, transport, {"raw": sent if isinstance(sent, str) else json.dumps(sent)})
    assert error.failure is Failure.SERVER
    assert 0 < len(error.detail) <= 500


@pytest.mark.parametrize(
    "tokens", ["١٠٠", "100", True, 100.0, 1.5, [100], {"n": 1}, None, -1, 10**30]
)
def test_token_counts_are_read_where_they_are_numbers_and_else_counted(
    server: Server, tokens: Any
) -> None:
    """On the lean path only: LiteLLM makes numbers of some of these."""
    response = answered(server, "lean", body(usage__prompt_tokens=tokens))
    assert response.counted == (tokens not in ("100", 100.0))
    assert response.counted or response.reply.tokens_in == 100


@pytest.mark.parametrize(
    ("field", "change", "value"),
    [
        *(
            ("system_fingerprint", "system_fingerprint", v)
            for v in ({"a": 1}, ["fp"], 7, "f" * 500)
        ),
        *(("system_fingerprint", "system_fingerprint", v) for v in (ESCAPES, "\ud800", "a\nb")),
        *(("finish_reason", "choice__finish_reason", v) for v in ({"a": 1}, 7, "f" * 500)),
        *(("finish_reason", "choice__finish_reason", v) for v in (ESCAPES, "stop\udfff", "a\nb")),
        *(
            ("cached_tokens", "usage__prompt_tokens_details", {"cached_tokens": v})
            for v in (5000, -1, 1.5, True, "800", [1], 10**30)
        ),
    ],
)
def test_what_does_not_fit_beside_the_answer_is_dropped_and_named(
    server: Server, field: str, change: str, value: Any
) -> None:
    response = answered(server, "lean", body(**{change: value}))
    assert response.dropped == (field,)
    assert response.fingerprint == (None if field == "system_fingerprint" else "fp_1")
    assert (response.reply.text, response.reply.finish) == ("I agree.", "stop")
    plain = answered(server, "lean", body()).reply.cost
    assert response.reply.cost == plain


@pytest.mark.parametrize(
    "change",
    [
        {"system_fingerprint": {"a": 1}},
        {"system_fingerprint": ["fp"]},
        {"system_fingerprint": ESCAPES},
        {"choice__finish_reason": ESCAPES},
        {"choice__finish_reason": "stop\ud800"},
        {"choice__finish_reason": {"a": 1}},
        {"usage__prompt_tokens_details": {"cached_tokens": 5000}},
        {"usage__prompt_tokens_details": {"cached_tokens": -5}},
        {"usage__prompt_tokens": 10**30},
        {"message__content": "half \ud800"},
        {"message__refusal": {"a": 1}, "message__content": None},
    ],
    ids=str,
)
def test_whatever_a_transport_lets_through_can_be_journaled(
    server: Server, transport: str, change: dict[str, Any]
) -> None:
    try:
        response = answered(server, transport, body(**change))
    except CallError as error:
        if error.failure is not Failure.SERVER:
            raise
        return
    reply = response.reply
    json.dumps(vars(reply), ensure_ascii=False, allow_nan=False).encode()
    assert flatten(reply.finish) == reply.finish
    assert response.fingerprint is None or flatten(response.fingerprint) == response.fingerprint
    assert 0 <= reply.tokens_in <= completions.MOST_TOKENS
    assert reply.cost is not None
    assert 0 <= reply.cost < 1e6


def test_log_probabilities_are_finite_and_well_formed(server: Server) -> None:
    one = {"token": "\ud800", "logprob": -0.5}
    sent = json.dumps(body(choice__logprobs={"content": [one]}))
    response = answered(server, "lean", sent, logprobs=True)
    assert response.logprobs == (("?", -0.5),)
    misfits: list[Any] = [sent.replace("-0.5", "-1e999")]
    for content in ([{"token": "a"}], [{"token": 1, "logprob": -1}], ["a"], "ab", 7, [None]):
        misfits.append(body(choice__logprobs={"content": content}))
    for misfit in misfits:
        response = answered(server, "lean", misfit, logprobs=True)
        assert (response.logprobs, response.dropped) == ((), ("logprobs",))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
FIELDS = [
    *("choices", "usage", "system_fingerprint", "message__content", "message__refusal"),
    *("choice__message", "choice__finish_reason", "choice__logprobs", "usage__prompt_tokens"),
    *("usage__completion_tokens", "usage__prompt_tokens_details"),
]


@given(st.dictionaries(st.sampled_from(FIELDS), json_values, max_size=4) | json_values)
def test_any_json_is_a_reply_of_plain_values_or_a_refusal(sent: Any) -> None:
    changed = isinstance(sent, dict) and sent.keys() <= set(FIELDS)
    try:
        response = completions.read_completion(
            body(**sent) if changed else sent, Price(1.0, 2.0, 0.5), logprobs=True, hold_s=0.0
        )
    except (completions.UnfitReply, CallError):
        return
    reply = response.reply
    assert type(reply.tokens_in) is int
    assert type(reply.tokens_out) is int
    assert reply.cost is not None
    assert reply.tokens_in * 0.5 <= reply.cost - 2 * reply.tokens_out <= reply.tokens_in
    json.dumps([vars(reply), response.logprobs], ensure_ascii=False, allow_nan=False).encode()


# --- what the provider says of an error ----------------------------------------------------------


@pytest.mark.parametrize("status", [400, 429, 500])
def test_an_errors_message_is_cleaned_where_it_arrives(
    server: Server, transport: str, status: int
) -> None:
    said = f"{ESCAPES}{CLEAN}\ud83d\r\n{ESCAPES}"
    error = failed(server, transport, {"status": status, "message": said})
    assert CLEAN in error.detail
    assert make_printable(error.detail) == error.detail == str(error)
    assert "\n" not in error.detail
    error.detail.encode()


@pytest.mark.parametrize(
    "change",
    [
        *({"message": value} for value in ({"a": {"b": [1]}}, [[1]], 7, None, True)),
        *({"code": value} for value in ({"a": 1}, [1], 7, True)),
    ],
    ids=str,
)
def test_an_error_of_any_shape_keeps_the_class_of_its_status(
    server: Server, change: dict[str, Any]
) -> None:
    error = failed(server, "lean", {"status": 429, **change})
    assert (error.failure, error.status) == (Failure.RATE_LIMIT, 429)


# --- bytes ---------------------------------------------------------------------------------------


def raw_attempt(
    transport: str,
    head: str,
    *pieces: bytes,
    endless: bytes = b"",
    most_mb: int = 2,
    model: str = "openai/gpt-4.1-mini",
) -> Response:
    """One attempt at a server that sends just these bytes, and maybe some for ever."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n")
            for piece in pieces:
                writer.write(piece)
            await writer.drain()
            while endless:
                writer.write(endless)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    calls = Calls(transport=transport, idle_timeout_s=10, max_response_mb=most_mb)
    chat = Chat(model, (Message("user", "Speak."),), 0.0, 50, 1)

    async def once() -> Response:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        provider = model.partition("/")[0]
        backend = ApiBackend({provider: f"http://127.0.0.1:{port}/v1"}, False, calls)
        try:
            async with asyncio.timeout(60):
                return await backend.attempt(chat, 1)
        finally:
            await backend.close()
            server.close()

    return asyncio.run(once())


HEAD = "HTTP/1.1 {status} X\nContent-Type: application/json\nConnection: close"
OK = HEAD.format(status=200)
GOOD = json.dumps(body()).encode()
sends = pytest.mark.usefixtures("server")


@pytest.fixture
def spaces() -> bytes:
    """A gzip bomb: 64 MB of spaces in 64 kB."""
    zipped = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(zipped.compress(b" " * 10**6) for _ in range(64)) + zipped.flush()


@sends
@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_a_body_beyond_the_bound_is_a_failed_attempt_that_names_the_setting(
    transport: str, encoding: str, spaces: bytes
) -> None:
    head = f"{OK}\nContent-Encoding: {encoding}"
    send = partial(raw_attempt, transport, head)
    with pytest.raises(CallError) as caught:
        send(spaces) if encoding == "gzip" else send(endless=b" " * 65536)
    assert (caught.value.failure, caught.value.status) == (Failure.SERVER, 200)
    assert "calls.max_response_mb=2" in caught.value.detail


@pytest.mark.parametrize("provider", ["anthropic/claude-sonnet-4-6", "gemini/gemini-2.5-flash"])
def test_the_bound_holds_for_providers_that_litellm_translates(
    monkeypatch: pytest.MonkeyPatch, provider: str, spaces: bytes
) -> None:
    for name in ("ANTHROPIC", "GEMINI"):
        monkeypatch.setenv(f"{name}_API_KEY", KEY)
    for head, sent, endless in (
        (f"{OK}\nContent-Encoding: gzip", spaces, b""),
        (OK, b"", b" " * 65536),
    ):
        with pytest.raises(CallError, match="max_response_mb") as caught:
            raw_attempt("litellm", head, sent, endless=endless, model=provider)
        assert (caught.value.failure, caught.value.status) == (Failure.SERVER, 200)


@sends
@pytest.mark.parametrize("size", [MOST - 1, MOST, MOST + 1])
@pytest.mark.parametrize("encoding", ["identity", "gzip", "deflate"])
def test_the_bound_is_on_decoded_bytes(transport: str, encoding: str, size: int) -> None:
    sent = GOOD.ljust(size)
    packed = {"identity": bytes, "gzip": gzip.compress, "deflate": zlib.compress}[encoding](sent)
    head = f"{OK}\nContent-Encoding: {encoding}\nContent-Length: {len(packed)}"
    if size <= MOST:
        assert raw_attempt(transport, head, packed).reply.text == "I agree."
        return
    with pytest.raises(CallError, match="max_response_mb"):
        raw_attempt(transport, head, packed)


@sends
def test_more_values_than_memory_could_hold_are_refused_before_they_are_made(
    transport: str,
) -> None:
    many = b"[" + b"[]," * 3_000_000 + b"[]]"
    head = f"{OK}\nContent-Length: {len(many)}"
    with pytest.raises(CallError, match="values") as caught:
        raw_attempt(transport, head, many, most_mb=32)
    assert caught.value.failure is Failure.SERVER


@sends
@pytest.mark.parametrize(
    ("status", "failure"), [(401, Failure.AUTH), (429, Failure.RATE_LIMIT), (500, Failure.SERVER)]
)
def test_an_endless_error_body_keeps_the_class_of_its_status(
    transport: str, status: int, failure: Failure
) -> None:
    with pytest.raises(CallError) as caught:
        raw_attempt(transport, HEAD.format(status=status), endless=b"e" * 65536)
    assert (caught.value.failure, caught.value.status) == (failure, status)


@sends
@pytest.mark.parametrize(
    "sent",
    {
        "nested error": b'{"error":' + b"[" * DEEP,
        "nested message": b'{"error":{"message":' + b"[" * DEEP + b"]" * DEEP + b"}}",
        "a number without end": b'{"error":{"code":' + b"9" * 10_000 + b"}}",
        "no UTF-8": b'{"error":{"message":"\xff\xfe"}}',
        "nothing": b"",
    }.items(),
    ids=lambda item: item[0],
)
def test_a_broken_error_body_keeps_the_class_of_its_status(
    transport: str, sent: tuple[str, bytes]
) -> None:
    head = f"{HEAD.format(status=503)}\nContent-Length: {len(sent[1])}"
    with pytest.raises(CallError) as caught:
        raw_attempt(transport, head, sent[1])
    assert (caught.value.failure, caught.value.status) == (Failure.SERVER, 503)


@sends
@pytest.mark.parametrize(
    ("head", "sent"),
    [
        (f"{OK}\nContent-Encoding: br", GOOD),
        (f"{OK}\nContent-Encoding: gzip", GOOD),
        (f"{OK}\nContent-Encoding: gzip, gzip", gzip.compress(gzip.compress(GOOD))),
        (f"{OK}\nContent-Encoding: gzip", gzip.compress(GOOD)[:-20]),
        (f"{OK}\nContent-Length: 5000", GOOD),
        (f"{OK}\nContent-Length: many", GOOD),
        (f"{OK}\nTransfer-Encoding: chunked", b"zz\r\nhello\r\n"),
        (f"{OK}\nTransfer-Encoding: chunked", b"5\r\nhel"),
        (f"{OK}\nX-Long: {'a' * 100_000}", GOOD),
        (f"{OK}\n{''.join(f'X-{n}: a' + chr(10) for n in range(500))}X: a", GOOD),
        ("HTTP/1.1 204 No Content", b""),
        ("HTTP/1.1 999 Odd\nConnection: close", GOOD),
        ("HTTP/9.9 what", GOOD),
        ("\x1b]0;owned\x07", b""),
    ],
)
def test_broken_http_is_a_server_failure(transport: str, head: str, sent: bytes) -> None:
    if transport == "litellm" and "Encoding: br" in head:
        return  # its client takes what it can't decode as it is
    with pytest.raises(CallError) as caught:
        raw_attempt(transport, head, sent)
    assert caught.value.failure is Failure.SERVER
    assert make_printable(caught.value.detail) == caught.value.detail


# --- prices, budgets ----------------------------------------------------------------------------


@given(st.integers(0, 10**8), st.integers(0, 10**8), st.integers(-(10**12), 10**12))
def test_no_count_of_cached_tokens_makes_a_call_cheaper_than_all_cached(
    tokens_in: int, tokens_out: int, cached: int
) -> None:
    price = Price(4e-7, 1.6e-6, 1e-7)
    cost = price.of(tokens_in, tokens_out, cached)
    assert price.of(tokens_in, tokens_out, tokens_in) <= cost <= price.of(tokens_in, tokens_out)


def test_parts_are_joined_and_nested_ones_have_an_end(server: Server) -> None:
    """On the lean path only: LiteLLM has an own reading of parts."""
    nested: Any = "hm"
    for _ in range(200):
        nested = [{"type": "thinking", "thinking": nested}]
    parts = [*nested, {"type": "text", "text": "I "}, {"type": "output_text", "text": "agree."}]
    reply = answered(server, "lean", body(message__content=parts)).reply
    assert (reply.text, reply.reasoning) == ("I agree.", "")
    inner = json.dumps(body(message__content=[{"type": "text", "text": nested}]))
    assert failed(server, "lean", {"raw": inner}).failure is Failure.SERVER


@pytest.mark.parametrize("arguments", ["{}", "[]", "7", "no JSON", None])
def test_a_tool_s_call_without_an_answer_is_no_answer(server: Server, arguments: Any) -> None:
    call = [{"function": {"name": "answer", "arguments": arguments}}]
    sent = body(message__content=None, message__tool_calls=call)
    assert answered(server, "lean", sent).reply.text == ""
