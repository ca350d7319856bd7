"""The three interfaces: how requests are read and compared, and how answers become events."""

import json
from typing import Any

import pytest

from plenum.calls.chat import Reply, Response
from plenum_audit.programs.wire import INTERFACES, BadRequest, ModelRequest

LOOK = {"type": "text", "text": "Look"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def read(interface: str, **body: Any) -> ModelRequest:
    return INTERFACES[interface].read({"model": "m", **body})


def chat(*messages: Any, **more: Any) -> ModelRequest:
    return read("chat", messages=[*messages], **more)


@pytest.mark.parametrize(
    ("interface", "body"),
    [
        (
            "chat",
            {
                "messages": [
                    {"role": "developer", "content": "Be brief."},
                    {"role": "user", "content": [LOOK, IMAGE]},
                    {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}],
                    },
                    {"role": "tool", "tool_call_id": "1", "content": "done"},
                ]
            },
        ),
        (
            "responses",
            {
                "instructions": "Be brief.",
                "input": [
                    {
                        "role": "user",
                        "content": [
                            {"type": "input_text", "text": "Look"},
                            {"type": "input_image", "image_url": "data:"},
                        ],
                    },
                    {"type": "reasoning", "id": "rs_1", "summary": []},
                    {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
                    {"type": "function_call_output", "call_id": "1", "output": "done"},
                ],
            },
        ),
        (
            "messages",
            {
                "system": [{"type": "text", "text": "Be brief."}],
                "messages": [
                    {"role": "user", "content": [LOOK, {"type": "image"}]},
                    {
                        "role": "assistant",
                        "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}],
                    },
                    {
                        "role": "user",
                        "content": [
                            {"type": "tool_result", "tool_use_id": "1", "content": "done"}
                        ],
                    },
                ],
            },
        ),
    ],
)  # fmt: skip
def test_all_interfaces_come_to_the_same_texts(interface: str, body: dict[str, Any]) -> None:
    request = read(interface, **body)
    assert [(m.role, m.content) for m in request.messages] == [
        ("system", "Be brief."),
        ("user", "Look\n[image]"),
        ("assistant", "[calls f: {}]"),
        ("user", "done"),
    ]
    assert (request.system, request.question) == ("Be brief.", "done")


def test_equal_prompts_have_equal_digests_whatever_draws_or_carries_them() -> None:
    message = {"role": "user", "content": "x"}
    plain = chat(message, temperature=1)
    for more in ({"stream": True}, {"seed": 7}, {"user": "run 3"}, {"metadata": {"at": "10:01"}}):
        assert chat(message, temperature=1, **more).digest == plain.digest
    others = ({"temperature": 0}, {"tools": []}, {"top_p": 0.5}, {"model": "n"})
    assert len({plain.digest, *(chat(message, **more).digest for more in others)}) == 5


def test_the_ids_of_tool_calls_tell_no_prompts_apart() -> None:
    def history(first: str, second: str, answered: str) -> str:
        calls = [{"id": name, "function": {"name": "f"}} for name in (first, second)]
        return chat(
            {"role": "assistant", "tool_calls": calls},
            {"role": "tool", "tool_call_id": answered, "content": "x"},
        ).digest

    assert history("a", "b", "a") == history("c", "d", "c")
    assert history("a", "b", "a") != history("c", "d", "d")


def test_a_temperature_of_zero_and_lengths_of_all_names_are_read() -> None:
    request = chat(temperature=0, max_completion_tokens=5, messages_of_ours=1)
    assert (request.temperature, request.max_tokens, request.seed) == (0, 5, None)
    assert read("responses", input="x", max_output_tokens=6).max_tokens == 6


# --- answers and their events --------------------------------------------------------------------


def events(interface: str, body: dict[str, Any], **asked: Any) -> list[tuple[str, Any]]:
    given = {"input": "x"} if interface == "responses" else {"messages": []}
    return [*INTERFACES[interface].events(body, read(interface, **given, **asked))]


def test_chunks_of_several_choices_and_tool_calls_add_up() -> None:
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": f"f{n}", "arguments": "{1}"}}
        for n in (0, 1)
    ]
    body = {
        "id": "1",
        "choices": [
            {"index": 0, "message": {"content": "x", "tool_calls": calls}, "finish_reason": "stop"},
            {"index": 1, "message": {"refusal": "no"}, "finish_reason": "stop"},
        ],
        "usage": {"total_tokens": 3},
    }
    *chunks, (_, done) = events("chat", body)
    assert done == "[DONE]"
    assert all("usage" not in chunk for _, chunk in chunks)
    deltas = [choice["delta"] for _, chunk in chunks for choice in chunk["choices"]]
    parts = [part for delta in deltas for part in delta.get("tool_calls", ())]
    assert [(p["index"], p.get("id"), p["function"]["arguments"]) for p in parts] == [
        *((0, "c0", ""), (0, None, "{1}"), (1, "c1", ""), (1, None, "{1}")),
    ]
    assert {"refusal": "no"} in deltas
    counted = events("chat", body, stream_options={"include_usage": True})
    assert counted[-2][1]["usage"] == {"total_tokens": 3}
    assert counted[-2][1]["choices"] == []


def test_a_message_with_thoughts_and_a_tool_comes_in_anthropic_s_order() -> None:
    body = {
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "B"},
            {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }
    sent = events("messages", body)
    block = ("content_block_start", "content_block_delta", "content_block_stop")
    start, _, stop = block
    assert [name for name, _ in sent] == [
        "message_start",
        *(start, "content_block_delta", "content_block_delta", stop),
        *block,
        *block,
        *("message_delta", "message_stop"),
    ]
    assert all(name == data["type"] for name, data in sent)
    assert json.loads(sent[9][1]["delta"]["partial_json"]) == {"a": 1}
    assert sent[-2][1] == {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 4},
    }


def test_a_response_numbers_its_events_and_ends_as_it_ended() -> None:
    part = {"type": "output_text", "text": "B", "annotations": []}
    body = {
        "status": "incomplete",
        "output": [
            {"type": "web_search_call", "id": "w"},
            {"type": "message", "id": "m", "status": "completed", "content": [part]},
        ],
    }
    sent = events("responses", body)
    assert [data["sequence_number"] for _, data in sent] == [*range(len(sent))]
    assert [name.removeprefix("response.") for name, _ in sent] == [
        *("created", "in_progress"),
        *("output_item.added", "output_item.done"),
        *("output_item.added", "content_part.added", "output_text.delta", "output_text.done"),
        *("content_part.done", "output_item.done", "incomplete"),
    ]
    assert sent[-1][1]["response"] == body


@pytest.mark.parametrize("interface", list(INTERFACES))
def test_answers_compare_by_what_they_say_and_not_by_their_ids(interface: str) -> None:
    wire, given = INTERFACES[interface], {"input": "x", "messages": []}
    request = read(interface, **given)
    first, second = (
        wire.answer(request, Response(Reply(text, 3, 4)), name) for text, name in ("x1", "x2")
    )
    other = wire.answer(request, Response(Reply("y", 3, 4)), "1")
    assert wire.content(first) == wire.content(second) != wire.content(other)


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tools", 7),
        ("tools", {"name": "vote"}),
        ("tools", [7]),
        ("tool_choice", 7),
        ("response_format", "json"),
        ("output_config", []),
        ("stream_options", True),
    ],
)
def test_a_field_of_another_type_is_named(interface: str, field: str, value: Any) -> None:
    asked = {"input" if interface == "responses" else "messages": [{"role": "user", "content": ""}]}
    with pytest.raises(BadRequest, match=f"^(a )?{field.removesuffix('s')}"):
        read(interface, **asked, **{field: value})


def test_fields_of_one_interface_are_checked_there() -> None:
    for body in ({"instructions": 7}, {"text": "json"}):
        with pytest.raises(BadRequest, match=f"{next(iter(body))} is"):
            read("responses", input="Decide.", **body)
    with pytest.raises(BadRequest, match="tool_calls is int"):
        chat({"role": "assistant", "content": None, "tool_calls": 7})
