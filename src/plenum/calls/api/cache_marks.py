"""Marks of the shared prefix of prompts, by which Anthropic's cache finds it."""

from typing import Any

from plenum.calls.api.model_table import find_entry
from plenum.calls.chat import Chat

_CHARACTERS_A_TOKEN = 4
"""Of English prose; the length of a prefix is estimated, since only the provider counts its
tokens."""
_SHORTEST = 1024
"""Tokens of the shortest prefix that models cache; LiteLLM lists models that need more."""


def mark_messages(chat: Chat) -> list[dict[str, Any]]:
    """Convert the messages of a call, and mark the end of their shared prefix.

    A prefix that is too short for the model's cache stays unmarked.
    """
    plain: list[dict[str, Any]] = [{"role": m.role, "content": m.content} for m in chat.messages]
    # Providers cache from the start on, so the last shared message's mark holds for all.
    last = max((n for n, message in enumerate(chat.messages) if message.shared), default=0)
    message = chat.messages[last]
    length = message.shared + sum(len(before.content) for before in chat.messages[:last])
    # A provider caches no prefix shorter than the model's minimum.
    if not message.shared or length < _CHARACTERS_A_TOKEN * _shortest(chat.model):
        return plain
    prefix, rest = message.content[: message.shared], message.content[message.shared :]
    parts: list[Any] = [{"type": "text", "text": text} for text in (prefix, rest) if text]
    parts[0]["cache_control"] = {"type": "ephemeral"}
    plain[last]["content"] = parts
    return plain


def _shortest(model: str) -> int:
    return int(find_entry(model).get("prompt_cache_min_tokens") or _SHORTEST)
