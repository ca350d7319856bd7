"""The server's record of requests: log, counts, and enforcement of limits."""

import math
from collections import Counter, deque
from dataclasses import dataclass
from typing import Any

from plenum_checks.fault_server.settings import ANSWER_KINDS, KINDS, Limits

WINDOW_S = 60.0
_WITH_ANSWER = (None, "trickle", *ANSWER_KINDS)


@dataclass(slots=True)
class RequestEntry:
    """One request, in the order of arrival.

    ``n`` is how often the server took this body before; ``status`` is ``None`` until a status is
    sent, and remains so if none is; ``at`` is in seconds since the server's start; ``session`` is
    the header that distinguishes a fleet's calls.
    """

    id: str | None
    key: str
    n: int
    fault: str | None
    status: int | None
    answered: bool
    at: float
    session: str | None = None
    done: bool = False

    @property
    def call(self) -> str:
        """The request's call: clients send ``<call>-<attempt>``; with no id, the body's key."""
        if not self.id:
            return self.key
        return self.id.rpartition("-")[0] or self.id

    @property
    def end(self) -> str:
        """The category for the counts; each request ends in exactly one."""
        if self.answered:
            return "answered"
        if self.fault not in _WITH_ANSWER:
            return str(self.fault)
        ends = {429: "limited", 401: "unauthorized", 400: "unreadable"}
        return ends.get(self.status or 0, "abandoned")


_LOGGED = ("id", "key", "n", "fault", "status", "answered", "at", "session")


class RequestTally:
    """A counter of requests that admits them within the limits.

    Attributes
    ----------
    paid
        Number of times that each body was answered, in a batch or live.
    of_batches
        Number of requests that submit, look at or fetch batches.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._in_flight = 0
        self.forget()

    def forget(self) -> None:
        """Reset all counts and the limits' window."""
        self._log: list[RequestEntry] = []
        self._seen: Counter[str] = Counter()
        self._admitted: deque[float] = deque()
        self._most = self._in_flight
        self.paid: Counter[str] = Counter()
        self.of_batches = 0

    def open_entry(
        self, ident: str | None, key: str, at: float, session: str | None
    ) -> RequestEntry:
        """Open a request's entry."""
        entry = RequestEntry(ident, key, self._seen[key], None, None, False, round(at, 6), session)
        self._log.append(entry)
        return entry

    def wait(self, at: float) -> float | None:
        """Return the seconds until a request may be repeated; ``None`` if it is admitted now."""
        rpm, most = self._limits.rpm, self._limits.in_flight
        if rpm is not None and self.count_remaining(at) == 0:
            return max(self.frees_in(at), 0.001)
        return 0.0 if most is not None and self._in_flight >= most else None

    def count_remaining(self, at: float) -> int:
        """Return how many requests the window of the last 60 seconds still admits."""
        while self._admitted and self._admitted[0] <= at - WINDOW_S:
            self._admitted.popleft()
        return max(0, (self._limits.rpm or 0) - len(self._admitted))

    def frees_in(self, at: float) -> float:
        """Return the seconds until the oldest request leaves the window; 0 if it is empty."""
        return self._admitted[0] + WINDOW_S - at if self._admitted else 0.0

    def admit(self, entry: RequestEntry, at: float) -> None:
        """Admit a request; from now on it counts against the limits."""
        self._seen[entry.key] += 1
        if self._limits.rpm is not None:
            self._admitted.append(at)
        self._in_flight += 1
        self._most = max(self._most, self._in_flight)

    def note_end(self) -> None:
        """Count an admitted request as over, however it ended."""
        self._in_flight -= 1

    def stats(self) -> dict[str, Any]:
        """Return the counts; ``requests`` is the sum of all ends and ``in_flight``."""
        log = self._log
        ends = Counter(entry.end for entry in log if entry.done)
        answers = Counter(entry.call for entry in log if entry.answered)
        faults = Counter(entry.fault for entry in log if entry.fault)
        return {
            "requests": len(log),
            "answered": ends["answered"],
            "in_flight": len(log) - ends.total(),
            "max_in_flight": self._most,
            "faults": {kind: faults[kind] for kind in KINDS},
            **{end: ends[end] for end in ("limited", "unauthorized", "unreadable", "abandoned")},
            "keys": len({entry.key for entry in log}),
            "answered_twice": sum(1 for times in answers.values() if times > 1),
            "of_batches": self.of_batches,
            "paid": self.paid.total(),
            "paid_twice": sum(1 for times in self.paid.values() if times > 1),
        }

    def log(self) -> list[dict[str, Any]]:
        """Return the requests in the order of arrival."""
        return [{name: getattr(entry, name) for name in _LOGGED} for entry in self._log]


def duration(seconds: float) -> str:
    """Format a time as OpenAI's rate limit headers do: ``120ms``, ``1.5s``, ``1m0s``."""
    thousandths = math.ceil(seconds * 1000 - 1e-6)
    if thousandths < 1000:
        return f"{thousandths}ms"
    minutes, rest = divmod(thousandths, 60_000)
    return f"{minutes}m{rest / 1000:g}s" if minutes else f"{rest / 1000:g}s"
