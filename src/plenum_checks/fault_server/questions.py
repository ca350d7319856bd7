"""Parsing of a request's body as a chat."""

import json
from dataclasses import dataclass, replace
from typing import Any

from plenum.base import derive_seed
from plenum.models import AnswerSchema, Chat, Message

TEMPERATURE = 1.0
"""OpenAI's default."""
MAX_TOKENS = 400


class UnreadableRequest(ValueError):
    """Raised if a request can't be answered; the response is status 400 with this message."""


@dataclass(frozen=True)
class ParsedRequest:
    """A parsed request.

    Attributes
    ----------
    key
        Identifies its body.
    tool
        The name of the tool that the answer has to call; empty if it isn't a tool's.
    native
        True if it came, and is answered, in Ollama's own interface.
    """

    key: str
    chat: Chat
    logprobs: bool
    tool: str = ""
    native: bool = False


def read(raw: bytes, key: str, schemas: str = "honoured", native: bool = False) -> ParsedRequest:
    """Parse a body in the form of OpenAI's API, or of Ollama's own.

    Parameters
    ----------
    schemas
        What becomes of a schema for the answer: ``honoured``, ``ignored`` or ``refused``.

    Raises
    ------
    Unreadable
        It isn't a JSON object, lacks a field, or asks for something unsupported.
    """
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise UnreadableRequest("the body is no JSON") from None
    if not isinstance(body, dict):
        raise UnreadableRequest("the body is no JSON object")
    if body.get("stream"):
        raise UnreadableRequest("stream: this server sends whole answers only")
    if body.get("n") not in (None, 1):
        raise UnreadableRequest("n: this server gives one choice")
    form, name, schema = _schema(body)
    if schema is not None and schemas == "refused":
        raise UnreadableRequest(f"{form}: this server takes no schema for its answers")
    answer = AnswerSchema(name, schema) if schema is not None and schemas == "honoured" else None
    tool = name if answer is not None and form == "tools" else ""
    flat = {**body, **_options(body)} if native else body
    chat = replace(_chat(flat), answer=answer)
    return ParsedRequest(key, chat, body.get("logprobs") is True, tool, native)


def _schema(body: dict[str, Any]) -> tuple[str, str, dict[str, Any] | None]:
    """Find the schema of the answer in any of the forms in which servers take it.

    Returns
    -------
    form, name, schema
        The field that it was in; the name of the schema or of the tool; ``None`` without the
        schema of an object.
    """
    stated = {
        "response_format": _in_response_format(body.get("response_format")),
        "structured_outputs": ("answer", _get(body, "structured_outputs", "json")),
        "guided_json": ("answer", body.get("guided_json")),
        "format": ("answer", body.get("format")),
        "output_format": ("answer", _get(body, "output_format", "schema")),
        "output_config": ("answer", _get(body, "output_config", "format", "schema")),
        "tools": _in_tools(body),
    }
    for form, (name, schema) in stated.items():
        if isinstance(schema, dict) and schema.get("type") == "object":
            return form, str(name), schema
    return "", "", None


def _in_response_format(stated: Any) -> tuple[Any, Any]:
    kind = _get(stated, "type")
    if kind == "json_schema":
        return _get(stated, "json_schema", "name"), _get(stated, "json_schema", "schema")
    return "answer", _get(stated, "schema") if kind == "json_object" else None


def _in_tools(body: dict[str, Any]) -> tuple[Any, Any]:
    """Find the schema of the one tool that has to be called, as Anthropic's interface has it."""
    name = _get(body, "tool_choice", "name")
    tools = body.get("tools")
    fits = [t for t in tools if _get(t, "name") == name] if isinstance(tools, list) else []
    return name, _get(fits[0], "input_schema") if name is not None and fits else None


def _get(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _options(body: dict[str, Any]) -> dict[str, Any]:
    """Rename what Ollama's own interface calls otherwise."""
    options = body.get("options")
    given = options if isinstance(options, dict) else {}
    return {"max_tokens": given.get("num_predict"), **given}


def _chat(body: dict[str, Any]) -> Chat:
    model, raw_messages = body.get("model"), body.get("messages")
    if not isinstance(model, str) or not model:
        raise UnreadableRequest("model: a model's name is required")
    if not isinstance(raw_messages, list) or not raw_messages:
        raise UnreadableRequest("messages: a list of messages is required")
    messages = tuple(_message(item) for item in raw_messages)
    temperature = _number(body, "temperature", TEMPERATURE)
    most = int(_number(body, "max_tokens", _number(body, "max_completion_tokens", MAX_TOKENS)))
    parts = [part for message in messages for part in (message.role, message.content)]
    seed = derive_seed(
        "fault server", model, *parts, str(float(temperature)), most, str(body.get("seed"))
    )
    return Chat(model, messages, temperature, most, seed)


def _message(item: Any) -> Message:
    if isinstance(item, dict) and isinstance(item.get("role"), str):
        content = item.get("content")
        if isinstance(content, list):
            content = "".join(str(part.get("text")) for part in content if isinstance(part, dict))
        if isinstance(content, str):
            return Message(item["role"], content)
    raise UnreadableRequest("messages: each one needs a role and a content of text")


def _number(body: dict[str, Any], key: str, default: float) -> float:
    value = body.get(key)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        raise UnreadableRequest(f"{key}: a number, 0 or more, is required")
    return value
