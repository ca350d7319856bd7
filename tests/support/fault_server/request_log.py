"""The server's record of requests: log, counts, and enforcement of limits."""

from collections import Counter, deque
from dataclasses import dataclass
from typing import Any

from support.fault_server.settings import KINDS, Limits

WINDOW_S = 60.0
_LOGGED = ("id", "key", "n", "fault", "status", "answered", "at")


@dataclass(slots=True)
class RequestEntry:
    """One request, in the order of arrival.

    ``n`` is how often the server took this body before; ``status`` is ``None`` until a status is
    sent, and remains so if none is; ``at`` is in seconds since the server's start.
    """

    id: str | None
    key: str
    n: int
    at: float
    fault: str | None = None
    status: int | None = None
    answered: bool = False

    @property
    def call(self) -> str:
        """The request's call: clients send ``<call>-<attempt>``; with no id, the body's key."""
        if not self.id:
            return self.key
        return self.id.rpartition("-")[0] or self.id


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
        self._in_flight = self._most = 0
        self._log: list[RequestEntry] = []
        self._seen: Counter[str] = Counter()
        self._admitted: deque[float] = deque()
        self.paid: Counter[str] = Counter()
        self.of_batches = 0

    def open_entry(self, ident: str | None, key: str, at: float) -> RequestEntry:
        """Open a request's entry."""
        entry = RequestEntry(ident, key, self._seen[key], round(at, 6))
        self._log.append(entry)
        return entry

    def wait(self, at: float) -> float | None:
        """Return the seconds until a request may be repeated; ``None`` if it is admitted now."""
        rpm, most = self._limits.rpm, self._limits.in_flight
        while self._admitted and self._admitted[0] <= at - WINDOW_S:
            self._admitted.popleft()
        if rpm is not None and len(self._admitted) >= rpm:
            return max(self._admitted[0] + WINDOW_S - at, 0.001)
        return 0.0 if most is not None and self._in_flight >= most else None

    def admit(self, entry: RequestEntry, at: float) -> None:
        """Admit a request; from now on it counts against the limits."""
        self._seen[entry.key] += 1
        self._admitted.append(at)
        self._in_flight += 1
        self._most = max(self._most, self._in_flight)

    def note_end(self) -> None:
        """Count an admitted request as over, however it ended."""
        self._in_flight -= 1

    def note_answer(self, entry: RequestEntry) -> None:
        """Count a whole answer as paid."""
        entry.answered = True
        self.paid[entry.key] += 1

    def stats(self) -> dict[str, Any]:
        """Return the counts.

        ``answered`` are whole answers as a provider would bill them, faults of the answer among
        them; ``answered_twice`` counts calls, and ``paid_twice`` bodies, that were paid twice.
        """
        answers = Counter(entry.call for entry in self._log if entry.answered)
        faults = Counter(entry.fault for entry in self._log if entry.fault)
        return {
            "requests": len(self._log),
            "answered": answers.total(),
            "max_in_flight": self._most,
            "faults": {kind: faults[kind] for kind in KINDS},
            "answered_twice": sum(1 for times in answers.values() if times > 1),
            "of_batches": self.of_batches,
            "paid": self.paid.total(),
            "paid_twice": sum(1 for times in self.paid.values() if times > 1),
        }

    def log(self) -> list[dict[str, Any]]:
        """Return the requests in the order of arrival."""
        return [{name: getattr(entry, name) for name in _LOGGED} for entry in self._log]
