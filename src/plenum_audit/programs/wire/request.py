"""Requests of any interface in a common form, and validation of their fields."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from plenum.base.identity import digest
from plenum.calls.chat import Message

_NOT_ASKED = (
    "stream", "stream_options", "seed", "user", "metadata", "store", "safety_identifier",
    "prompt_cache_key", "prompt_cache_retention", "service_tier",
)  # fmt: skip
"""Fields that don't affect the answer, such as its transport, its owner, and the seed."""
_IDS = ("id", "call_id", "tool_call_id", "tool_use_id")
_PREVIOUS = "previous_response_id"
_IMAGE = "[image]"
ENDED = {"length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
"""Anthropic's reasons for the end of an answer, by OpenAI's."""
_TYPES: Mapping[str, Any] = {
    "tools": list,
    "tool_choice": str | Mapping,
    **dict.fromkeys(
        ("response_format", "output_format", "output_config", "stream_options"), Mapping
    ),
}
"""Types of the fields on the form of an answer."""


class BadRequest(ValueError):
    """Raised for a request that can't be parsed; the message says why."""


@dataclass(frozen=True)
class ModelRequest:
    """A request to a model.

    Attributes
    ----------
    interface
        Its name in :data:`plenum_audit.programs.wire.INTERFACES`.
    model
        The model's name in the program.
    messages
        Texts of the conversation, the system prompt first.
    system
        The system prompt; may be empty.
    temperature, max_tokens, seed
        Values as sent; ``None`` if missing.
    stream
        True if the answer must be sent as server-sent events.
    body
        The request as the program sent it.
    kept
        The preceding conversation, if the program leaves it to the provider.
    """

    interface: str
    model: str
    messages: tuple[Message, ...]
    system: str
    temperature: float | None
    max_tokens: int | None
    seed: int | None
    stream: bool
    body: Mapping[str, Any]
    kept: tuple[Message, ...] = ()

    @cached_property
    def digest(self) -> str:
        """Digest of the prompt, equal for equal requests whatever the ids of tool calls.

        Fields that don't affect the answer are left out, and so is the seed, which only names the
        draw.
        """
        request = {key: value for key, value in self.body.items() if key not in _NOT_ASKED}
        if self.kept:  # not by an id, which is another in each run
            request[_PREVIOUS] = [[message.role, message.content] for message in self.kept]
        return digest(_number_ids(request, {}))

    @property
    def previous(self) -> str:
        """Id of the answer that it continues; empty if it contains its conversation."""
        return optional(self.body, _PREVIOUS, str) or ""

    def after(self, kept: Sequence[Message]) -> "ModelRequest":
        """Return the request as the next one of a conversation that the provider keeps."""
        first = len([message for message in self.messages if message.role == "system"])
        messages = (*self.messages[:first], *kept, *self.messages[first:])
        return replace(self, messages=messages, kept=tuple(kept))

    @property
    def question(self) -> str:
        """The last message that isn't the model's."""
        questions = (m.content for m in reversed(self.messages) if m.role == "user")
        return next(questions, "")


def request(interface: str, body: Mapping[str, Any], messages: list[Message]) -> ModelRequest:
    """Return a request with these messages and the common fields of all interfaces."""
    for name, kind in _TYPES.items():
        optional(body, name, kind)
    for tool in body.get("tools") or ():
        if not isinstance(tool, Mapping):
            raise BadRequest(f"a tool is {type(tool).__name__}")
    system = "\n\n".join(m.content for m in messages if m.role == "system")
    ordered = [message for message in messages if message.role != "system"]
    if system:
        ordered.insert(0, Message("system", system))
    lengths = ("max_tokens", "max_completion_tokens", "max_output_tokens")
    return ModelRequest(
        interface=interface,
        model=require(body, "model", str),
        messages=tuple(ordered),
        system=system,
        temperature=optional(body, "temperature", int | float),
        max_tokens=next((n for k in lengths if (n := optional(body, k, int))), None),
        seed=optional(body, "seed", int),
        stream=bool(optional(body, "stream", bool)),
        body=body,
    )


def require(body: Mapping[str, Any], name: str, kind: Any) -> Any:
    """Return a required field.

    Raises
    ------
    BadRequest
        It is missing, or has another type.
    """
    value = optional(body, name, kind)
    if value in (None, ""):
        raise BadRequest(f"{name} is missing")
    return value


def optional(body: Mapping[str, Any], name: str, kind: Any) -> Any:
    """Return a field, or ``None``; raises :class:`BadRequest` if it has another type."""
    value = body.get(name)
    wrong = isinstance(value, bool) and kind is not bool
    if value is not None and (wrong or not isinstance(value, kind)):
        raise BadRequest(f"{name} is {type(value).__name__}")
    return value


def role(name: Any) -> str:
    """Return ``system``, ``user`` or ``assistant``; tools' results count as the user's."""
    return {"developer": "system"}.get(name, name if name in ("system", "assistant") else "user")


def text(content: Any) -> str:
    """Return the text of a message's content: a string, or parts of it."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, Sequence):
        return "\n".join(filter(None, map(_part, content)))
    raise BadRequest(f"a message's content is {type(content).__name__}")


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        raise BadRequest(f"a part of a message's content is {type(part).__name__}")
    for name in ("text", "refusal", "thinking"):
        if isinstance(part.get(name), str):
            return str(part[name])
    if "content" in part:  # what a tool returned
        return text(part["content"])
    if "input" in part and "name" in part:  # what a tool was called with
        return format_tool_call(part["name"], part["input"])
    return _IMAGE if "image" in str(part.get("type")) else ""


def format_tool_call(name: Any, arguments: Any) -> str:
    """Format the call of a tool as text."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return f"[calls {name}: {written}]"


def _number_ids(value: Any, names: dict[str, int]) -> Any:
    """Replace a server's ids by numbers, in the order of their first use."""
    if isinstance(value, Mapping):
        return {
            key: names.setdefault(item, len(names))
            if key in _IDS and isinstance(item, str)
            else _number_ids(item, names)
            for key, item in value.items()
        }
    return [_number_ids(item, names) for item in value] if isinstance(value, list) else value
