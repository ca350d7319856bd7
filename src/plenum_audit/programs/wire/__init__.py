"""The interfaces that programs speak to models: OpenAI's chat completions and responses, and
Anthropic's messages. Each is read into a :class:`Request`, and each has its own words for an answer
and for an error."""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from plenum.models import Response
from plenum_audit.programs.wire import chat, messages, responses
from plenum_audit.programs.wire.request import BadRequest, Request


class Interface(Protocol):
    """How one interface is spoken."""

    def read(self, body: Mapping[str, Any]) -> Request:
        """Read a request.

        Raises
        ------
        BadRequest
            It is none.
        """

    def answer(self, request: Request, response: Response, name: str) -> dict[str, Any]:
        """The body of an answer that no provider worded; ``name`` becomes its id."""

    def content(self, body: Mapping[str, Any]) -> Any:
        """What an answer says and calls, without ids, times and counts, to compare answers."""

    def is_text(self, body: Mapping[str, Any]) -> bool:
        """Whether an answer holds nothing but its text."""

    def events(self, body: Mapping[str, Any], request: Request) -> Iterator[tuple[str, Any]]:
        """The server-sent events of an answer: each one's name, empty for none, and its data."""

    def error(self, status: int, message: str) -> dict[str, Any]:
        """The body of an error."""


INTERFACES: Mapping[str, Interface] = {
    "chat": chat,
    "responses": responses,
    "messages": messages,
}
"""By name, as :attr:`plenum.models.RawRequest.interface` has it."""

__all__ = ["INTERFACES", "BadRequest", "Interface", "Request"]
