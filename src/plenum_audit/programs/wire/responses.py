"""OpenAI's responses."""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from plenum.calls.chat import Message, Response
from plenum_audit.programs.wire import chat
from plenum_audit.programs.wire.chat import CREATED
from plenum_audit.programs.wire.request import (
    BadRequest,
    ModelRequest,
    format_tool_call,
    optional,
    request,
    require,
    role,
    text,
)

_ECHOED = ("instructions", "metadata", "temperature", "top_p", "tools", "tool_choice", "text")
_IDS = ("id", "call_id", "status")

error = chat.error


def read(body: Mapping[str, Any]) -> ModelRequest:
    """Parse a request."""
    instructions = optional(body, "instructions", str)
    messages = [Message("system", instructions)] if instructions else []
    optional(body, "text", Mapping)
    given = require(body, "input", str | list)
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        if not isinstance(item, Mapping):
            raise BadRequest(f"an item of input is {type(item).__name__}")
        messages.append(_message(item))
    return request("responses", body, [m for m in messages if m.content])


def answer(request: ModelRequest, response: Response, name: str) -> dict[str, Any]:
    """Return a response."""
    reply, output = response.reply, []
    if reply.text or not response.tools:
        part = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        output.append(_item("message", f"msg_{name}", role="assistant", content=[part]))
    for n, tool in enumerate(response.tools):
        call = {"call_id": f"call_{name}_{n}", "name": tool.name, "arguments": tool.arguments}
        output.append(_item("function_call", f"fc_{name}_{n}", **call))
    cut = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(reply.finish)
    given = {key: request.body.get(key) for key in _ECHOED}
    return {
        "id": f"resp_{name}",
        "object": "response",
        "created_at": CREATED,
        "status": "incomplete" if cut else "completed",
        "error": None,
        "incomplete_details": {"reason": cut} if cut else None,
        **given,
        "text": given["text"] or {"format": {"type": "text"}},
        "tools": given["tools"] or [],
        "tool_choice": given["tool_choice"] or "auto",
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "model": request.model,
        "output": output,
        "usage": {
            "input_tokens": reply.tokens_in,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": reply.tokens_out,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": reply.tokens_in + reply.tokens_out,
        },
    }


def content(body: Mapping[str, Any]) -> Any:
    """Return its items, without their ids."""
    return [{k: v for k, v in item.items() if k not in _IDS} for item in body["output"]]


def is_text(body: Mapping[str, Any]) -> bool:
    """Return false, since the ids of a provider's items occur in later requests."""
    return False


def events(body: Mapping[str, Any], request: ModelRequest) -> Iterator[tuple[str, Any]]:
    """Yield created, in progress, each item in its parts, and completed."""
    number = count()

    def event(kind: str, **data: Any) -> tuple[str, Any]:
        return kind, {"type": kind, "sequence_number": next(number), **data}

    begun = {**body, "status": "in_progress", "output": [], "usage": None}
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    for index, item in enumerate(body["output"]):
        place = {"output_index": index}
        yield event("response.output_item.added", **place, item=_begun(item))
        for kind, data in _parts(item):
            yield event(kind, **place, item_id=item.get("id"), **data)
        yield event("response.output_item.done", **place, item=item)
    ended = body.get("status")
    kind = ended if ended in ("incomplete", "failed") else "completed"
    yield event(f"response.{kind}", response=body)


def _message(item: Mapping[str, Any]) -> Message:
    match item.get("type"):
        case "function_call" | "custom_tool_call":
            arguments = item.get("arguments", item.get("input"))
            return Message("assistant", format_tool_call(item.get("name"), arguments))
        case "function_call_output" | "custom_tool_call_output":
            return Message("user", text(item.get("output")))
        case "message" | None:
            return Message(role(item.get("role")), text(item.get("content")))
    return Message("assistant", "")  # reasoning, and tools that the provider runs


def _item(kind: str, ident: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "id": ident, "status": "completed", **more}


def _begun(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item before its parts."""
    emptied = {"content": [], "summary": [], "arguments": "", "input": ""}
    begun = {key: emptied.get(key, value) for key, value in item.items()}
    return begun | {"status": "in_progress"} if "status" in item else begun


def _parts(item: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    kind = item.get("type")
    if kind == "function_call":
        arguments = item.get("arguments", "")
        yield "response.function_call_arguments.delta", {"delta": arguments}
        done = {"name": item.get("name"), "arguments": arguments}
        yield "response.function_call_arguments.done", done
    for place, part in enumerate(item.get("content") or () if kind == "message" else ()):
        where, name = {"content_index": place}, str(part.get("type"))
        field = "refusal" if name == "refusal" else "text"
        empty = {**part, field: ""}
        yield "response.content_part.added", {**where, "part": empty}
        more: dict[str, Any] = {} if field == "refusal" else {"logprobs": []}
        text = part.get(field, "")
        yield f"response.{name}.delta", {**where, "delta": text, **more}
        yield f"response.{name}.done", {**where, field: text, **more}
        yield "response.content_part.done", {**where, "part": part}
    for place, part in enumerate(item.get("summary") or () if kind == "reasoning" else ()):
        where, text = {"summary_index": place}, part.get("text", "")
        yield "response.reasoning_summary_part.added", {**where, "part": {**part, "text": ""}}
        yield "response.reasoning_summary_text.delta", {**where, "delta": text}
        yield "response.reasoning_summary_text.done", {**where, "text": text}
        yield "response.reasoning_summary_part.done", {**where, "part": part}
