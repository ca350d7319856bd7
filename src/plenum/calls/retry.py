"""Retries with exponential backoff and full jitter, and the waits that providers ask for."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from plenum.base.identity import make_generator
from plenum.calls.budget import Demand
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Answer, Attempt, Chat, ChatModel, Reply
from plenum.records.failures import Failure

_AWAY_LEAST_S, _AWAY_MOST_S = 1.0, 10.0
"""Seconds between attempts at a server that isn't there yet. Both are plenum's own: a server that
takes a minute to load is met ten seconds late at most, and not asked more than once a second."""
_DOUBLINGS = 60
"""So many are beyond every ceiling; attempts at a server that starts may be thousands, and a float
overflows at 1,024 doublings."""


class CallTicket(Protocol):
    """Admission of one call at a time; :class:`plenum.calls.admission.Ticket` has the real one.

    It is asked by what a call may use up and not by the call, so that a ticket on another machine
    sends no prompts.
    """

    def demand_of(self, chat: Chat) -> Demand:
        """Return what a call may use up."""

    async def admit(self, demand: Demand) -> None:
        """Wait until the call may be made; each call that is admitted must be released."""

    async def hold(self, model: str, seconds: float, reason: str) -> None:
        """Wait before another attempt at a call; ``reason`` says how the last one ended."""

    def release(self, attempt: Attempt, reply: Reply | None, hold_s: float) -> None:
        """Report how the attempt ended, and how long the provider asks callers to wait."""


@dataclass(frozen=True)
class Policy:
    """The number of attempts at a call, and the waits between them.

    ``timeout_s`` bounds one attempt, if it is given. The wait before attempt n is drawn uniformly
    from 0 to ``backoff_s * 2**(n-2)`` seconds, at most ``backoff_max_s``, and never below
    Retry-After. Attempts at a server that is still starting go on until ``patience_s`` seconds have
    passed, and don't count once it is there.
    """

    max_attempts: int
    timeout_s: float | None
    backoff_s: float
    backoff_max_s: float
    patience_s: float = 0.0


async def call_with_retries(
    model: ChatModel,
    chat: Chat,
    policy: Policy,
    ticket: CallTicket,
    failed: Callable[[Attempt], None],
    sending: Callable[[int], None] = lambda number: None,
) -> Answer:
    """Call until it succeeds, fails for good, or the attempts are used up.

    Parameters
    ----------
    ticket
        Admits each attempt, and not held while waiting for the next one.
    failed
        Called with every failed attempt as soon as it has failed; the last, successful one is in
        the answer.
    sending
        Called with the number of every attempt that is sent.

    Raises
    ------
    CallError
        The last attempt's error.
    """
    attempts = _Attempts(model, ticket, failed, sending, policy.timeout_s)
    number = counted = 0
    clock = asyncio.get_running_loop().time
    away_since: float | None = None
    while True:
        number += 1
        try:
            server = model.server(chat)
            if server:
                return await attempts.make_at_a_server(chat, number, server)
            return await attempts.make(chat, number)
        except CallError as error:
            # Attempts at a server that is starting don't use up those of the call.
            counted += not error.starting
            if not error.starting:
                away_since = None
            elif away_since is None:
                away_since = clock()
            patient = away_since is not None and clock() - away_since < policy.patience_s
            # While it starts all attempts count, so that without patience they end as usual.
            made = number if error.starting else counted
            if not error.failure.transient or (made >= policy.max_attempts and not patient):
                raise
            wait = _wait(policy, chat, number, error)
            reason = f"{error.status or error.failure}"
            if error.starting:
                reason = f"it isn't ready; calls.patience={policy.patience_s:g}"
        await ticket.hold(chat.model, wait, reason)


@dataclass
class _Attempts:
    """The attempts of a call; see :func:`call_with_retries`."""

    model: ChatModel
    ticket: CallTicket
    failed: Callable[[Attempt], None]
    sending: Callable[[int], None]
    timeout_s: float | None

    async def make_at_a_server(self, chat: Chat, number: int, server: str) -> Answer:
        """Make an attempt at a server of a fleet; if it can't be reached, at the next one.

        Nothing was sent to the one that can't be reached; the limits of each hold.
        """
        tried = set[str]()
        while True:
            try:
                return await self.make(replace(chat, server=server), number)
            except CallError as error:
                tried.add(server)
                # What was reached may have been billed: only the caller may repeat that.
                server = "" if error.reached else self.model.server(chat)
                # Each server once: a fleet that is down as a whole is left to the next attempt.
                if not server or server in tried:
                    raise

    async def make(self, chat: Chat, number: int) -> Answer:
        """Make an attempt, and tell the ticket how it ended."""
        await self.ticket.admit(self.ticket.demand_of(chat))
        self.sending(number)
        started, clock = time.time(), time.perf_counter()

        def make_attempt(
            outcome: str,
            status: int | None,
            detail: str = "",
            reached: bool = True,
            server: str = chat.server,
        ) -> Attempt:
            latency = time.perf_counter() - clock
            return Attempt(number, outcome, status, latency, started, detail, reached, server)

        try:
            # The attempt alone: waiting for a permit may take hours, and is no fault of the
            # provider.
            async with asyncio.timeout(self.timeout_s):
                response = await self.model.attempt(chat, number)
        except CallError as error:
            at = error.server or chat.server
            attempt = make_attempt(error.failure, error.status, error.detail, error.reached, at)
            self._fail(attempt, error.retry_after)
            raise
        except TimeoutError:
            late = CallError(Failure.TIMEOUT, f"no answer within {self.timeout_s or 0:g} s")
            self._fail(make_attempt(late.failure, None, late.detail))
            raise late from None
        # Whatever ends an attempt, its permit is given back: else the limit would shrink for good.
        except asyncio.CancelledError:
            self._fail(make_attempt(Failure.INTERRUPTED, None))
            raise
        except Exception as error:
            self._fail(make_attempt(Failure.BUG, None, type(error).__name__))
            raise
        attempt = make_attempt("ok", 200, server=response.server or chat.server)
        self.ticket.release(attempt, response.reply, response.hold_s)
        return Answer(response, attempt)

    def _fail(self, attempt: Attempt, hold_s: float | None = None) -> None:
        # The permit first: writing the log needs none.
        self.ticket.release(attempt, None, hold_s or 0.0)
        self.failed(attempt)


def _wait(policy: Policy, chat: Chat, number: int, error: CallError) -> float:
    ceiling = min(policy.backoff_max_s, policy.backoff_s * 2.0 ** min(number - 1, _DOUBLINGS))
    # Drawn from the call's own seed: equal sweeps wait alike, and calls don't come back together.
    wait = float(make_generator("backoff", chat.seed, number).uniform(0, ceiling))
    if error.starting:  # it may be there any moment, and needn't be asked without a pause
        # The least wait holds from the last usual attempt on: before, a server that restarts at
        # once is met sooner.
        wait = max(min(wait, _AWAY_MOST_S), _AWAY_LEAST_S * (number >= policy.max_attempts))
    return max(wait, error.retry_after or 0.0)
