"""A rate per minute that is never exceeded, in any minute."""

from collections import deque
from dataclasses import dataclass

MINUTE = 60.0
_WINDOW = MINUTE + 1.0
"""A minute at the provider, where calls' ways to it differ by less than a second."""


@dataclass(slots=True)
class TakenUnits:
    """Units taken at a time; unused ones are returned to them."""

    at: float
    units: float


class TokenBucket:
    """Units that may be taken, spread over the minute.

    A bucket of a sixtieth of a minute's units, refilled all the time, spreads them; what is larger
    than the bucket waits until it is full, and leaves it in debt. A window over the last minute
    keeps their sum.

    Parameters
    ----------
    per_minute
        Units a minute.
    now
        The clock, in seconds.
    """

    def __init__(self, per_minute: float, now: float) -> None:
        self._per_minute = per_minute
        # At least one unit: below 60 a minute the bucket would never hold a whole request.
        self._size = max(1.0, per_minute / MINUTE)
        self._level, self._at = self._size, now
        self._window: deque[TakenUnits] = deque()
        self._sum = 0.0

    def wait(self, units: float, now: float) -> float:
        """Return the seconds until ``units`` may be taken; 0 if they may be taken now.

        More than a minute's units may be taken once nothing was taken for a minute.
        """
        self._refill(now)
        # More than a full bucket can't be waited for: a larger call goes when it is full, into
        # debt.
        lacking = min(units, self._size) - self._level
        # A residue of rounding is no wait: it would come back again and again.
        spread = lacking * MINUTE / self._per_minute if lacking > 1e-9 else 0.0
        return max(spread, self._until_room(min(units, self._per_minute), now))

    def take(self, units: float, now: float) -> TakenUnits:
        """Take units."""
        taken = TakenUnits(now, units)
        self._window.append(taken)
        self._sum += units
        self._level -= units
        return taken

    def settle(self, taken: TakenUnits, used: float) -> None:
        """Correct the units taken to those used."""
        unused = taken.units - used
        # Never more than a full bucket, which would let a burst through.
        self._level = min(self._level + unused, self._size)
        # What has left the window was taken off its sum already.
        if self._window and taken.at >= self._window[0].at:
            self._sum -= unused
            taken.units = used

    def _until_room(self, units: float, now: float) -> float:
        # Oldest first: the wait ends when enough of them have left the window.
        over = self._sum + units - self._per_minute
        for taken in self._window:
            # Rounding of a sum that just fits would make the call wait for a minute.
            if over <= 1e-9:
                return 0.0
            over -= taken.units
            if over <= 1e-9:
                return max(taken.at + _WINDOW - now, 0.0)
        return 0.0

    def _refill(self, now: float) -> None:
        self._level = min(self._size, self._level + (now - self._at) * self._per_minute / MINUTE)
        self._at = now
        while self._window and self._window[0].at + _WINDOW <= now:
            self._sum -= self._window.popleft().units
