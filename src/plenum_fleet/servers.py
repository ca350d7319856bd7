"""Several servers of the same models: which one answers a session, and which ones are down.

A session goes to the server that rendezvous hashing puts first for it (Thaler and Ravishankar,
*IEEE/ACM Trans. Netw.* 6, 1998), so that a server that goes or comes moves its own sessions alone.
"""

import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from plenum.base.terminal import say as say_on_terminal
from plenum.base.text import flatten
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Chat, Response
from plenum.records.failures import Failure

_MOST_FAILURES = 3
"""So many in a row, from any sessions, and a server counts as down; one refused connection does."""
_GATEWAY = (502, 503, 504)
_DOWN_S, _LONGEST_DOWN_S = 2.0, 60.0
"""Seconds without a call to a server that is down, at first and at most; then one call tries it."""
_LONGEST_WHY = 120
_MOST_SAID = 20
"""So many lines about a server that comes and goes are printed."""


@dataclass(slots=True)
class _Health:
    """``trial`` is the session whose call tries a server that is down."""

    failures: int = 0
    wait_s: float = _DOWN_S
    until: float = 0.0
    trial: str = ""

    @property
    def down(self) -> bool:
        return self.failures >= _MOST_FAILURES

    def takes(self, now: float, session: str) -> bool:
        """Return whether a server takes a call; one that is down takes one after each wait."""
        if not self.down:
            return True
        if now < self.until:
            return False
        self.until, self.trial = now + self.wait_s, session
        return True

    def note_failure(self, now: float, refused: bool, session: str) -> None:
        """Count a failure; of calls that were under way when it went down, the first ones count."""
        if self.down and session != self.trial:
            return
        self.failures = max(self.failures + 1, _MOST_FAILURES * refused)
        if self.down:
            self.until, self.trial = now + self.wait_s, ""
            self.wait_s = min(2 * self.wait_s, _LONGEST_DOWN_S)

    def note_answer(self) -> None:
        self.failures, self.wait_s, self.trial = 0, _DOWN_S, ""


class Fleet:
    """The servers of a provider.

    Parameters
    ----------
    urls
        Base URLs; a single one is no fleet, and may be empty, where LiteLLM knows it.
    clock
        Seconds.
    say
        Prints a line for the user: a server went down, or is back.
    """

    def __init__(
        self,
        urls: Sequence[str],
        clock: Callable[[], float] = time.monotonic,
        say: Callable[[str], object] = say_on_terminal,
    ) -> None:
        self.urls = tuple(urls)
        self._by_name = {name_server(url): url for url in urls} if len(urls) > 1 else {}
        self._health = {name: _Health() for name in self._by_name}
        self._clock, self._say = clock, say
        self._lines = dict.fromkeys(self._by_name, 0)

    def choose(self, chat: Chat) -> str:
        """Return the first server of a call's session, one that is up; empty without a fleet."""
        session, now = _session(chat), self._clock()
        names = [*self._by_name]
        names.sort(key=lambda name: hashlib.blake2b(f"{name} {session}".encode()).digest())
        up = (name for name in names if self._health[name].takes(now, session))
        return next(up, names[0] if names else "")

    async def attempt(self, chat: Chat, ask: Callable[[str], Awaitable[Response]]) -> Response:
        """Ask the server that was chosen for a call.

        Parameters
        ----------
        ask
            Makes an attempt at the server with a base URL.

        Raises
        ------
        CallError
            The attempt failed, or the server went down while the call waited for its turn.
        """
        if not self._by_name:
            return await ask(self.urls[0])
        server = chat.server or self.choose(chat)
        try:
            if self._went_down(server, chat):
                down = f"{server} went down while the call waited for its turn"
                raise CallError(Failure.SERVER, down, reached=False)
            response = await ask(self._by_name[server])
        except CallError as error:
            error.server = server
            self._note(server, error, _session(chat))
            raise
        self._note_answer(server)
        return response if response.server else replace(response, server=server)

    def _went_down(self, server: str, chat: Chat) -> bool:
        """Return whether another server has been chosen by now."""
        health = self._health[server]
        others_up = any(not other.down for other in self._health.values())
        return health.down and health.trial != _session(chat) and others_up

    def _note(self, server: str, error: CallError, session: str) -> None:
        broken = error.failure == Failure.SERVER and error.status is None
        if broken or error.status in _GATEWAY:
            health, before = self._health[server], self._health[server].down
            health.note_failure(self._clock(), not error.reached, session)
            if health.down and not before:
                others = any(not other.down for other in self._health.values())
                where = "go to the next ones" if others else "have no other that is up"
                why = flatten(f"{error.status or ''} {error.detail}").strip()
                self._note_line(server, f"is down ({why[:_LONGEST_WHY]}); its sessions {where}")
        elif error.status is not None:
            self._note_answer(server)

    def _note_answer(self, server: str) -> None:
        if self._health[server].down:
            self._note_line(server, "answers again; its sessions come back")
        self._health[server].note_answer()

    def _note_line(self, server: str, line: str) -> None:
        self._lines[server] += 1
        if self._lines[server] <= _MOST_SAID:
            self._say(f"server {server} {line}")


def _session(chat: Chat) -> str:
    return chat.session or f"{chat.seed:016x}"


def name_server(url: str) -> str:
    """Return a server's name: host and port, with a path that isn't every server's."""
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path}".rstrip("/").removesuffix("/v1")
