"""Several servers of the same models: which one answers a session, and which ones are down.

A session goes to the server that rendezvous hashing puts first for it (Thaler and Ravishankar,
*IEEE/ACM Trans. Netw.* 6, 1998), so that a server that goes or comes moves its own sessions alone.
"""

import hashlib
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from plenum.base.text import flatten
from plenum.models.chat import CallError, Chat, Response
from plenum.records import Failure

_MOST_FAILURES = 3
"""So many in a row, from any sessions, and a server counts as down; one refused connection does."""
_GATEWAY = (502, 503, 504)
_DOWN_S, _LONGEST_DOWN_S = 2.0, 60.0
"""How long a server that is down gets no call at first, and at most; then one call tries it."""
_SAYS_REPLICA = ("x-litellm-model-id", "x-backend-server", "x-served-by")
_LONGEST_NAME = 128


@dataclass(slots=True)
class _Health:
    failures: int = 0
    wait_s: float = _DOWN_S
    until: float = 0.0

    def takes(self, now: float) -> bool:
        """Whether a call may go there; of a server that is down, one after each wait."""
        if self.failures < _MOST_FAILURES:
            return True
        if now < self.until:
            return False
        self.until = now + self.wait_s
        return True

    def failed(self, now: float, refused: bool) -> None:
        self.failures = max(self.failures + 1, _MOST_FAILURES * refused)
        if self.failures >= _MOST_FAILURES:
            self.until = now + self.wait_s
            self.wait_s = min(2 * self.wait_s, _LONGEST_DOWN_S)

    def answered(self) -> None:
        self.failures, self.wait_s = 0, _DOWN_S


class Fleet:
    """The servers of a provider.

    Parameters
    ----------
    urls
        Base URLs; a single one is no fleet, and may be empty, where LiteLLM knows it.
    clock
        Seconds.
    """

    def __init__(self, urls: Sequence[str], clock: Callable[[], float] = time.monotonic) -> None:
        self.urls = tuple(urls)
        self._by_name = {name_of(url): url for url in urls} if len(urls) > 1 else {}
        self._health = {name: _Health() for name in self._by_name}
        self._clock = clock

    def choose(self, chat: Chat, tried: Collection[str] = ()) -> str:
        """The first server of a call's session that is up, by name.

        Where all are down it is the first; where all were ``tried``, or there is no fleet, it is
        empty.
        """
        session = chat.session or f"{chat.seed:016x}"
        left = [name for name in self._by_name if name not in tried]
        left.sort(key=lambda name: hashlib.blake2b(f"{name} {session}".encode()).digest())
        now = self._clock()
        up = (name for name in left if self._health[name].takes(now))
        return next(up, left[0] if left else "")

    async def attempt(self, chat: Chat, ask: Callable[[str], Awaitable[Response]]) -> Response:
        """Ask one server, and the next one where nobody is there: nothing was sent then.

        Parameters
        ----------
        ask
            Makes an attempt at the server with a base URL.

        Raises
        ------
        CallError
            The attempt failed, or no server can be reached.
        """
        if not self._by_name:
            return await ask(self.urls[0])
        tried: list[str] = []
        server = chat.server or self.choose(chat)
        while True:
            try:
                response = await ask(self._by_name[server])
            except CallError as error:
                error.server = server
                self._note(server, error)
                tried.append(server)
                if error.reached or not (server := self.choose(chat, tried)):
                    raise
            else:
                self._health[server].answered()
                return response if response.server else replace(response, server=server)

    def _note(self, server: str, error: CallError) -> None:
        broken = error.failure == Failure.SERVER and error.status is None
        if broken or error.status in _GATEWAY:
            self._health[server].failed(self._clock(), refused=not error.reached)
        elif error.status is not None:
            self._health[server].answered()


def name_of(url: str) -> str:
    """A server's name: host and port, with a path that isn't every server's."""
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path}".rstrip("/").removesuffix("/v1")


def replica(headers: Mapping[str, str]) -> str:
    """Which server a router in front says has answered; empty where none does.

    Parameters
    ----------
    headers
        Of an answer, with names that are looked up without regard to case.
    """
    for name in _SAYS_REPLICA:
        value = headers.get(name, "")
        if value and len(value) <= _LONGEST_NAME and flatten(value) == value:
            return value
    return ""
