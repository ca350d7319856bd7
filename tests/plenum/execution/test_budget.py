"""The budget: never exceeded, and never stopped short while a call may still fit."""

import asyncio
import random
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest
import virtual_clock
from hypothesis import given, settings
from hypothesis import strategies as st

from plenum.calls.api.prices import Price
from plenum.calls.budget import BudgetSpent, Ledger, compute_demand, tokens_at_most
from plenum.calls.chat import Chat, Message, Reply
from plenum.design.settings import Budget
from plenum.records.usage import Usage

DOLLAR = Price(1.0, 1.0, 1.0)  # a token costs a dollar
KEPT = Price(1.0, 1.0, 0.1, writing=0.25)
CHAT = Chat("m", (Message("user", "x" * 30),), 0.0, max_tokens=10, seed=1)
MOST = sum(tokens_at_most(CHAT))  # what it may use


def ledger(spent: Usage | None = None, **limits: Any) -> Ledger:
    return Ledger(Budget(**limits), lambda _: DOLLAR, spent)


def reply(tokens: int) -> Reply:
    """One that used this many tokens, and as many dollars."""
    return Reply("", tokens, 0, cost=float(tokens))


def run(scene: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    async def staged() -> Any:
        return await asyncio.wait_for(scene(), 10)

    return virtual_clock.run(staged())


def amount(limit: str, total: Usage) -> float:
    return float(getattr(total, limit))


def test_without_a_budget_nothing_is_reserved_and_nothing_refused() -> None:
    async def scene() -> None:
        free = ledger()
        for _ in range(100):
            assert await free.reserve(compute_demand(CHAT)) == Usage()
            free.settle(Usage(), reply(10**9), billed=False)
        assert free.refusal is None

    run(scene)


@pytest.mark.parametrize("limit", ["dollars", "tokens", "calls"])
@settings(max_examples=25)
@given(data=st.data())
def test_whatever_the_order_the_budget_is_never_exceeded(limit: str, data: st.DataObject) -> None:
    size = 1 if limit == "calls" else MOST
    most = data.draw(st.integers(0, 12 * size), label=limit)
    used = data.draw(st.lists(st.integers(0, MOST), min_size=1, max_size=20), label="used")
    ends = data.draw(st.lists(st.sampled_from("rbfc"), min_size=20, max_size=20), label="ends")
    seed = data.draw(st.integers(0, 2**16), label="order")

    async def scene() -> None:
        book, order = ledger(**{limit: most}), random.Random(seed)
        made: list[int] = []

        async def one(tokens: int, end: str) -> None:
            for _ in range(order.randrange(4)):
                await asyncio.sleep(0)
            try:
                reserved = await book.reserve(compute_demand(CHAT))
            except BudgetSpent:
                return
            made.append(tokens)
            for _ in range(order.randrange(6)):
                await asyncio.sleep(0)
            if end == "c":
                book.cancel(reserved)
            else:
                book.settle(reserved, reply(tokens) if end == "r" else None, billed=end == "b")
            assert amount(limit, book.spent) <= most + 1e-6

        await asyncio.gather(*(one(u, e) for u, e in zip(used, ends, strict=False)))
        assert amount(limit, book.spent) <= most + 1e-6
        if book.refusal is None:
            assert len(made) == len(used)  # who wasn't refused has called

    run(scene)


def test_a_call_that_does_not_fit_yet_waits_for_cheaper_ones_to_end() -> None:
    async def scene() -> None:
        book = ledger(tokens=MOST + 5)
        first = await book.reserve(compute_demand(CHAT))
        second = asyncio.create_task(book.reserve(compute_demand(CHAT)))
        await asyncio.sleep(0.01)
        assert not second.done()
        book.settle(first, reply(3), billed=False)
        assert (await second).tokens == MOST
        assert book.refusal is None

    run(scene)


def test_once_refused_nothing_is_called_any_more_even_if_it_were_cheaper() -> None:
    async def scene() -> None:
        book = ledger(tokens=MOST - 1)
        with pytest.raises(BudgetSpent):
            await book.reserve(compute_demand(CHAT))
        cheap = Chat("m", (), 0.0, max_tokens=1, seed=1)
        with pytest.raises(BudgetSpent):
            await book.reserve(compute_demand(cheap))

    run(scene)


def test_what_earlier_runs_used_counts() -> None:
    async def scene() -> None:
        book = ledger(spent=Usage(calls=2), calls=3)
        book.settle(await book.reserve(compute_demand(CHAT)), reply(1), billed=False)
        with pytest.raises(BudgetSpent):
            await book.reserve(compute_demand(CHAT))

    run(scene)


def test_a_model_that_costs_nothing_is_not_stopped_by_dollars() -> None:
    async def scene() -> None:
        book = Ledger(Budget(dollars=0.0), lambda _: Price(0.0, 0.0, 0.0))
        for _ in range(10):
            book.settle(await book.reserve(compute_demand(CHAT)), Reply("", 5, 5), billed=False)

    run(scene)


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"dollars": 30.0}, ["budget.dollars=30", "$0.0000", f"${MOST}.0000"]),
        ({"tokens": 30}, ["budget.tokens=30", "0 tokens", f"{MOST} tokens"]),
        ({"calls": 0}, ["budget.calls=0", "0 calls", "1 call"]),
        ({"calls": 0, "dollars": 999.0}, ["budget.calls=0"]),
    ],
    ids=str,
)
def test_the_refusal_names_the_limit_what_is_spent_and_what_to_do(
    limits: dict[str, Any], told: list[str]
) -> None:
    async def scene() -> str:
        book = ledger(**limits)
        with pytest.raises(BudgetSpent) as refused:
            await book.reserve(compute_demand(CHAT))
        assert book.refusal == str(refused.value)
        return str(refused.value)

    said = run(scene)
    assert all(part in said for part in told)
    assert "a larger budget goes on from here" in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "tokens"),  # as counted by GPT-4's tokenizer
    [
        ("The committee weighs who is reached first, and at which cost to the others.", 16),
        ("委员会权衡谁先得到帮助，以及其他人为此付出的代价。", 29),
        ("🏥🚑🧑‍⚕️💉🩺" * 6, 120),
    ],
    ids=["english", "chinese", "emoji"],
)
def test_the_estimate_of_a_prompt_is_one_from_above(text: str, tokens: int) -> None:
    many = Chat("m", (Message("user", text * 20),), 0.0, 10, 1)
    prompt, answer = tokens_at_most(many)
    assert answer == 10
    assert prompt >= tokens * 20


def test_the_worst_case_of_a_prompt_is_that_all_of_it_is_written_to_a_cache() -> None:
    prompt, answer = tokens_at_most(CHAT)
    book = Ledger(Budget(dollars=1.0), lambda _: KEPT)
    assert book.at_most(CHAT).dollars == pytest.approx(1.25 * prompt + answer)


def test_what_an_earlier_run_left_in_batches_is_set_aside_for_those_calls_alone() -> None:
    """Half the price; another call doesn't get it, the call itself does, also after a refusal."""
    call = replace(CHAT, session="c0-0")
    most = Usage(1, *tokens_at_most(CHAT), MOST / 2)
    held = {("c0-0", f"{CHAT.seed:016x}"): most}

    async def scene() -> None:
        limited = Ledger(Budget(dollars=MOST), lambda _: DOLLAR, Usage(1) + most, held)
        assert limited.spent == Usage(1)
        other = await limited.reserve(compute_demand(replace(CHAT, seed=2), batched=True))
        limited.settle(other, reply(MOST // 2), billed=False)
        with pytest.raises(BudgetSpent):
            await limited.reserve(compute_demand(replace(CHAT, seed=3), batched=True))
        assert await limited.reserve(compute_demand(call, batched=True)) == most
        limited.settle(most, reply(MOST // 2), billed=False)
        assert limited.spent.dollars <= MOST

    run(scene)
