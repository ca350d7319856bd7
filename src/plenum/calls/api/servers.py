"""The servers of a provider: one, or several that a package spreads calls over."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from plenum.base.errors import UserError
from plenum.base.text import flatten
from plenum.calls.chat import Chat, Response
from plenum.design.executor_choice import EXECUTORS

_SAYS_REPLICA = ("x-litellm-model-id", "x-backend-server", "x-served-by")
"""Headers by which routers name the server behind them; the first is LiteLLM's."""
_LONGEST_NAME = 128
"""A name stands in every line of the call log."""


class Servers(Protocol):
    """The servers of a provider, which have the same models.

    Attributes
    ----------
    urls
        Their base URLs.
    """

    urls: tuple[str, ...]

    def choose(self, chat: Chat) -> str:
        """Return the name of the server that a call goes to; empty where there is one alone."""

    async def attempt(self, chat: Chat, ask: Callable[[str], Awaitable[Response]]) -> Response:
        """Ask the server that was chosen for a call; ``ask`` takes its base URL."""


class OneServer:
    """A provider with one URL, which is empty where LiteLLM knows it."""

    def __init__(self, url: str) -> None:
        self.urls: tuple[str, ...] = (url,)

    def choose(self, chat: Chat) -> str:
        """Return nothing, since there is no choice."""
        return ""

    async def attempt(self, chat: Chat, ask: Callable[[str], Awaitable[Response]]) -> Response:
        """Ask the server."""
        return await ask(self.urls[0])


def make_servers(urls: Sequence[str], say: Callable[[str], object]) -> Servers:
    """Make the servers of a provider; ``say`` prints a line for the user.

    Raises
    ------
    UserError
        There are several, and no package that spreads calls over them is installed.
    """
    if len(urls) == 1:
        return OneServer(urls[0])
    several = next((each.servers for each in EXECUTORS.values() if each.servers), None)
    if several is None:
        raise UserError(
            f"backend.api_base: {len(urls)} URLs; no package that spreads calls over several "
            "servers is installed"
        )
    spread: Servers = several(urls, say=say)
    return spread


def replica(headers: Mapping[str, str]) -> str:
    """Return the server that a router names as the one that answered, or an empty text.

    Parameters
    ----------
    headers
        Of an answer, with names that are looked up without regard to case.
    """
    for name in _SAYS_REPLICA:
        value = headers.get(name, "")
        # A header is the server's word: what would break a line of the log is no name.
        if value and len(value) <= _LONGEST_NAME and flatten(value) == value:
            return value
    return ""
