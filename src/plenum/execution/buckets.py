"""A rate per minute that is never exceeded, in any minute."""


class Bucket:
    """Units that may be taken, refilled all the time.

    It holds a sixtieth of a minute's units and refills with what is left of them, so that no
    sixty seconds see more than ``per_minute``. What is larger than the bucket waits until it is
    full, and leaves it in debt.

    Parameters
    ----------
    per_minute
        Units a minute.
    now
        The clock, in seconds.
    """

    def __init__(self, per_minute: float, now: float) -> None:
        self._size = max(1.0, per_minute / 60)
        self._rate = max(per_minute - self._size, per_minute / 2) / 60
        self._level, self._at = self._size, now

    def wait(self, units: float, now: float) -> float:
        """Seconds until ``units`` may be taken; 0 where they may be taken now."""
        self._refill(now)
        lacking = min(units, self._size) - self._level
        return max(0.0, lacking / self._rate) if lacking > 1e-9 else 0.0

    def take(self, units: float) -> None:
        """Take units; a negative number gives back what wasn't used."""
        self._level = min(self._level - units, self._size)

    def _refill(self, now: float) -> None:
        self._level = min(self._size, self._level + (now - self._at) * self._rate)
        self._at = now
