"""One provider's limits on the event loop: concurrency, requests and tokens a minute, holds."""

import asyncio
from dataclasses import dataclass

from plenum.conditions import Calls
from plenum.execution.aimd import Concurrency
from plenum.execution.buckets import Bucket, Taken
from plenum.execution.fairness import FairQueue
from plenum.models import Attempt
from plenum.records import Failure

_OVERLOADED = (503, 529)


@dataclass(frozen=True, slots=True)
class Place:
    """A call's place: since when (the loop's time), and what it took."""

    began: float
    request: Taken | None
    tokens: Taken | None


@dataclass(eq=False, slots=True)
class _Waiting:
    tokens: int
    place: "asyncio.Future[Place]"


class Limiter:
    """Lets calls to one provider pass, no more than it bears, and fairly between conditions.

    Parameters
    ----------
    calls
        The limits that the user states.
    provider
        Whose.

    Attributes
    ----------
    in_flight, peak
        Calls under way, now and at most.
    """

    def __init__(self, calls: Calls, provider: str) -> None:
        adapt = calls.adapt and provider != "simulated"
        self._concurrency = Concurrency(calls.start_concurrency, calls.max_concurrency, adapt)
        self._loop = asyncio.get_running_loop()
        now = self._loop.time()
        rpm, tpm = calls.rpm.get(provider), calls.tpm.get(provider)
        self._requests = Bucket(rpm, now) if rpm else None
        self._tokens = Bucket(tpm, now) if tpm else None
        self._queue: FairQueue[_Waiting] = FairQueue()
        self._held_until = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self.in_flight = self.peak = 0

    @property
    def limit(self) -> int:
        """Calls that may be in flight now."""
        return self._concurrency.limit

    @property
    def held_s(self) -> float:
        """Seconds for which the provider still wants no call."""
        return max(0.0, self._held_until - self._loop.time())

    async def enter(self, line: str, rank: tuple[int, ...], tokens: int) -> Place:
        """Wait for a place.

        Parameters
        ----------
        line, rank
            The condition, and the order within it, as :class:`FairQueue` takes them.
        tokens
            What the call may use; taken from the tokens a minute.
        """
        if not self._queue and self._wait(tokens) == 0.0:
            return self._admit(tokens)
        waiting = _Waiting(tokens, self._loop.create_future())
        self._queue.push(line, rank, waiting)
        self._serve()
        try:
            return await waiting.place
        except asyncio.CancelledError:
            if waiting.place.done() and not waiting.place.cancelled():
                self._give_up(waiting.place.result())
            else:
                self._serve()  # the next one may have waited for this one's turn
            raise

    def leave(self, place: Place, attempt: Attempt, hold_s: float, used: int) -> None:
        """Give a place back.

        Parameters
        ----------
        place
            As :meth:`enter` gave it.
        attempt
            How the call ended.
        hold_s
            For how long the provider wants no call.
        used
            Tokens that the call used.
        """
        now = self._loop.time()
        binding = bool(self._queue) or self.in_flight >= self.limit
        if attempt.outcome == "ok":
            self._concurrency.answered(place.began, now, binding)
        elif attempt.outcome == Failure.TIMEOUT:
            self._concurrency.answered(place.began, now, binding=False)
        elif attempt.outcome == Failure.RATE_LIMIT or attempt.status in _OVERLOADED:
            self._concurrency.pushed_back(place.began, now)
        if hold_s:
            self._held_until = max(self._held_until, now + hold_s)
        if self._tokens and place.tokens:
            self._tokens.settle(place.tokens, used)
        self.in_flight -= 1
        self._serve()

    def _give_up(self, place: Place) -> None:
        """Nothing was called: all that was taken is given back."""
        for bucket, taken in ((self._requests, place.request), (self._tokens, place.tokens)):
            if bucket and taken:
                bucket.settle(taken, 0)
        self.in_flight -= 1
        self._serve()

    def _admit(self, tokens: int) -> Place:
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        now = self._loop.time()
        return Place(
            now,
            self._requests.take(1, now) if self._requests else None,
            self._tokens.take(tokens, now) if self._tokens else None,
        )

    def _serve(self) -> None:
        """Admit who can be admitted; come back when time alone brings the next one."""
        while self._queue:
            waiting = self._queue.first()
            if waiting.place.done():  # given up
                self._queue.pop()
                continue
            wait = self._wait(waiting.tokens)
            if wait:
                if wait < float("inf"):
                    self._come_back(wait)
                return
            self._queue.pop()
            waiting.place.set_result(self._admit(waiting.tokens))

    def _wait(self, tokens: int) -> float:
        """Seconds until a call may go; infinity while another one must end first."""
        if self.in_flight >= self.limit:
            return float("inf")
        now = self._loop.time()
        wait = max(0.0, self._held_until - now)
        if self._requests:
            wait = max(wait, self._requests.wait(1, now))
        if self._tokens:
            wait = max(wait, self._tokens.wait(tokens, now))
        return wait

    def _come_back(self, wait: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(wait, self._serve)
