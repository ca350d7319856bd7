"""A replicate's way through budget and limits: what it takes on the way in, it gives back."""

import asyncio
from typing import Any

import pytest
import virtual_clock

from plenum.calls.admission import Admission, Ticket
from plenum.calls.api.prices import Price
from plenum.calls.budget import BudgetSpent, Ledger, tokens_at_most
from plenum.calls.chat import Attempt, Chat, Message, Reply, Response
from plenum.design.settings import Budget, Calls
from plenum.records.failures import Failure
from plenum.records.usage import Usage

CHAT = Chat("m", (Message("user", "x" * 300),), 0.0, max_tokens=100, seed=1)
MOST = sum(tokens_at_most(CHAT))
GOOD = Response(Reply("fine", 20, 10, cost=30.0))
LIMITED = Budget(tokens=10 * MOST)
BILLED = [
    (Failure.TIMEOUT, None),
    (Failure.INTERRUPTED, None),
    (Failure.BUG, None),
    (Failure.SERVER, None),  # a connection that broke: the answer may have been on its way
    (Failure.SERVER, 200),
    (Failure.EMPTY, 200),
]
FREE = [
    (Failure.RATE_LIMIT, 429),
    (Failure.SERVER, 500),
    (Failure.SERVER, 503),
    (Failure.AUTH, 401),
    (Failure.REQUEST, 400),
    (Failure.CONTENT_FILTER, 400),
]


def ended(outcome: str, status: int | None = 200) -> Attempt:
    return Attempt(1, outcome, status, 0.1, 0.0)


async def gates(budget: Budget = LIMITED, **calls: Any) -> Admission:
    return Admission(Calls(**calls), Ledger(budget, lambda _: Price(1.0, 1.0, 1.0)))


def one(of: Admission, line: str = "a", index: int = 0) -> Ticket:
    return Ticket(of, lambda model: "openai", line, index)


def test_an_answer_is_booked_by_what_it_used() -> None:
    async def scene() -> tuple[Usage, int]:
        shared = await gates()
        way = one(shared)
        await way.enter(CHAT)
        assert shared.limiter("openai").in_flight == 1
        way.leave(CHAT, ended("ok"), GOOD, 0.0)
        assert way.describe_billing(ended("ok")) == {}
        return shared.ledger.spent, shared.limiter("openai").in_flight

    assert virtual_clock.run(scene()) == (Usage(1, 20, 10, 30.0), 0)


@pytest.mark.parametrize(("outcome", "status"), [*BILLED, *FREE])
def test_what_may_have_been_billed_is_booked_in_full_and_logged(
    outcome: Failure, status: int | None
) -> None:
    """It is logged without a budget, too: one that is set for a later run has to know it."""
    billed = (outcome, status) in BILLED

    async def scene(budget: Budget) -> Usage:
        shared = await gates(budget)
        way = one(shared)
        await way.enter(CHAT)
        way.leave(CHAT, ended(outcome, status), None, 0.0)
        told = {"tokens_at_most": MOST, "cost_at_most": float(MOST)} if billed else {}
        assert way.describe_billing(ended(outcome, status)) == told
        return shared.ledger.spent

    spent = virtual_clock.run(scene(LIMITED))
    most = MOST if billed else 0
    assert (spent.dollars, spent.tokens, spent.calls) == (most, most, 1)
    assert virtual_clock.run(scene(Budget())) == Usage()


def test_a_call_that_does_not_fit_the_budget_takes_no_place() -> None:
    async def scene() -> None:
        shared = await gates(Budget(tokens=MOST - 1))
        with pytest.raises(BudgetSpent):
            await one(shared).enter(CHAT)
        assert shared.limiter("openai").in_flight == 0

    virtual_clock.run(scene())


def test_who_gives_up_waiting_for_a_place_gets_the_money_back() -> None:
    async def scene() -> None:
        shared = await gates(Budget(calls=2), max_concurrency=1, adapt=False)
        first = one(shared)
        await first.enter(CHAT)
        waiting = asyncio.create_task(one(shared, index=1).enter(CHAT))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        first.leave(CHAT, ended("ok"), GOOD, 0.0)
        await asyncio.wait_for(one(shared, index=2).enter(CHAT), 1)

    virtual_clock.run(scene())


def test_the_replicate_that_is_furthest_goes_first() -> None:
    async def scene() -> list[str]:
        shared = await gates(max_concurrency=1, adapt=False)
        far, near, order = one(shared, index=9), one(shared, index=0), []
        for _ in range(3):
            await far.enter(CHAT)
            far.leave(CHAT, ended("ok"), GOOD, 0.0)
        holder = one(shared, line="b")
        await holder.enter(CHAT)

        async def go(name: str, way: Ticket) -> None:
            await way.enter(CHAT)
            order.append(name)
            way.leave(CHAT, ended("ok"), GOOD, 0.0)

        tasks = [asyncio.create_task(go("near", near)), asyncio.create_task(go("far", far))]
        await asyncio.sleep(0)
        holder.leave(CHAT, ended("ok"), GOOD, 0.0)
        await asyncio.gather(*tasks)
        return order

    assert virtual_clock.run(scene()) == ["far", "near"]


def test_tokens_beyond_the_estimate_are_taken_from_the_minute() -> None:
    async def scene() -> None:
        shared = await gates(Budget(), tpm={"openai": 60 * MOST})
        way = one(shared)
        await way.enter(CHAT)
        way.leave(CHAT, ended("ok"), Response(Reply("fine", 3 * MOST, 0)), 0.0)
        with pytest.raises(TimeoutError):  # two more such calls are owed: two seconds
            await asyncio.wait_for(way.enter(CHAT), 1.5)

    virtual_clock.run(scene())
