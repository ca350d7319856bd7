"""Parsing of a request's body as a chat."""

import json
from dataclasses import dataclass, replace
from typing import Any

from plenum.base.identity import derive_seed
from plenum.calls.chat import AnswerSchema, Chat, Message


class UnreadableRequest(ValueError):
    """Raised if a request can't be answered; the response is status 400 with this message."""


@dataclass(frozen=True)
class ParsedRequest:
    """A parsed request.

    ``key`` identifies its body. ``tool`` is the name of the tool that the answer has to call, empty
    if it is none. A ``native`` one is in Ollama's own interface.
    """

    key: str
    chat: Chat
    logprobs: bool
    tool: str = ""
    native: bool = False


def read_request(
    raw: bytes, key: str, schemas: str = "honoured", native: bool = False
) -> ParsedRequest:
    """Parse a body in the form of OpenAI's API, or of Ollama's own; ``schemas`` as in settings."""
    body = json.loads(raw)
    form, name, schema = _find_schema(body)
    if schema is not None and schemas == "refused":
        raise UnreadableRequest(f"{form}: this server takes no schema for its answers")
    answer = AnswerSchema(name, schema) if schema is not None and schemas == "honoured" else None
    tool = name if answer is not None and form == "tools" else ""
    options = body.get("options") or {}  # Ollama's own interface calls the limit otherwise
    flat = {**body, "max_tokens": options.get("num_predict"), **options} if native else body
    chat = replace(_read_chat(flat), answer=answer)
    return ParsedRequest(key, chat, body.get("logprobs") is True, tool, native)


def _find_schema(body: dict[str, Any]) -> tuple[str, str, dict[str, Any] | None]:
    """Find the schema of the answer in any of the forms in which servers take it.

    Returns
    -------
    form, name, schema
        The field that it was in; the name of the schema or of the tool; ``None`` without the
        schema of an object.
    """
    stated = {
        "response_format": _read_response_format(body.get("response_format")),
        "structured_outputs": ("answer", _get(body, "structured_outputs", "json")),
        "format": ("answer", body.get("format")),
        "output_format": ("answer", _get(body, "output_format", "schema")),
        "output_config": ("answer", _get(body, "output_config", "format", "schema")),
        "tools": _read_tools(body),
    }
    for form, (name, schema) in stated.items():
        if isinstance(schema, dict) and schema.get("type") == "object":
            return form, str(name), schema
    return "", "", None


def _read_response_format(stated: Any) -> tuple[Any, Any]:
    kind = _get(stated, "type")
    if kind == "json_schema":
        return _get(stated, "json_schema", "name"), _get(stated, "json_schema", "schema")
    return "answer", _get(stated, "schema") if kind == "json_object" else None


def _read_tools(body: dict[str, Any]) -> tuple[Any, Any]:
    """Find the schema of the one tool that has to be called, as Anthropic's interface has it."""
    name = _get(body, "tool_choice", "name")
    fits = [tool for tool in body.get("tools") or () if _get(tool, "name") == name]
    return name, _get(fits[0], "input_schema") if name is not None and fits else None


def _get(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _read_chat(body: dict[str, Any]) -> Chat:
    given = body["messages"]
    messages = tuple(Message(each["role"], _read_text(each["content"])) for each in given)
    temperature = float(body.get("temperature", 1.0))  # OpenAI's default
    most = int(body.get("max_tokens") or body.get("max_completion_tokens") or 400)
    parts = [part for message in messages for part in (message.role, message.content)]
    seed = derive_seed(
        "fault server", body["model"], *parts, str(temperature), most, str(body.get("seed"))
    )
    return Chat(body["model"], messages, temperature, most, seed)


def _read_text(content: Any) -> str:
    """Return a message's text, whole or in blocks."""
    if isinstance(content, list):
        return "".join(str(part.get("text")) for part in content)
    return str(content)
