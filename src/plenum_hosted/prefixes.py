"""A cache of prefilled prefixes, limited by memory."""

from collections import OrderedDict
from collections.abc import Callable

from plenum_hosted.network import CachedPrefix


class Prefixes:
    """Keys and values by the tokens they belong to; the least recently used are dropped first.

    A prefix is computed on its own whether it is kept or not, so that a cached one has the same
    bytes as one computed anew.

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
        self.hits = self.computed = 0

    def get(self, tokens: tuple[int, ...], compute: Callable[[], CachedPrefix]) -> CachedPrefix:
        """Return the prefix, computing it if it isn't kept."""
        kept = self._kept.get(tokens)
        if kept is not None:
            self._kept.move_to_end(tokens)
            self.hits += 1
            return kept
        self.computed += 1
        kept = compute()
        self._kept[tokens] = kept
        self._bytes += kept.bytes
        while self._bytes > self._limit and len(self._kept) > 1:
            self._bytes -= self._kept.popitem(last=False)[1].bytes
        return kept
