"""What a replicate's calls pass: the sweep's budget, then its provider's limits."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from plenum.design.condition import Calls
from plenum.execution.ledger import Ledger, Sum, tokens_at_most
from plenum.execution.limits import Limiter, Place, ProviderUnavailable
from plenum.models import Attempt, CallError, Chat, Response
from plenum.records import Failure

_MAY_BE_BILLED = (Failure.TIMEOUT, Failure.INTERRUPTED, Failure.BUG)
"""Outcomes after which the provider may have answered in full without our reading it."""


class Gates:
    """The limiters of a sweep by provider, and its ledger.

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

    def of(self, provider: str) -> Limiter:
        """A provider's limiter."""
        if provider not in self._by_provider:
            self._by_provider[provider] = Limiter(self._calls, provider)
        return self._by_provider[provider]

    def told(self) -> str:
        """Calls in flight and their limit, by provider."""
        return ", ".join(
            f"{name} {limiter.in_flight}/{limiter.limit}"
            for name, limiter in self._by_provider.items()
        )

    def waiting(self) -> list[str]:
        """What calls wait for, and for how long, by provider."""
        return [*filter(None, (limiter.waiting() for limiter in self._by_provider.values()))]


class Pass:
    """One replicate's way through the gates; it makes one call at a time.

    Parameters
    ----------
    gates
        The sweep's.
    provider
        Who answers for a model.
    line, index
        The condition and the replicate, for fairness.
    needs
        What a whole replicate takes, by estimate.
    models
        Those that it calls.
    """

    def __init__(
        self,
        gates: Gates,
        provider: Callable[[str], str],
        line: str,
        index: int,
        needs: Sum | None = None,
        models: Sequence[str] = (),
    ) -> None:
        self._gates, self._provider, self._models = gates, provider, models
        self._line, self._index = line, index
        self._needs = needs or Sum()
        self._passed = 0
        self._reserved = Sum()
        self._place: Place | None = None

    async def begin(self, passed: int = 0, calls: int = 1) -> None:
        """Take the replicate up: wait until the budget has room for it.

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
        left = max(calls - passed, 0) / calls
        await self._gates.ledger.begin(self, self._needs.share(left))
        for model in self._models:
            self._limiter(model).require_available()

    def end(self) -> None:
        """Give back what was kept free for the replicate."""
        self._gates.ledger.end(self)

    async def enter(self, chat: Chat) -> None:
        """Reserve what the call may cost, and wait for a place."""
        self._reserved = await self._gates.ledger.reserve(chat)
        rank, tokens = (-self._passed, self._index), sum(tokens_at_most(chat))
        try:
            self._place = await self._limiter(chat.model).enter(self._line, rank, tokens)
        except (asyncio.CancelledError, ProviderUnavailable):
            self._gates.ledger.cancel(self._reserved)
            raise

    async def pause(self, chat: Chat, seconds: float, reason: str) -> None:
        """Wait before another attempt at a call."""
        await self._limiter(chat.model).pause(seconds, reason)

    def give_up(self, chat: Chat, error: CallError, attempts: int) -> None:
        """Say that a call's attempts are used up; see :meth:`Limiter.give_up`."""
        self._limiter(chat.model).give_up(error, attempts)

    def leave(self, chat: Chat, attempt: Attempt, response: Response | None, hold_s: float) -> None:
        """Book what the call cost, and give the place back."""
        reply = response.reply if response else None
        used = reply.tokens_in + reply.tokens_out if reply else 0
        if _billed(attempt):  # then the provider may count them, too
            used = sum(tokens_at_most(chat))
        self._passed += reply is not None
        assert self._place is not None
        self._limiter(chat.model).leave(self._place, attempt, hold_s, used)
        self._gates.ledger.settle(self._reserved, reply, _billed(attempt), self)

    def _limiter(self, model: str) -> Limiter:
        return self._gates.of(self._provider(model))

    def billed(self, chat: Chat, attempt: Attempt) -> dict[str, Any]:
        """What a failed attempt may have cost all the same, for the call log."""
        if not _billed(attempt):
            return {}
        return self.at_most(chat)

    def at_most(self, chat: Chat) -> dict[str, Any]:
        """What a call takes at most, for the call log."""
        most = self._gates.ledger.at_most(chat)
        known = self._gates.ledger.price(chat.model) is not None
        return {"tokens_at_most": most.tokens, "cost_at_most": most.dollars if known else None}


def _billed(attempt: Attempt) -> bool:
    if not attempt.reached:
        return False
    return attempt.outcome in _MAY_BE_BILLED or (
        attempt.outcome in (Failure.SERVER, Failure.EMPTY) and attempt.status in (None, 200)
    )
