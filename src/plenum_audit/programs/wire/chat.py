"""OpenAI's chat completions."""

from collections.abc import Iterator, Mapping
from typing import Any

from plenum.calls.chat import Message, Response
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

CREATED = 0
"""Constant time of answers, since replays of a run must give the same answers."""
_TYPES = {401: "authentication_error", 429: "requests"}


def read(body: Mapping[str, Any]) -> ModelRequest:
    """Parse a request."""
    messages = []
    for message in require(body, "messages", list):
        if not isinstance(message, Mapping):
            raise BadRequest(f"a message is {type(message).__name__}")
        content = [text(message.get("content"))]
        for call in optional(message, "tool_calls", list) or ():
            function = call.get("function") if isinstance(call, Mapping) else None
            if isinstance(function, Mapping):
                content.append(format_tool_call(function.get("name"), function.get("arguments")))
        messages.append(Message(role(message.get("role")), "\n".join(filter(None, content))))
    return request("chat", body, messages)


def answer(request: ModelRequest, response: Response, name: str) -> dict[str, Any]:
    """Return a completion."""
    reply = response.reply
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": None}
    if response.tools:
        message["content"] = reply.text or None
        message["tool_calls"] = [
            {
                "id": f"call_{name}_{n}",
                "type": "function",
                "function": {"name": tool.name, "arguments": tool.arguments},
            }
            for n, tool in enumerate(response.tools)
        ]
    finish = "stop" if reply.finish == "refusal" else reply.finish
    return {
        "id": f"chatcmpl-{name}",
        "object": "chat.completion",
        "created": CREATED,
        "model": request.model,
        "system_fingerprint": response.fingerprint,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": reply.tokens_in,
            "completion_tokens": reply.tokens_out,
            "total_tokens": reply.tokens_in + reply.tokens_out,
        },
    }


def content(body: Mapping[str, Any]) -> Any:
    """Return the texts and calls of all choices."""
    return [
        [message.get("content") or "", message.get("refusal") or "", _calls(message)]
        for message in (choice.get("message") or {} for choice in body["choices"])
    ]


def is_text(body: Mapping[str, Any]) -> bool:
    """Return whether it has exactly one choice, with a text alone."""
    choice, *more = body["choices"]
    plain = ("role", "content")
    return not (
        more
        or choice.get("logprobs")
        or any(value for key, value in (choice.get("message") or {}).items() if key not in plain)
    )


def events(body: Mapping[str, Any], request: ModelRequest) -> Iterator[tuple[str, Any]]:
    """Yield the chunks: of each choice its role, text, calls and end, then the usage."""
    options = request.body.get("stream_options")
    counted = isinstance(options, Mapping) and bool(options.get("include_usage"))
    shared = {k: v for k, v in body.items() if k not in ("choices", "usage", "object")}
    shared["object"] = "chat.completion.chunk"

    def chunk(choices: list[dict[str, Any]], usage: Any = None) -> tuple[str, Any]:
        whole = {**shared, "choices": choices}
        return "", whole | {"usage": usage} if counted else whole

    for choice in body["choices"]:
        for delta in _deltas(choice.get("message") or {}):
            part = {"index": choice.get("index", 0), "delta": delta, "finish_reason": None}
            yield chunk(
                [{**part, "logprobs": choice.get("logprobs") if delta.get("content") else None}]
            )
        yield chunk(
            [
                {
                    "index": choice.get("index", 0),
                    "delta": {},
                    "finish_reason": choice.get("finish_reason"),
                }
            ]
        )
    if counted:
        yield chunk([], body.get("usage"))
    yield "", "[DONE]"


def error(status: int, message: str) -> dict[str, Any]:
    """Return an error in OpenAI's form."""
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def _deltas(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for key, value in message.items():
        if value and key not in ("role", "tool_calls"):
            yield {key: value}
    for n, call in enumerate(message.get("tool_calls") or ()):
        function = call.get("function") or {}
        yield {"tool_calls": [{**call, "index": n, "function": {**function, "arguments": ""}}]}
        arguments = {"arguments": function.get("arguments", "")}
        yield {"tool_calls": [{"index": n, "function": arguments}]}


def _calls(message: Mapping[str, Any]) -> list[Any]:
    return [call.get("function") or call.get("custom") for call in message.get("tool_calls") or ()]
