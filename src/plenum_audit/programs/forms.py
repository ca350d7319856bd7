"""The requested form of an answer: a tool's call, a JSON schema, or any text."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plenum.calls.raw_requests import RawRequest

Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Tool:
    """A tool that may be called, with the JSON schema of its arguments."""

    name: str
    schema: Schema


@dataclass(frozen=True)
class RequestedForm:
    """The requested form of an answer.

    Attributes
    ----------
    tool
        The tool to call; ``None`` for a text.
    schema
        The schema of the text; ``None`` if it has none.
    json
        True if the text must be any JSON object.
    """

    tool: Tool | None = None
    schema: Schema | None = None
    json: bool = False


def form(request: RawRequest) -> RequestedForm:
    """Return the form that a request of any interface asks for.

    A tool is called if the request requires one, or if its texts name the tool and it hasn't been
    called yet.
    """
    body = request.body
    tools = list(_tools(body))
    chosen = _choose(body, tools)
    if chosen is not None:
        return RequestedForm(chosen)
    stated = _first(body, ("response_format", "output_format"))
    for holder in ("text", "output_config"):
        inner = body.get(holder)
        stated = stated or (_mapping(inner.get("format")) if isinstance(inner, Mapping) else {})
    described = _mapping(stated.get("json_schema")) or stated
    if stated.get("type") == "json_schema":
        return RequestedForm(schema=_mapping(described.get("schema")))
    return RequestedForm(json=stated.get("type") == "json_object")


def _tools(body: Mapping[str, Any]) -> Iterator[Tool]:
    for tool in body.get("tools") or ():
        function = _mapping(_mapping(tool).get("function")) or _mapping(tool)
        if isinstance(function.get("name"), str):
            schema = _first(function, ("parameters", "input_schema"))
            yield Tool(function["name"], schema)


def _choose(body: Mapping[str, Any], tools: list[Tool]) -> Tool | None:
    choice = body.get("tool_choice")
    if choice == "none" or not tools:
        return None
    if isinstance(choice, Mapping):
        named = _mapping(choice.get("function")).get("name") or choice.get("name")
        if choice.get("type") == "none":
            return None
        if named or choice.get("type") == "any":
            return next((tool for tool in tools if tool.name == named), tools[0])
    if choice == "required":
        return tools[0]
    words = json.dumps({k: body.get(k) for k in ("messages", "input", "instructions", "system")})
    return next((t for t in tools if t.name in words and not _is_called(words, t.name)), None)


def _is_called(words: str, name: str) -> bool:
    return f'"name": {json.dumps(name)}' in words


def _first(holder: Mapping[str, Any], names: tuple[str, ...]) -> Mapping[str, Any]:
    return next((_mapping(holder[name]) for name in names if _mapping(holder.get(name))), {})


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
