"""The number of calls that a provider bears at once: additive increase, multiplicative decrease."""

from statistics import median

# A refusal is sure and halves, as in TCP; slowness may have other reasons and takes a fifth.
_PUSHED_BACK = 0.5
_SLOWED = 0.8
_RISE = 2.0
"""A median over so many times the best one counts as slow. The number is plenum's own: smaller
rises come by chance, and larger ones leave calls in a server's queue for long."""
_DRIFT = 1.02
"""The best median grows by 2 % with each sample, which doubles it in 35: by then a provider that
has become slower for good no longer counts as slow."""
_SMALLEST_SAMPLE = 16
"""Latencies of a median at least: that of fewer may double by chance."""


class Concurrency:
    """A limit that follows what comes back.

    It doubles each round trip until the first sign of trouble and then grows by one each round
    trip, as long as it is what holds calls back. A refusal halves it, once for all calls that were
    under way; answers that take more than twice as long as at best take a fifth of it.

    Parameters
    ----------
    start, most
        The first limit, and the one that it never exceeds.
    adapt
        True if it moves at all; else it is ``most``.
    """

    def __init__(self, start: int, most: int, adapt: bool = True) -> None:
        self._start = self._limit = float(min(start, most) if adapt else most)
        self._most, self._adapt = most, adapt
        self._doubling = True
        self._cut_at = float("-inf")
        self._latencies: list[float] = []
        self._best = float("inf")

    @property
    def limit(self) -> int:
        """Calls that may be in flight now, at least 1."""
        return max(1, int(self._limit))

    def note_answer(self, began: float, now: float, binding: bool) -> None:
        """Take note of an answer.

        Parameters
        ----------
        began, now
            When the call began and ended, in seconds of one clock.
        binding
            True if the limit was reached while it was under way.
        """
        if not self._adapt:
            return
        # A limit that nobody ran into hasn't been tried: what came back says nothing of a higher
        # one.
        if binding:
            # As many answers come in a round trip as the limit has: +1 each doubles it, +1/limit
            # each adds one (slow start and avoidance of TCP; Chiu and Jain 1989).
            self._limit += 1.0 if self._doubling else 1.0 / self._limit
            self._limit = min(self._limit, self._most)
        # What began before a cut was slow under the limit before it.
        if began >= self._cut_at:
            self._latencies.append(now - began)
        if len(self._latencies) >= max(_SMALLEST_SAMPLE, self.limit):
            self._weigh(now)

    def note_refusal(self, began: float, now: float) -> None:
        """Take note that the provider refused a call for now, or was overloaded."""
        # Calls that were under way at the cut are refused for the same reason: one cut is enough.
        if self._adapt and began >= self._cut_at:
            self._cut(_PUSHED_BACK, now)

    def reset(self) -> None:
        """Reset the limit after a provider couldn't be reached, as at the start."""
        # Never above the start: nothing is known of how much the server bears once it is back.
        self._limit, self._doubling = min(self._limit, self._start), True

    def _weigh(self, now: float) -> None:
        """Compare one round trip's typical latency with the best seen; that one ages slowly."""
        typical = median(self._latencies)
        self._latencies.clear()
        slow = typical > _RISE * self._best
        # Aged by 2 % each time: one lucky answer mustn't make all later ones count as slow for
        # ever.
        self._best = min(self._best * _DRIFT, typical)
        if slow:
            self._cut(_SLOWED, now)

    def _cut(self, factor: float, now: float) -> None:
        self._limit = max(1.0, self._limit * factor)
        self._doubling = False
        self._cut_at = now
        self._latencies.clear()
