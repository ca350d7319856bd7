"""Calls of models, whoever makes them: what is noted, and what makes further calls pointless."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from plenum.base.errors import Stopped
from plenum.design.condition import Budget, Calls, Simulated
from plenum.execution.admission import Admission, Ticket
from plenum.execution.budget import Ledger
from plenum.execution.caller import Caller, run_together
from plenum.execution.limits import ProviderUnavailable
from plenum.models import CallError, Chat, Message, Response, backends
from plenum.models.api.prices import Prices
from plenum.models.simulated import SimulatedBackend
from plenum.records import CallLog, Failure

CHAT = Chat("m", (Message("user", "hello"),), 0.0, max_tokens=10, seed=1)
CALLS = Calls(max_attempts=2, backoff_s=0.0)
LABELS = {"replicate": 0, "call": "turn", "round": 1, "seat": "Chair"}
UNREACHED = CallError(Failure.SERVER, "nobody listens", reached=False)


class Scripted(SimulatedBackend):
    """A backend that answers as it is told, and counts what reaches it."""

    def __init__(self, *outcomes: Response | CallError) -> None:
        super().__init__(Simulated())
        self._outcomes = list(outcomes)
        self.reached = 0

    async def attempt(self, chat: Chat, number: int) -> Response:
        self.reached += 1
        outcome = self._outcomes.pop(0) if len(self._outcomes) > 1 else self._outcomes[0]
        if isinstance(outcome, CallError):
            raise outcome
        return outcome


def callers(model: Scripted, number: int, log: CallLog | None = None) -> list[Caller]:
    """One for each of so many questions, admitted together."""
    admission = Admission(CALLS, Ledger(Budget(), Prices().of))
    policy = replace(backends.policy(CALLS), backoff_max_s=0.0)
    tickets = [Ticket(admission, lambda name: "openai", "a", index) for index in range(number)]
    return [Caller(model, policy, ticket, log) for ticket in tickets]


def test_a_provider_that_is_not_there_is_asked_once_for_all_callers() -> None:
    async def scene() -> tuple[list[Any], int]:
        model = Scripted(UNREACHED)
        first, *others = callers(model, 20)
        ends = await asyncio.gather(first.ask(CHAT, LABELS), return_exceptions=True)
        asked = [caller.ask(CHAT, LABELS) for caller in others]
        return [*ends, *await asyncio.gather(*asked, return_exceptions=True)], model.reached

    ends, reached = asyncio.run(scene())
    assert all(isinstance(end, ProviderUnavailable) for end in ends)
    assert reached == CALLS.max_attempts


@pytest.mark.parametrize(
    "error",
    [
        CallError(Failure.AUTH, "no", status=401),
        CallError(Failure.BUDGET, "no", status=429),
        CallError(Failure.REQUEST, "no", status=404),
    ],
    ids=lambda error: str(error.failure),
)
def test_a_mistake_that_every_call_would_meet_stops_all(error: CallError) -> None:
    async def scene() -> None:
        model = Scripted(error)
        await run_together([c.ask(CHAT, LABELS) for c in callers(model, 5)], model)

    with pytest.raises(Stopped, match="model m: "):
        asyncio.run(scene())
