"""Interfaces to models: OpenAI's chat completions and responses, and Anthropic's messages.

Each interface parses a :class:`ModelRequest`, and has its own form of an answer and of an error.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from plenum.calls.chat import Response
from plenum_audit.programs.wire import chat, messages, responses
from plenum_audit.programs.wire.request import BadRequest, ModelRequest


class WireInterface(Protocol):
    """One interface to models."""

    def read(self, body: Mapping[str, Any]) -> ModelRequest:
        """Parse a request.

        Raises
        ------
        BadRequest
            It is malformed.
        """

    def answer(self, request: ModelRequest, response: Response, name: str) -> dict[str, Any]:
        """Return the body of an answer that no provider wrote; ``name`` becomes its id."""

    def content(self, body: Mapping[str, Any]) -> Any:
        """Return an answer's text and calls, without ids, times and counts, for comparisons."""

    def is_text(self, body: Mapping[str, Any]) -> bool:
        """Return whether an answer contains only its text."""

    def events(self, body: Mapping[str, Any], request: ModelRequest) -> Iterator[tuple[str, Any]]:
        """Yield the server-sent events of an answer: their names, maybe empty, and data."""

    def error(self, status: int, message: str) -> dict[str, Any]:
        """Return the body of an error."""


INTERFACES: Mapping[str, WireInterface] = {
    "chat": chat,
    "responses": responses,
    "messages": messages,
}
"""Interfaces by name, as in :attr:`plenum.calls.raw_requests.RawRequest.interface`."""

__all__ = ["INTERFACES", "BadRequest", "ModelRequest", "WireInterface"]
