"""The interfaces of providers, and conversions of their answers to chat completions.

A program under audit speaks any of them; :mod:`plenum.calls.api.completions` checks them all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from plenum.calls.api.completions import UnfitReply

# Reasons of Anthropic, and of OpenAI's responses, under the names that chat completions have for
# them; all others are an answer that came whole.
_STOPS = {"max_tokens": "length", "tool_use": "tool_calls", "refusal": "refusal"}
_CUTS = {"max_output_tokens": "length", "content_filter": "content_filter"}


@dataclass(frozen=True)
class ProviderInterface:
    """One interface of a provider.

    Attributes
    ----------
    path
        Below the base URL.
    as_completion
        From an answer's body to what of a chat completion a call needs; raises
        :class:`~plenum.calls.api.completions.UnfitReply`, or an error of a field's type.
    """

    path: str
    as_completion: Callable[[Any], Any]


def _of_response(data: Any) -> Any:
    if not isinstance(data, dict) or not isinstance(data.get("output"), list):
        raise UnfitReply("output is no list")
    parts = [
        part
        for item in data["output"]
        if isinstance(item, dict) and isinstance(item.get("content"), list)
        for part in item["content"]
        if isinstance(part, dict)
    ]
    cut = data.get("incomplete_details")
    reason = cut.get("reason") if isinstance(cut, dict) else None
    calls = any(isinstance(i, dict) and i.get("type") == "function_call" for i in data["output"])
    # A cut says more than a call of a tool that stands before it.
    finish = _CUTS.get(str(reason)) or ("tool_calls" if calls else "stop")
    used = _counts(data, "input_tokens_details")
    message = {"content": _join(parts, "text"), "refusal": _join(parts, "refusal")}
    return _completion(data, message, finish, used)


def _of_message(data: Any) -> Any:
    if not isinstance(data, dict) or not isinstance(data.get("content"), list):
        raise UnfitReply("content is no list")
    blocks = [block for block in data["content"] if isinstance(block, dict)]
    used = _counts(data, "")
    usage = data.get("usage")
    details: dict[str, Any] = {}
    used["prompt_tokens_details"] = details
    kept = usage.get("cache_creation") if isinstance(usage, dict) else None
    if isinstance(kept, dict) and kept.get("ephemeral_1h_input_tokens"):
        details["cache_creation_1h_tokens"] = kept["ephemeral_1h_input_tokens"]
    for name in ("cache_read_input_tokens", "cache_creation_input_tokens"):
        more = usage.get(name) if isinstance(usage, dict) else None
        # Anthropic's input tokens leave out those that were read from the cache or written there.
        if type(more) is int and type(used["prompt_tokens"]) is int:
            used["prompt_tokens"] += more
            details["cached_tokens" if "read" in name else "cache_creation_tokens"] = more
    finish = _STOPS.get(str(data.get("stop_reason")), "stop")
    thoughts = (block.get("thinking") for block in blocks)
    reasoning = "\n".join(thought for thought in thoughts if isinstance(thought, str))
    message = {"content": _join(blocks, "text"), "reasoning": reasoning}
    return _completion(data, message, finish, used)


def _counts(data: Mapping[str, Any], details: str) -> dict[str, Any]:
    usage = data.get("usage")
    if not isinstance(usage, dict):
        raise UnfitReply("usage is no object")
    counts = {"prompt_tokens": usage.get("input_tokens")}
    counts["completion_tokens"] = usage.get("output_tokens")
    return {**counts, "prompt_tokens_details": usage.get(details)}


def _join(parts: list[dict[str, Any]], name: str) -> str:
    texts = [part[name] for part in parts if part.get(name) and part.get("type") != "thinking"]
    if not all(isinstance(text, str) for text in texts):
        raise UnfitReply(f"{name} is no text")
    return "\n".join(texts)


def _completion(
    data: Mapping[str, Any], message: dict[str, str], finish: str, usage: dict[str, Any]
) -> dict[str, Any]:
    who = {name: data.get(name) for name in ("model", "system_fingerprint")}
    return {"choices": [{"message": message, "finish_reason": finish}], "usage": usage, **who}


CHAT = ProviderInterface("chat/completions", lambda data: data)
INTERFACES: Mapping[str, ProviderInterface] = {
    "chat": CHAT,
    "responses": ProviderInterface("responses", _of_response),
    "messages": ProviderInterface("messages", _of_message),
}
"""The interfaces by name, as in :attr:`plenum.calls.raw_requests.RawRequest.interface`."""
