"""One provider's limits on the event loop: concurrency, requests and tokens a minute, holds."""

import asyncio
from dataclasses import dataclass
from typing import Any

from plenum.base.errors import Stopped
from plenum.design.condition import Calls
from plenum.execution.limits.aimd import Concurrency
from plenum.execution.limits.fair_queue import FairQueue
from plenum.execution.limits.token_bucket import Taken, TokenBucket
from plenum.models import Attempt, CallError
from plenum.records import Failure

_OVERLOADED = (503, 529)
_NOTICEABLE_S = 1.0
"""A shorter wait isn't worth a word."""


class ProviderUnavailable(Stopped):
    """Nothing more is sent to a provider: it can't be reached, or wants to be left alone for long.

    Parameters
    ----------
    failure
        ``unreachable`` or ``held``: why what waits for it is pending.
    reason
        One line for the user, with the provider's words.
    """

    def __init__(self, failure: Failure, reason: str) -> None:
        super().__init__(reason)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Permit:
    """A call's permit: since when (the loop's time), and what it took."""

    began: float
    request: Taken | None
    tokens: Taken | None


@dataclass(eq=False, slots=True)
class _Waiting:
    tokens: int
    permit: "asyncio.Future[Permit]"


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
        self._provider, self._max_wait_s = provider, calls.max_wait_s
        rpm, tpm = calls.rpm.get(provider), calls.tpm.get(provider)
        self._requests = TokenBucket(rpm, now) if rpm else None
        self._tokens = TokenBucket(tpm, now) if tpm else None
        self._queue: FairQueue[_Waiting] = FairQueue()
        self._held_until, self._held_by = 0.0, ""
        self._unavailable: tuple[Failure, str] | None = None
        self._unreached = 0
        self._pauses: dict[asyncio.Future[None], tuple[float, str]] = {}
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

    async def enter(self, line: str, rank: tuple[int, ...], tokens: int) -> Permit:
        """Wait for a permit.

        Parameters
        ----------
        line, rank
            The condition, and the order within it, as :class:`FairQueue` takes them.
        tokens
            What the call may use; taken from the tokens a minute.

        Raises
        ------
        ProviderUnavailable
            Nothing more is sent to the provider.
        """
        self.require_available()
        if not self._queue and self._wait(tokens) == 0.0:
            return self._admit(tokens)
        waiting = _Waiting(tokens, self._loop.create_future())
        self._queue.push(line, rank, waiting)
        self._serve()
        try:
            return await waiting.permit
        except asyncio.CancelledError:
            if waiting.permit.done() and not waiting.permit.cancelled():
                if waiting.permit.exception() is None:
                    self._give_back(waiting.permit.result())
            else:
                self._serve()  # the next one may have waited for this one's turn
            raise

    async def pause(self, seconds: float, reason: str) -> None:
        """Wait before another attempt at a call.

        Raises
        ------
        ProviderUnavailable
            There will be none: nothing more is sent to the provider.
        """
        self.require_available()
        over: asyncio.Future[None] = self._loop.create_future()
        timer = self._loop.call_later(seconds, _end, over)
        self._pauses[over] = self._loop.time() + seconds, reason
        try:
            await over
        finally:
            timer.cancel()
            del self._pauses[over]

    def leave(self, permit: Permit, attempt: Attempt, hold_s: float, used: int) -> None:
        """Give a permit back.

        Parameters
        ----------
        permit
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
            self._concurrency.answered(permit.began, now, binding)
        elif attempt.outcome == Failure.TIMEOUT:
            self._concurrency.answered(permit.began, now, binding=False)
        elif attempt.outcome == Failure.RATE_LIMIT or attempt.status in _OVERLOADED:
            self._concurrency.pushed_back(permit.began, now)
        self._unreached = 0 if attempt.reached else self._unreached + 1
        if hold_s > self._max_wait_s:
            self._close(Failure.HELD, self._too_long(hold_s, attempt))
        elif now + hold_s > self._held_until:
            self._held_until = now + hold_s
            self._held_by = f" ({attempt.status})" if attempt.outcome != "ok" else ""
        if self._tokens and permit.tokens:
            self._tokens.settle(permit.tokens, used)
        self.in_flight -= 1
        self._serve()

    def give_up(self, error: CallError, attempts: int) -> None:
        """Say that a call's attempts are used up, and how the last one ended.

        Parameters
        ----------
        attempts
            How many there are. Where so many in a row reached nothing, no further call will.

        Raises
        ------
        ProviderUnavailable
            It wasn't the call that failed: the provider can't be reached, or wants to be left
            alone for too long.
        """
        if not error.reached:
            reason = f"{self._provider} can't be reached: {error.detail}"
            if self._unreached >= attempts:
                self._close(Failure.UNREACHABLE, reason)
            raise ProviderUnavailable(Failure.UNREACHABLE, reason)
        if error.failure.transient and (error.retry_after or 0.0) > self._max_wait_s:
            self.require_available()

    def require_available(self) -> None:
        """Refuse where nothing more is sent to the provider.

        Raises
        ------
        ProviderUnavailable
            Nothing is.
        """
        if self._unavailable:
            raise ProviderUnavailable(*self._unavailable)

    def waiting(self) -> str:
        """What keeps calls from going out and for how long; empty where nothing waits for time."""
        to = f"s for {self._provider}"
        if self.held_s >= _NOTICEABLE_S and (self._queue or self._pauses):
            return f"waiting {self.held_s:.0f} {to}, as it asked{self._held_by}"
        if self._queue and self.in_flight < self.limit:
            tokens, now = self._queue.first().tokens, self._loop.time()
            for key, bucket, amount in (("rpm", self._requests, 1), ("tpm", self._tokens, tokens)):
                wait = bucket.wait(amount, now) if bucket else 0.0
                if wait >= _NOTICEABLE_S:
                    return f"waiting {wait:.0f} {to}, by calls.{key}.{self._provider}"
        if self._pauses and not self._queue and not self.in_flight:
            until, reason = min(self._pauses.values())
            wait = until - self._loop.time()
            if wait >= _NOTICEABLE_S:
                return f"waiting {wait:.0f} {to}, before another attempt ({reason})"
        return ""

    def _close(self, failure: Failure, reason: str) -> None:
        """Send nothing more; who waits for the provider needn't any longer."""
        self._unavailable = self._unavailable or (failure, reason)
        waiting: list[asyncio.Future[Any]] = [*self._pauses]
        waiting += [self._queue.pop().permit for _ in range(len(self._queue))]
        for future in waiting:
            if not future.done():
                future.set_exception(ProviderUnavailable(*self._unavailable))

    def _too_long(self, hold_s: float, attempt: Attempt) -> str:
        words = f" ({attempt.status}: {attempt.detail})" if attempt.outcome != "ok" else ""
        return (
            f"{self._provider} asks to be left alone for {hold_s:,.0f} s{words}, longer than "
            f"calls.max_wait_s={self._max_wait_s:g}"
        )

    def _give_back(self, permit: Permit) -> None:
        """Nothing was called: all that was taken is given back."""
        for bucket, taken in ((self._requests, permit.request), (self._tokens, permit.tokens)):
            if bucket and taken:
                bucket.settle(taken, 0)
        self.in_flight -= 1
        self._serve()

    def _admit(self, tokens: int) -> Permit:
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        now = self._loop.time()
        return Permit(
            now,
            self._requests.take(1, now) if self._requests else None,
            self._tokens.take(tokens, now) if self._tokens else None,
        )

    def _serve(self) -> None:
        """Admit who can be admitted; come back when time alone brings the next one."""
        while self._queue:
            waiting = self._queue.first()
            if waiting.permit.done():  # given up
                self._queue.pop()
                continue
            wait = self._wait(waiting.tokens)
            if wait:
                if wait < float("inf"):
                    self._come_back(wait)
                return
            self._queue.pop()
            waiting.permit.set_result(self._admit(waiting.tokens))

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


def _end(pause: "asyncio.Future[None]") -> None:
    if not pause.done():
        pause.set_result(None)
