"""Lockstep: which calls of a sweep go in batches, and when nobody else can join the next one."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from plenum.base.terminal import say
from plenum.calls.chat import Chat

_PASSES = 12
"""Passes of the event loop that a handover takes at most, such as a slot's or a reservation's."""


class Lockstep:
    """Knows who is at work, and so when all replicates of a sweep wait for batches.

    Parameters
    ----------
    batches
        True if calls go in batches at all; without, nothing is counted.

    Attributes
    ----------
    say
        Prints a line for the user.
    status
        What the live display shows of batches; may be empty.
    """

    def __init__(self, batches: bool = False) -> None:
        self.batches = batches
        self.say: Callable[[str], object] = say
        self.status: Callable[[], str] = str
        self._live: set[tuple[str, int]] = set()
        self._still: list[Callable[[], None]] = []
        self._at_work = self._changes = 0

    def goes_in_batch(self, chat: Chat) -> bool:
        """Return whether the next attempt at a call goes in a batch."""
        return self.batches and (chat.session, chat.seed) not in self._live

    def send_live(self, chat: Chat) -> None:
        """Have all further attempts at a call go out at once, at the full price."""
        self._live.add((chat.session, chat.seed))

    def forget_call(self, chat: Chat) -> None:
        """Forget a call that went out at once."""
        self._live.discard((chat.session, chat.seed))

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Count one more at work: it may make a call before anything else happens."""
        with self._count(1):
            yield

    @contextmanager
    def wait(self) -> Iterator[None]:
        """Wait for a batch, or for room that only the calls of others make."""
        with self._count(-1):
            yield

    def call_when_still(self, act: Callable[[], None]) -> None:
        """Have something done whenever nobody is at work."""
        self._still.append(act)

    def look_again(self) -> None:
        """Look again whether nobody is at work, now that something else has happened."""
        self._changes += 1
        if self.batches and self._at_work <= 0:
            self._pass(self._changes, _PASSES)

    @contextmanager
    def _count(self, step: int) -> Iterator[None]:
        self._at_work += step
        self.look_again()
        try:
            yield
        finally:
            self._at_work -= step
            self.look_again()

    def _pass(self, changes: int, left: int) -> None:
        """Let the loop pass, so that what was woken up says so; after that nothing is at work."""
        if changes != self._changes:
            return
        if left:
            asyncio.get_running_loop().call_soon(self._pass, changes, left - 1)
            return
        for act in self._still:
            act()
