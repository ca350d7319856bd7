"""Anthropic's messages."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from plenum.calls.chat import Message, Response
from plenum_audit.programs.wire.request import (
    ENDED,
    BadRequest,
    ModelRequest,
    request,
    require,
    role,
    text,
)

_TYPES = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
    404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error",
    529: "overloaded_error",
}  # fmt: skip


def read(body: Mapping[str, Any]) -> ModelRequest:
    """Parse a request."""
    system = text(body.get("system"))
    messages = [Message("system", system)] if system else []
    for message in require(body, "messages", list):
        if not isinstance(message, Mapping):
            raise BadRequest(f"a message is {type(message).__name__}")
        messages.append(Message(role(message.get("role")), text(message.get("content"))))
    return request("messages", body, messages)


def answer(request: ModelRequest, response: Response, name: str) -> dict[str, Any]:
    """Return a message."""
    reply = response.reply
    blocks: list[dict[str, Any]] = []
    if reply.text or not response.tools:
        blocks.append({"type": "text", "text": reply.text})
    for n, tool in enumerate(response.tools):
        given = json.loads(tool.arguments)
        blocks.append(
            {"type": "tool_use", "id": f"toolu_{name}_{n}", "name": tool.name, "input": given}
        )
    return {
        "id": f"msg_{name}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": blocks,
        "stop_reason": ENDED.get(reply.finish, "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": reply.tokens_in, "output_tokens": reply.tokens_out},
    }


def content(body: Mapping[str, Any]) -> Any:
    """Return its blocks, without their ids."""
    return [{k: v for k, v in block.items() if k != "id"} for block in body["content"]]


def is_text(body: Mapping[str, Any]) -> bool:
    """Return whether it has exactly one block, of plain text."""
    blocks = body["content"]
    return len(blocks) == 1 and blocks[0].get("type") == "text" and not blocks[0].get("citations")


def events(body: Mapping[str, Any], request: ModelRequest) -> Iterator[tuple[str, Any]]:
    """Yield start, each block in its parts, the reason of the end, and stop."""

    def event(kind: str, **data: Any) -> tuple[str, Any]:
        return kind, {"type": kind, **data}

    usage = body.get("usage") or {}
    begun = {**body, "content": [], "stop_reason": None, "stop_sequence": None}
    yield event("message_start", message={**begun, "usage": {**usage, "output_tokens": 1}})
    for index, block in enumerate(body["content"]):
        empty, deltas = _parts(block)
        yield event("content_block_start", index=index, content_block=empty)
        for delta in deltas:
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    ended = {key: body.get(key) for key in ("stop_reason", "stop_sequence")}
    yield event(
        "message_delta", delta=ended, usage={"output_tokens": usage.get("output_tokens", 0)}
    )
    yield event("message_stop")


def error(status: int, message: str) -> dict[str, Any]:
    """Return an error in Anthropic's form."""
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


def _parts(block: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a block before its parts, and the parts."""
    match block.get("type"):
        case "text":
            deltas = [{"type": "text_delta", "text": block["text"]}]
            deltas += [
                {"type": "citations_delta", "citation": citation}
                for citation in block.get("citations") or ()
            ]
            return {**block, "text": ""}, deltas
        case "thinking":
            signature = {"type": "signature_delta", "signature": block.get("signature", "")}
            thought = {"type": "thinking_delta", "thinking": block.get("thinking", "")}
            return {**block, "thinking": "", "signature": ""}, [thought, signature]
        case "tool_use" | "server_tool_use":
            given = json.dumps(block.get("input", {}))
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": given}]
    return dict(block), []
