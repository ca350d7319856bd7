"""Admission of calls, by the sweep's budget and then by their provider's limits."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from plenum.calls.budget import Demand, Ledger, compute_demand
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Attempt, Chat, Reply
from plenum.calls.limits import Limiter, Permit, ProviderUnavailable
from plenum.design.settings import Calls
from plenum.records.failures import Failure
from plenum.records.usage import Usage

_MAY_BE_BILLED = (Failure.TIMEOUT, Failure.INTERRUPTED, Failure.BUG)
"""Outcomes after which the provider may have answered in full, unread by us."""


class Admission:
    """The limiters of a sweep by provider, and its budget's ledger.

    Parameters
    ----------
    calls
        The limits that the user states.
    ledger
        The budget.
    """

    def __init__(self, calls: Calls, ledger: Ledger) -> None:
        self._calls = calls
        self._by_provider: dict[str, Limiter] = {}
        self.ledger = ledger

    def limiter(self, provider: str) -> Limiter:
        """Return a provider's limiter."""
        if provider not in self._by_provider:
            self._by_provider[provider] = Limiter(self._calls, provider)
        return self._by_provider[provider]

    def status(self) -> str:
        """Count calls in flight and their limit, by provider."""
        return ", ".join(
            f"{name} {limiter.in_flight}/{limiter.limit}"
            for name, limiter in self._by_provider.items()
        )

    def describe_waits(self) -> list[str]:
        """Describe, by provider, the limits that calls wait for, and for how long."""
        return [*filter(None, (limiter.describe_waits() for limiter in self._by_provider.values()))]


class Ticket:
    """The admission of one replicate, which makes one call at a time.

    Parameters
    ----------
    admission
        The sweep's.
    provider
        Who answers for a model.
    line, index
        The condition and the replicate, for fairness.
    needs
        What a whole replicate takes, by estimate.
    models
        Those that it calls.

    Attributes
    ----------
    session
        The replicate's name, ``CONDITION-REPLICATE``.
    labels
        What the call log says of the last attempt next to its usual entries.
    """

    def __init__(
        self,
        admission: Admission,
        provider: Callable[[str], str],
        line: str,
        index: int,
        needs: Usage | None = None,
        models: Sequence[str] = (),
    ) -> None:
        self._admission, self._provider, self._models = admission, provider, models
        self._line, self._index = line, index
        self.session = f"{line}-{index}"
        self.labels: dict[str, Any] = {}
        self._needs = needs or Usage()
        self._passed = 0
        self._demand: Demand | None = None
        self._reserved = Usage()
        self._permit: Permit | None = None

    async def begin(self, passed: int = 0, calls: int = 1) -> None:
        """Start the replicate: wait until the budget has room for it.

        Parameters
        ----------
        passed
            Calls that it had made before, of ``calls`` in all; who is furthest goes first.

        Raises
        ------
        BudgetSpent
            There is no room for a further call.
        ProviderUnavailable
            It couldn't be finished: nothing more is sent to a provider of its models.
        """
        self._passed = passed
        # Of a replicate that is taken up again only the rest is still to be paid for.
        left = max(calls - passed, 0) / calls
        await self._admission.ledger.begin(self, self._needs * left)
        # After the wait, in which a provider may have been given up.
        for model in self._models:
            self._limiter(model).require_available(model)

    def end(self) -> None:
        """Release the budget that was kept for the replicate."""
        self._admission.ledger.end(self)

    async def admit(self, demand: Demand) -> None:
        """Reserve the highest cost of a call, and wait for a permit."""
        self._permit = None
        # Budget first: a permit that waits for money would keep others from calling.
        await self.reserve(demand)
        # The replicate that is furthest goes first, so that few are half done when a sweep stops.
        rank, limiter = (-self._passed, self._index), self._limiter(demand.model)
        try:
            at = demand.model, demand.server
            self._permit = await limiter.enter(self._line, rank, demand.tokens, *at)
        except (asyncio.CancelledError, ProviderUnavailable):
            # No call is made: what was set aside for it is free again.
            self._admission.ledger.cancel(self._reserved)
            raise

    async def reserve(self, demand: Demand) -> None:
        """Reserve the highest cost of a call in the budget."""
        self._demand = demand
        self._reserved = await self._admission.ledger.reserve(demand)

    def admit_now(self, demand: Demand) -> bool:
        """Do as :meth:`admit` if nothing has to be waited for; return whether it was done."""
        reserved = self._admission.ledger.reserve_now(demand)
        if reserved is None:
            return False
        at = demand.model, demand.server
        permit = self._limiter(demand.model).enter_now(demand.tokens, *at)
        if permit is None:
            # Both or none, since the next try reserves again.
            self._admission.ledger.cancel(reserved)
            return False
        self._demand, self._permit, self._reserved = demand, permit, reserved
        return True

    async def hold(self, model: str, seconds: float, reason: str) -> None:
        """Wait before another attempt at a call."""
        await self._limiter(model).pause(seconds, reason, model)

    async def give_up(self, model: str, error: CallError, attempts: int) -> None:
        """Report that a call's attempts are used up; see :meth:`Limiter.give_up`."""
        self._limiter(model).give_up(error, attempts, model)

    def release(self, attempt: Attempt, reply: Reply | None, hold_s: float) -> None:
        """Book the cost of the call that was admitted last, and return its permit."""
        demand, permit = self._demand, self._permit
        assert demand is not None
        self._permit = None
        used = reply.tokens_in + reply.tokens_out if reply else 0
        billed = self.may_be_billed(attempt)
        if billed:  # then the provider may count them, too
            used = demand.tokens
        # Answers alone bring a replicate further: `admit` ranks by them.
        self._passed += reply is not None
        if permit is not None:
            self._limiter(demand.model).leave(permit, attempt, hold_s, used, demand.model)
        self._admission.ledger.settle(self._reserved, reply, billed, self, attempt.reached)

    @property
    def counts_tokens(self) -> bool:
        """True if the budget needs the numbers of tokens that a server says."""
        return self._admission.ledger.counts_tokens

    @property
    def admitted(self) -> bool:
        """True while a call is under way."""
        return self._permit is not None

    def demand_of(self, chat: Chat) -> Demand:
        """Return what a call may use up."""
        return compute_demand(chat)

    def continues(self, attempt: Attempt) -> bool:
        """Return whether an attempt that was cut short goes on, for the next run to read."""
        return False

    def _limiter(self, model: str) -> Limiter:
        return self._admission.limiter(self._provider(model))

    def describe_billing(self, attempt: Attempt) -> dict[str, Any]:
        """Return what a failed attempt at the last call may have cost, for the call log."""
        return self.at_most() if self.may_be_billed(attempt) else {}

    def at_most(self) -> dict[str, Any]:
        """Return the highest usage of the call that was admitted last, for the call log."""
        assert self._demand is not None
        most = self._admission.ledger.price_of(self._demand)
        known = self._admission.ledger.price(self._demand.model) is not None
        return {"tokens_at_most": most.tokens, "cost_at_most": most.dollars if known else None}

    def may_be_billed(self, attempt: Attempt) -> bool:
        """Return whether the provider may charge for an attempt that failed."""
        if not attempt.reached:
            return False
        # Without a status, or with 200, the answer may have been complete before it was lost.
        return attempt.outcome in _MAY_BE_BILLED or (
            attempt.outcome in (Failure.SERVER, Failure.EMPTY) and attempt.status in (None, 200)
        )
