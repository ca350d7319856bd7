"""Requests that a program under audit wrote, and the calls of tools that answer some of them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class RawRequest:
    """A request as its author wrote it, which a provider gets untouched.

    Attributes
    ----------
    interface
        ``chat``, ``responses`` (both OpenAI's) or ``messages`` (Anthropic's).
    body
        Everything but the model's name, which is the call's, and never streamed.
    headers
        Those that change what the provider does, such as ``anthropic-beta``.
    """

    interface: str
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def cached_for_an_hour(self) -> bool:
        """True if parts of it are to stay in the provider's cache for an hour."""
        # In its text, since a mark may stand in any message, tool or system prompt.
        return self.interface == "messages" and '"ttl": "1h"' in json.dumps(self.body)


@dataclass(frozen=True)
class ToolCall:
    """A model's call of a tool; the arguments are JSON."""

    name: str
    arguments: str
