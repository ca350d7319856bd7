"""Slots for replicates: bounded, in turn, and never lost."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from plenum.calls.limits.fair_queue import Slots


def run(places: int, replicates: dict[str, int], given_up: int = 0) -> tuple[list[str], int]:
    """The order in which conditions got places, and the most held at once."""
    order: list[str] = []
    held = most = 0

    async def one(pool: Slots, line: str, index: int) -> None:
        nonlocal held, most
        async with pool.take(line, index):
            order.append(f"{line}{index}")
            held += 1
            most = max(most, held)
            await asyncio.sleep(0)
            held -= 1

    async def everything() -> None:
        pool = Slots(places)
        tasks = [
            asyncio.create_task(one(pool, line, index))
            for line, count in replicates.items()
            for index in range(count)
        ]
        await asyncio.sleep(0)
        for task in tasks[:given_up]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        async with asyncio.timeout(1), pool.take("last", 0):
            pass

    asyncio.run(everything())
    return order, most


def test_conditions_take_turns_and_each_begins_with_its_first_replicate() -> None:
    order, _ = run(1, {"a": 3, "b": 2})
    assert order == ["a0", "b0", "a1", "b1", "a2"]


@given(
    places=st.integers(1, 5),
    replicates=st.dictionaries(st.sampled_from("abc"), st.integers(1, 6), min_size=1),
    given_up=st.integers(0, 8),
)
def test_never_more_than_there_are_and_none_is_lost(
    places: int, replicates: dict[str, int], given_up: int
) -> None:
    order, most = run(places, replicates, given_up)
    assert most <= places
    assert len(order) == len(set(order))
    assert len(order) >= sum(replicates.values()) - given_up
