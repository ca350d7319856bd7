"""Lanes of waiting calls: for one server of a provider, and the limits of one model."""

import asyncio
from dataclasses import dataclass

from plenum.calls.limits.aimd import Concurrency
from plenum.calls.limits.fair_queue import FairQueue
from plenum.calls.limits.rates import Rates, Units


@dataclass(eq=False, slots=True)
class Server:
    """The state of one server: its concurrency and holds."""

    concurrency: Concurrency
    in_flight: int = 0
    held_until: float = 0.0
    held_by: str = ""

    def wait(self, now: float) -> float:
        """Seconds until a call may go there; infinity while another one must end first."""
        if self.in_flight >= self.concurrency.limit:
            return float("inf")
        return max(0.0, self.held_until - now)


@dataclass(eq=False, slots=True)
class WaitingCall:
    """A call that waits for a permit."""

    tokens: int
    permit: "asyncio.Future[Permit]"


@dataclass(eq=False, slots=True)
class Lane:
    """The calls that wait for the same server and the same model's limits."""

    server: Server
    rates: Rates
    queue: FairQueue[WaitingCall]

    def wait(self, tokens: int, now: float) -> float:
        """Return the seconds for which the lane's own limits keep a call back."""
        return max(self.server.wait(now), self.rates.wait(tokens, now))


@dataclass(slots=True)
class Permit:
    """A call's permit: since when (the loop's time), where, and what it took."""

    began: float
    lane: Lane
    units: Units
    units_of_all: Units
