"""A cache of prefilled prefixes, limited by memory."""

import math
from collections import OrderedDict
from collections.abc import Callable

from plenum_hosted.network import CachedPrefix

_DEAD = 1.5
"""Usual waits after which a prefix that wasn't asked for again counts as finished with. The number
is plenum's own: nearer to 1 a prefix that is a little late is dropped just before its turn, larger
ones keep those of a study that is over for longer."""
_NEW = 0.05
"""Weight of the newest wait in the usual one. The number is plenum's own: the usual wait is then
that of some twenty calls, and one odd one hardly moves it."""
_REMEMBERED = 1 << 16
"""Prefixes of which it is known when they were last asked for. A bound on memory, far above the
deliberations that are in flight at once."""


class Prefixes:
    """Keys and values by the tokens they belong to, as many as the memory holds.

    A prefix is computed on its own whether it is kept or not, so that a cached one has the same
    bytes as one computed anew.

    Deliberations in flight take turns, so that their prefixes are asked for in a ring. Where the
    memory doesn't hold the ring, dropping the least recently used one would drop each shortly
    before its turn, and none would ever be found. So a new prefix takes the place of the least
    recently used one only if that has waited longer than usual; the share of the ring that fits
    the memory is found each time.

    Parameters
    ----------
    limit
        Bytes that may be kept.

    Attributes
    ----------
    hits, computed
        Numbers of prefixes that were found, and that had to be computed.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes = 0
        self._kept: OrderedDict[tuple[int, ...], CachedPrefix] = OrderedDict()
        self._asked: OrderedDict[int, int] = OrderedDict()  # at which call, by hash
        self._usual = 0.0  # logarithm of the calls until a prefix returns; 0 as long as none has
        self._calls = self.hits = self.computed = 0

    def get(self, tokens: tuple[int, ...], compute: Callable[[], CachedPrefix]) -> CachedPrefix:
        """Return the prefix, computing it if it isn't kept."""
        self._note(tokens)
        kept = self._kept.get(tokens)
        if kept is not None:
            self._kept.move_to_end(tokens)
            self.hits += 1
            return kept
        self.computed += 1
        kept = compute()
        if self._make_room(kept.bytes):
            self._kept[tokens] = kept
            self._bytes += kept.bytes
        return kept

    def _note(self, tokens: tuple[int, ...]) -> None:
        """Remember the call, and how long the prefix has waited for it."""
        self._calls += 1
        # By hash, which is a number: thousands of tokens a prefix would be kept for those that are
        # gone.
        before = self._asked.pop(hash(tokens), None)
        self._asked[hash(tokens)] = self._calls
        if before is not None:
            # Of logarithms, since one that returns in another study has waited for ever.
            wait = math.log(self._calls - before)
            self._usual += (wait - self._usual) * (_NEW if self._usual else 1.0)
        elif len(self._asked) > _REMEMBERED:
            self._asked.popitem(last=False)

    def _make_room(self, wanted: int) -> bool:
        """Drop prefixes that nobody seems to ask for any more; false if that isn't enough."""
        while self._kept and self._bytes + wanted > self._limit:
            oldest = next(iter(self._kept))
            waited = self._calls - self._asked.get(hash(oldest), 0)
            # The oldest is still in the ring: to drop it would only move the miss.
            if self._usual and waited <= _DEAD * math.exp(self._usual):
                return False
            self._bytes -= self._kept.pop(oldest).bytes
        return True
