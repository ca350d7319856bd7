"""Parsing of a request's body as a chat."""

import json
from dataclasses import dataclass
from typing import Any

from plenum.base import seed_for
from plenum.models import Chat, Message

TEMPERATURE = 1.0
"""OpenAI's default."""
MAX_TOKENS = 400


class UnreadableRequest(ValueError):
    """Raised if a request can't be answered; the response is status 400 with this message."""


@dataclass(frozen=True)
class ParsedRequest:
    """A parsed request; ``key`` identifies its body."""

    key: str
    chat: Chat
    logprobs: bool


def read(raw: bytes, key: str) -> ParsedRequest:
    """Parse a body in the form of OpenAI's API.

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
    return ParsedRequest(key, _chat(body), body.get("logprobs") is True)


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
    seed = seed_for(
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
