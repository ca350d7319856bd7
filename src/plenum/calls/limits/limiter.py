"""One provider's limits on the event loop: concurrency, requests and tokens a minute, holds.

A model may have requests and tokens a minute of its own, which hold with the provider's. Each
server of a fleet has its own concurrency and holds.
"""

import asyncio
from collections import Counter, OrderedDict
from typing import Any

from plenum.base.errors import Stopped
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Attempt
from plenum.calls.limits.aimd import Concurrency
from plenum.calls.limits.fair_queue import FairQueue
from plenum.calls.limits.lanes import Lane, Permit, Server, WaitingCall
from plenum.calls.limits.rates import Rates
from plenum.design.settings import Calls
from plenum.records.failures import Failure

_OVERLOADED = (503, 529)
"""Statuses of a server with too much to do, for now; 529 is Anthropic's."""
_OF_BATCHES = (Failure.UNREACHABLE, Failure.INTERRUPTED)
"""Failures of batches: none was taken, or one is still out, which the next run continues."""
_TRANSIENT = frozenset(failure for failure in Failure if failure.transient)
"""Failures that another attempt may mend: only these, in a row, tell of a server that is gone."""
_NOTICEABLE_S = 1.0
"""A shorter wait isn't reported. It is over before anybody has read of it, and would often be
printed as 0 s."""
_GIVEN_UP = 4
"""Calls whose attempts all failed, after which a server that had answered before counts as dead.
The number is plenum's own: with fewer a bad minute of a provider would stop a sweep, with more a
dead server is called longer. An answer in between sets the count back to 0."""


class ProviderUnavailable(Stopped):
    """Raised to send nothing more to a provider that can't be reached, or asks for a long pause.

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

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        # Pickling would call the class with the reason alone, as `args` has it, and fail.
        return type(self), (self.failure, str(self))


class Limiter:
    """The gate for calls to one provider: within its limits, and fair between conditions.

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
        self._loop = asyncio.get_running_loop()
        self._calls, self._provider = calls, provider
        self._rates = Rates(calls, provider, self._loop.time())
        self._by_model: dict[str, Rates] = {}
        self._servers: dict[str, Server] = {}
        self._lanes: OrderedDict[tuple[str, str], Lane] = OrderedDict()
        self._limited = {name for name in (*calls.rpm, *calls.tpm) if name != provider}
        self._waiting = 0
        # the models that nothing more is sent to; of the empty name: the whole provider
        self._unavailable: dict[str, tuple[Failure, str]] = {}
        self._unreached = 0
        self._answered = set[str]()
        self._failing = Counter[str]()
        self._pauses: dict[asyncio.Future[None], tuple[float, str]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self.in_flight = self.peak = 0
        self._lane("", "")

    @property
    def limit(self) -> int:
        """Calls that may be in flight now, at all servers that were called."""
        # The one without a name is there from the start; a fleet's calls all name theirs.
        called = [s for name, s in self._servers.items() if name or len(self._servers) == 1]
        return sum(server.concurrency.limit for server in called)

    async def enter(
        self, line: str, rank: tuple[int, ...], tokens: int, model: str = "", server: str = ""
    ) -> Permit:
        """Wait for a permit.

        Parameters
        ----------
        line, rank
            The condition, and the order within it, as :class:`FairQueue` takes them.
        tokens
            What the call may use; taken from the tokens a minute.
        model, server
            Whose limits hold with the provider's.

        Raises
        ------
        ProviderUnavailable
            Nothing more is sent to the provider.
        """
        self.require_available(model)
        if (permit := self.enter_now(tokens, model, server)) is not None:
            return permit
        waiting = WaitingCall(tokens, self._loop.create_future())
        self._lane(model, server).queue.push(line, rank, waiting)
        self._waiting += 1
        self._serve()
        try:
            return await waiting.permit
        except asyncio.CancelledError:
            # It may have been cancelled in the same turn of the loop in which it got its permit.
            if waiting.permit.done() and not waiting.permit.cancelled():
                if waiting.permit.exception() is None:
                    self._give_back(waiting.permit.result())
            else:
                self._serve()  # the next one may have waited for this one's turn
            raise

    def enter_now(self, tokens: int, model: str = "", server: str = "") -> Permit | None:
        """Return a permit, if nothing has to be waited for."""
        # Nobody goes past those who wait: a stream of small calls would hold a large one for ever.
        if self._unavailable.keys() & {"", model} or self._waiting:
            return None
        lane, now = self._lane(model, server), self._loop.time()
        if lane.wait(tokens, now) or self._rates.wait(tokens, now):
            return None
        return self._admit(lane, tokens)

    async def pause(self, seconds: float, reason: str, model: str = "") -> None:
        """Wait before another attempt at a call of a model.

        Raises
        ------
        ProviderUnavailable
            There will be none: nothing more is sent to the provider.
        """
        self.require_available(model)
        # A listed future and no sleep, so that _close() ends all pauses when nothing more is sent.
        over: asyncio.Future[None] = self._loop.create_future()
        timer = self._loop.call_later(seconds, _end, over)
        self._pauses[over] = self._loop.time() + seconds, reason
        try:
            await over
        finally:
            timer.cancel()
            del self._pauses[over]

    def leave(
        self, permit: Permit, attempt: Attempt, hold_s: float, used: int, model: str = ""
    ) -> None:
        """Return a permit.

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
        model
            Whose call it was.
        """
        now, server = self._loop.time(), permit.lane.server
        # Seen before the permit is returned: afterwards the limit always has room.
        binding = bool(permit.lane.queue) or server.in_flight >= server.concurrency.limit
        if attempt.outcome == "ok":
            server.concurrency.note_answer(permit.began, now, binding)
        elif attempt.outcome == Failure.TIMEOUT:  # it tells how slow answers are, no more
            server.concurrency.note_answer(permit.began, now, binding=False)
        elif attempt.outcome == Failure.RATE_LIMIT or attempt.status in _OVERLOADED:
            server.concurrency.note_refusal(permit.began, now)
        # A server that comes back is slow at first: it isn't met by all calls at once.
        if not attempt.reached:
            server.concurrency.reset()
        # In a row: an attempt that arrives shows that the provider can be reached.
        self._unreached = 0 if attempt.reached else self._unreached + 1
        if attempt.outcome == "ok":
            self._answered.add(model)
        # An interruption or a bug of ours says nothing of the server.
        if attempt.reached and attempt.outcome not in (Failure.INTERRUPTED, Failure.BUG):
            unanswered = attempt.outcome in _TRANSIENT
            self._failing[model] = self._failing[model] + 1 if unanswered else 0
        if hold_s > self._calls.max_wait_s:
            self._close(Failure.HELD, self._too_long(hold_s, attempt))
        # Several calls may bring a hold each: the longest one counts.
        elif now + hold_s > server.held_until:
            server.held_until = now + hold_s
            server.held_by = f" ({attempt.status})" if attempt.outcome != "ok" else ""
        # Before `_end`, which admits the next call: it may need the units that weren't used.
        permit.lane.rates.settle(permit.units, used)
        self._rates.settle(permit.units_of_all, used)
        self._end(server)

    def give_up(self, error: CallError, attempts: int, model: str = "") -> None:
        """Report that a call's attempts are used up, and how the last one ended.

        Parameters
        ----------
        attempts
            How many there are. Where so many in a row reached nothing, no further call will; nor
            where so many in a row failed at a model that hasn't answered at all.
        model
            Whose call it was.

        Raises
        ------
        ProviderUnavailable
            It wasn't the call that failed: the provider can't be reached, or wants to be left
            alone for too long.
        """
        if not error.reached or error.failure in _OF_BATCHES:
            why = "" if error.failure in _OF_BATCHES else self._describe_absence(error)
            reason = f"{self._provider}{why}: {error.detail}"
            if self._unreached >= attempts:
                self._close(Failure.UNREACHABLE, reason)
            raise ProviderUnavailable(Failure.UNREACHABLE, reason)
        # `leave` has closed the provider for such a wait: the call is pending, and hasn't failed.
        if error.failure.transient and (error.retry_after or 0.0) > self._calls.max_wait_s:
            self.require_available()
        failed = self._failing[model]
        # A model that has answered before may have a bad minute; one that never did is dead sooner.
        borne = attempts * (_GIVEN_UP if model in self._answered else 1)
        # Simulated failures are drawn for each call, and say nothing of the next.
        if error.failure.transient and failed >= borne and self._provider != "simulated":
            said = f"{error.status}: {error.detail}" if error.status else error.detail
            dead = f"model {model}: its server answered none of the last {failed} calls ({said})"
            self._unavailable.setdefault(model, (Failure.UNREACHABLE, dead))
            self.require_available(model)

    def require_available(self, model: str = "") -> None:
        """Raise if nothing more is sent to the provider, or to the model.

        Raises
        ------
        ProviderUnavailable
            Nothing is.
        """
        if why := self._unavailable.get("") or self._unavailable.get(model):
            raise ProviderUnavailable(*why)

    def describe_waits(self) -> str:
        """Describe the limit that keeps calls waiting, and for how long; empty without waits."""
        now, to = self._loop.time(), f"s for {self._provider}"
        lanes = [lane for lane in self._lanes.values() if lane.queue]
        # A pause before another attempt stands in no lane: then all servers may be the one.
        servers = self._servers.values() if self._pauses else [lane.server for lane in lanes]
        held = max(servers, key=lambda server: server.held_until, default=None)
        if held is not None and held.held_until - now >= _NOTICEABLE_S:
            return f"waiting {held.held_until - now:.0f} {to}, as it asked{held.held_by}"
        for lane in lanes:
            # A full server ends its calls when it does: no number of seconds can be told.
            if lane.server.in_flight < lane.server.concurrency.limit:
                tokens = lane.queue.first().tokens
                wait, key = max(r.longest(tokens, now) for r in (self._rates, lane.rates))
                if wait >= _NOTICEABLE_S:
                    return f"waiting {wait:.0f} {to}, by {key}"
        if self._pauses and not lanes and not self.in_flight:
            until, reason = min(self._pauses.values())
            if until - now >= _NOTICEABLE_S:
                return f"waiting {until - now:.0f} {to}, before another attempt ({reason})"
        return ""

    def _close(self, failure: Failure, reason: str) -> None:
        """Send nothing more, and release all calls that wait for the provider."""
        why = self._unavailable.setdefault("", (failure, reason))
        waiting: list[asyncio.Future[Any]] = [*self._pauses]
        lanes = self._lanes.values()
        waiting += [self._next(lane).permit for lane in lanes for _ in range(len(lane.queue))]
        for future in waiting:
            if not future.done():
                future.set_exception(ProviderUnavailable(*why))

    def _describe_absence(self, error: CallError) -> str:
        why = "isn't ready" if error.status else "can't be reached"
        patient = error.starting and self._calls.patience > 0
        waited = f" within calls.patience={self._calls.patience:g} s" if patient else ""
        return f" {why}{waited}"

    def _too_long(self, hold_s: float, attempt: Attempt) -> str:
        words = f" ({attempt.status}: {attempt.detail})" if attempt.outcome != "ok" else ""
        return (
            f"{self._provider} asks to be left alone for {hold_s:,.0f} s{words}, longer than "
            f"calls.max_wait_s={self._calls.max_wait_s:g}"
        )

    def _lane(self, model: str, server: str) -> Lane:
        """Return the lane of a call; models without limits of their own share one."""
        model = model if model in self._limited else ""
        lane = self._lanes.get((model, server))
        return lane if lane is not None else self._open_lane(model, server)

    def _open_lane(self, model: str, server: str) -> Lane:
        calls = self._calls
        if server not in self._servers:
            # Simulated refusals are drawn by call: fewer calls at once would mend none.
            adapt = calls.adapt and self._provider != "simulated"
            limits = calls.start_concurrency, calls.max_concurrency, adapt
            self._servers[server] = Server(Concurrency(*limits))
        # By model and not by server: all servers of a fleet share the account's limits.
        rates = self._by_model.setdefault(model, Rates(calls, model, self._loop.time()))
        lane = self._lanes[model, server] = Lane(self._servers[server], rates, FairQueue())
        return lane

    def _give_back(self, permit: Permit) -> None:
        """Return everything that a permit took, since nothing was called."""
        permit.lane.rates.give_back(permit.units)
        self._rates.give_back(permit.units_of_all)
        self._end(permit.lane.server)

    def _admit(self, lane: Lane, tokens: int) -> Permit:
        lane.server.in_flight += 1
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        now = self._loop.time()
        return Permit(now, lane, lane.rates.take(tokens, now), self._rates.take(tokens, now))

    def _end(self, server: Server) -> None:
        server.in_flight -= 1
        self.in_flight -= 1
        self._serve()

    def _serve(self) -> None:
        """Admit calls as far as possible; come back when time alone admits the next one."""
        while self._waiting:
            if wait := self._serve_next():
                if wait < float("inf"):
                    self._come_back(wait)
                return

    def _serve_next(self) -> float:
        """Admit the first in line; else seconds until there may be one, infinity without any.

        Lanes take turns. What is kept back by its own server or model lets the other lanes pass,
        what is kept back by the provider's limits doesn't: a large call would wait for ever.
        """
        now, soonest = self._loop.time(), float("inf")
        for key, lane in self._lanes.items():
            while lane.queue and lane.queue.first().permit.done():  # given up
                self._next(lane)
            if not lane.queue:
                continue
            tokens = lane.queue.first().tokens
            wait = lane.wait(tokens, now)
            soonest = min(soonest, wait)
            if wait:
                continue
            if by_all := self._rates.wait(tokens, now):
                return by_all
            # Taken here and not where the caller wakes up: the next in line must see it as taken.
            self._next(lane).permit.set_result(self._admit(lane, tokens))
            self._lanes.move_to_end(key)
            return 0.0
        return soonest

    def _next(self, lane: Lane) -> WaitingCall:
        self._waiting -= 1
        return lane.queue.pop()

    def _come_back(self, wait: float) -> None:
        # One timer is enough: an earlier one would only find what this one finds.
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(wait, self._serve)


def _end(pause: "asyncio.Future[None]") -> None:
    if not pause.done():
        pause.set_result(None)
