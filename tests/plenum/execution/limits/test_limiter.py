"""One provider's limits on an event loop whose clock jumps."""

import asyncio
import re
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
import virtual_clock
from hypothesis import given, settings
from hypothesis import strategies as st
from virtual_clock import now

from plenum.calls.call_errors import CallError
from plenum.calls.chat import Attempt
from plenum.calls.limits.limiter import Limiter, ProviderUnavailable
from plenum.design.settings import Calls
from plenum.records.failures import Failure

FIXED = Calls(max_concurrency=3, adapt=False)


def ended(outcome: str = "ok", status: int | None = 200) -> Attempt:
    return Attempt(1, outcome, status, 0.0, 0.0)


async def call(
    limiter: Limiter,
    seconds: float = 0.0,
    *,
    line: str = "a",
    rank: tuple[int, ...] = (0, 0),
    tokens: int = 0,
    used: int | None = None,
    attempt: Attempt | None = None,
    hold_s: float = 0.0,
    seen: Callable[[], Any] = lambda: None,
) -> None:
    """One call from entering to leaving."""
    place = await limiter.enter(line, rank, tokens)
    seen()
    try:
        await asyncio.sleep(seconds)
    finally:
        limiter.leave(place, attempt or ended(), hold_s, tokens if used is None else used)


def run(calls: Calls, scene: Callable[[Limiter], Coroutine[Any, Any, Any]]) -> Any:
    """A scene with a limiter of its own."""

    async def staged() -> Any:
        return await scene(Limiter(calls, "openai"))

    return virtual_clock.run(asyncio.wait_for(staged(), 200))


# --- concurrency -------------------------------------------------------------------------------


@settings(max_examples=15)
@given(st.lists(st.sampled_from(["ok", "rate_limit", "server", "timeout", "cancel"]), max_size=40))
def test_whatever_happens_to_calls_every_place_is_given_back(kinds: list[str]) -> None:
    async def scene(limiter: Limiter) -> None:
        async def one(kind: str) -> None:
            task = asyncio.create_task(
                call(limiter, 0.0005, attempt=ended(kind, None) if kind != "ok" else None)
            )
            if kind == "cancel":
                await asyncio.sleep(0)
                task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            assert limiter.in_flight <= 4

        await asyncio.gather(*(one(kind) for kind in kinds))
        assert limiter.in_flight == 0
        await call(limiter)  # somebody can still enter

    run(Calls(max_concurrency=4, start_concurrency=4), scene)


@pytest.mark.parametrize(
    ("attempt", "cut"),
    [
        (ended(Failure.RATE_LIMIT, 429), True),
        (ended(Failure.SERVER, 503), True),
        (ended(Failure.SERVER, 529), True),
        (ended(Failure.SERVER, 500), False),
        (ended(Failure.SERVER, None), False),
        (ended(Failure.REQUEST, 400), False),
        (ended(Failure.EMPTY, 200), False),
    ],
    ids=lambda value: f"{value.outcome} {value.status}" if isinstance(value, Attempt) else "",
)
def test_only_an_overloaded_provider_is_spared(attempt: Attempt, cut: bool) -> None:
    async def scene(limiter: Limiter) -> int:
        await call(limiter, attempt=attempt)
        return limiter.limit

    assert run(Calls(start_concurrency=8), scene) == (4 if cut else 8)


def test_the_simulated_backend_bears_everything() -> None:
    async def scene() -> int:
        return Limiter(Calls(max_concurrency=500, start_concurrency=2), "simulated").limit

    assert virtual_clock.run(scene()) == 500


# --- those who give up -------------------------------------------------------------------------


def test_who_gives_up_does_not_hold_up_those_behind() -> None:
    """The first one waits for more tokens than the second needs."""

    async def scene(limiter: Limiter) -> float:
        await call(limiter, tokens=1000)  # the bucket holds 1000, and is empty now
        large = asyncio.create_task(call(limiter, tokens=1000))
        await asyncio.sleep(0)
        small = asyncio.create_task(call(limiter, tokens=50))
        await asyncio.sleep(0)
        large.cancel()
        began = now()
        await small
        return now() - began

    assert run(Calls(tpm={"openai": 60_000}), scene) == pytest.approx(0.05, abs=0.01)


# --- fairness ----------------------------------------------------------------------------------


def entered(limits: Calls, given: list[tuple[str, tuple[int, ...]]]) -> list[tuple[str, Any]]:
    """The order in which those who wait are admitted, one after the other."""

    async def scene(limiter: Limiter) -> list[tuple[str, Any]]:
        order: list[tuple[str, Any]] = []
        place = await limiter.enter("first", (0,), 0)

        async def one(line: str, rank: tuple[int, ...]) -> None:
            await call(limiter, line=line, rank=rank, seen=lambda: order.append((line, rank)))

        waiting = [asyncio.create_task(one(line, rank)) for line, rank in given]
        await asyncio.sleep(0)
        limiter.leave(place, ended(), 0.0, 0)
        await asyncio.gather(*waiting)
        return order

    return run(limits, scene)


def test_conditions_are_served_in_turn_and_the_furthest_replicate_first() -> None:
    one = Calls(max_concurrency=1, adapt=False)
    given = [("a", (0, n)) for n in range(4)] + [("a", (-7, 9)), ("b", (0, 0)), ("b", (0, 1))]
    order = entered(one, given)
    assert [line for line, _ in order] == ["a", "b", "a", "b", "a", "a", "a"]
    assert order[0] == ("a", (-7, 9))


def test_a_newcomer_does_not_overtake_those_who_wait() -> None:
    async def scene(limiter: Limiter) -> list[str]:
        order: list[str] = []
        place = await limiter.enter("a", (0,), 0)
        old = asyncio.create_task(call(limiter, line="a", seen=lambda: order.append("old")))
        await asyncio.sleep(0)
        limiter.leave(place, ended(), 0.0, 0)
        new = asyncio.create_task(call(limiter, line="b", seen=lambda: order.append("new")))
        await asyncio.gather(old, new)
        return order

    assert run(Calls(max_concurrency=1, adapt=False), scene) == ["old", "new"]


# --- holds -------------------------------------------------------------------------------------


def test_a_provider_that_wants_a_pause_gets_it_from_everybody() -> None:
    async def scene(limiter: Limiter) -> list[float]:
        began = now()
        await call(limiter, attempt=ended(Failure.RATE_LIMIT, 429), hold_s=0.3)
        found: list[float] = []
        await asyncio.gather(
            *(call(limiter, seen=lambda: found.append(now() - began)) for _ in range(3))
        )
        return found

    found = run(FIXED, scene)
    assert len(found) == 3
    assert found == pytest.approx([0.3] * 3)


def test_a_shorter_pause_does_not_end_a_longer_one() -> None:
    async def scene(limiter: Limiter) -> float:
        first, second = [await limiter.enter("a", (0,), 0) for _ in range(2)]
        began = now()
        limiter.leave(first, ended(Failure.RATE_LIMIT, 429), 0.3, 0)
        limiter.leave(second, ended(Failure.RATE_LIMIT, 429), 0.01, 0)
        await call(limiter)
        return now() - began

    assert run(FIXED, scene) == pytest.approx(0.3)


# --- per minute --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("calls", "number", "tokens"),
    [
        # 1200 a minute: 20 at once, and the other 20 in the second that fills the bucket.
        (Calls(rpm={"openai": 1200}), 40, 10**6),
        # 60,000 a minute: 1000 at once, and the other 1000 in a second.
        (Calls(tpm={"openai": 60_000}), 20, 100),
    ],
    ids=["requests", "tokens"],
)
def test_what_a_minute_may_see_is_kept(calls: Calls, number: int, tokens: int) -> None:
    async def scene(limiter: Limiter) -> float:
        began = now()
        await asyncio.gather(*(call(limiter, tokens=tokens) for _ in range(number)))
        return now() - began

    assert run(calls, scene) == pytest.approx(1.0)


def test_tokens_that_were_not_used_let_others_in() -> None:
    async def scene(limiter: Limiter) -> float:
        began = now()
        for _ in range(20):
            await call(limiter, tokens=1000, used=10)
        return now() - began

    assert run(Calls(tpm={"openai": 60_000}), scene) < 0.5


# --- providers that want to be left alone, or can't be reached ----------------------------------

REFUSED = Attempt(1, Failure.RATE_LIMIT, 429, 0.0, 0.0, "slow down")
UNREACHED = Attempt(1, Failure.SERVER, None, 0.0, 0.0, "refused", reached=False)


async def queued(limiter: Limiter, attempt: Attempt, hold_s: float = 0.0) -> asyncio.Task[None]:
    """A call that waits for a place, after another one that ended so."""
    place = await limiter.enter("a", (0, 0), 0)
    waiting = asyncio.create_task(call(limiter))
    limiter.leave(place, attempt, hold_s, 0)
    await asyncio.sleep(0)
    return waiting


@given(st.floats(901, 1e11))
@settings(max_examples=20)
def test_too_long_a_hold_ends_every_wait_at_once(hold_s: float) -> None:
    async def scene(limiter: Limiter) -> list[Any]:
        paused = asyncio.create_task(limiter.pause(600.0, "503"))
        waiting = await queued(limiter, REFUSED, hold_s)
        later = asyncio.create_task(call(limiter))
        return await asyncio.gather(paused, waiting, later, return_exceptions=True)

    ends = run(replace(FIXED, max_concurrency=1), scene)
    assert {type(end) for end in ends} == {ProviderUnavailable}
    assert {end.failure for end in ends} == {Failure.HELD}
    assert all("slow down" in str(end) for end in ends)


def test_a_provider_that_answers_others_is_not_given_up_for_one_call() -> None:
    gone = CallError(Failure.SERVER, "refused", reached=False)

    async def scene(limiter: Limiter) -> int:
        for attempt in (UNREACHED, ended(), UNREACHED):
            await call(limiter, attempt=attempt)
        with pytest.raises(ProviderUnavailable):
            limiter.give_up(gone, attempts=2)
        await call(limiter)  # this one got through
        for _ in range(2):
            await call(limiter, attempt=UNREACHED)
        with pytest.raises(ProviderUnavailable):
            limiter.give_up(gone, attempts=2)
        with pytest.raises(ProviderUnavailable) as refused:
            await call(limiter)
        assert refused.value.failure == Failure.UNREACHABLE
        return limiter.in_flight

    assert run(FIXED, scene) == 0


# --- who is cancelled, and what is waited for ---------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "tokens"),
    [({}, 0), ({"tpm": {"openai": 60_000}}, 1000), ({"rpm": {"openai": 60}}, 0)],
    ids=["place", "tokens", "request"],
)
def test_who_is_cancelled_as_the_place_is_given_returns_all(
    limits: dict[str, Any], tokens: int
) -> None:
    async def scene(limiter: Limiter) -> float:
        holder = await limiter.enter("a", (0,), 0)
        await asyncio.sleep(1.1)  # the bucket of 60 a minute holds one, and refills in a second
        waiting = asyncio.create_task(limiter.enter("a", (0,), tokens))
        await asyncio.sleep(0)
        limiter.leave(holder, ended(), 0.0, 0)  # gives the place to who waits, and isn't woken
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        began = now()
        await call(limiter, tokens=tokens)
        assert limiter.in_flight == 0
        return now() - began

    assert run(Calls(max_concurrency=1, adapt=False, **limits), scene) < 0.5


@pytest.mark.parametrize(
    ("calls", "hold_s", "told"),
    [
        (FIXED, 42.3, r"waiting 42 s for openai, as it asked \(429\)"),
        (Calls(rpm={"openai": 2}), 0.0, r"waiting (29|30) s for openai, by calls\.rpm\.openai"),
    ],
    ids=["hold", "limit"],
)
def test_it_is_told_what_is_waited_for_and_how_long(calls: Calls, hold_s: float, told: str) -> None:
    async def scene(limiter: Limiter) -> list[str]:
        said = [limiter.describe_waits()]
        waiting = await queued(limiter, REFUSED, hold_s)
        said.append(limiter.describe_waits())
        waiting.cancel()
        return said

    nothing, said = run(calls, scene)
    assert nothing == ""
    assert re.fullmatch(told, said)


# --- servers and models of their own ------------------------------------------------------------


def test_a_model_keeps_its_own_minute_and_the_providers() -> None:
    """20 at once and 20 a second for one model; the other one has what is left of 60."""
    limits = Calls(rpm={"openai": 3600, "openai/slow": 1200})

    async def scene(limiter: Limiter) -> dict[str, list[float]]:
        began, ends = now(), dict[str, list[float]](slow=[], quick=[])

        async def one(model: str) -> None:
            permit = await limiter.enter("a", (0,), 0, f"openai/{model}")
            ends[model].append(now() - began)
            limiter.leave(permit, ended(), 0.0, 0)

        await asyncio.gather(*(one(model) for model in ("slow", "quick") for _ in range(60)))
        return ends

    ends = run(limits, scene)
    assert max(ends["slow"]) == pytest.approx(2.0, abs=0.05)
    assert max(ends["quick"]) == pytest.approx(0.5, abs=0.05)
    both = sorted(ends["slow"] + ends["quick"])
    assert all(sum(t <= x < t + 1 for x in both) <= 121 for t in both)


def test_a_large_call_of_another_model_is_not_overtaken_for_ever() -> None:
    limits = Calls(tpm={"openai": 60_000, "openai/a": 10**9})

    async def scene(limiter: Limiter) -> float:
        await call(limiter, tokens=1000)
        began, over = now(), asyncio.Event()

        async def small() -> None:
            while not over.is_set():
                limiter.leave(await limiter.enter("x", (0,), 10, "openai/a"), ended(), 0.0, 10)

        others = [asyncio.create_task(small()) for _ in range(8)]
        await asyncio.sleep(0)
        limiter.leave(await limiter.enter("y", (0,), 900, "openai/b"), ended(), 0.0, 900)
        over.set()
        await asyncio.gather(*others)
        return now() - began

    assert run(limits, scene) < 3.0


def test_each_server_of_a_fleet_has_its_own_concurrency_and_its_own_holds() -> None:
    async def scene(limiter: Limiter) -> tuple[int, list[float]]:
        began, ends = now(), list[float]()

        async def one(server: str) -> None:
            permit = await limiter.enter("a", (0,), 0, "m", server)
            await asyncio.sleep(0.1)
            limiter.leave(permit, ended(), 0.0, 0)
            if server == "gpu2":
                ends.append(now() - began)

        held = await limiter.enter("a", (0,), 0, "m", "gpu1")
        limiter.leave(held, ended(Failure.RATE_LIMIT, 429), 1.0, 0)
        await asyncio.gather(*(one(server) for server in ("gpu1", "gpu2") for _ in range(6)))
        return limiter.limit, ends

    limit, ends = run(FIXED, scene)
    assert limit == 2 * 3
    assert sorted(ends) == pytest.approx([0.1] * 3 + [0.2] * 3)
