"""Retries: what is tried again, how long is waited, what is recorded."""

import asyncio
import time

import pytest

from plenum.models import Answer, Attempt, CallError, Chat, Message, Reply
from plenum.models.retry import Policy, _wait, call
from plenum.records import Failure

CHAT = Chat("m", (Message("user", "hello"),), 0.0, 10, seed=7)
QUICK = Policy(max_attempts=4, timeout_s=0.2, backoff_s=0.0, backoff_max_s=0.0)


class Scripted:
    """A backend whose attempts follow a script."""

    def __init__(self, *script: CallError | Reply | float) -> None:
        self.script = list(script)

    def check(self, models: tuple[str, ...]) -> None: ...

    async def close(self) -> None: ...

    async def attempt(self, chat: Chat, number: int) -> Reply:
        step = self.script[number - 1]
        if isinstance(step, float):
            await asyncio.sleep(step)
            return Reply("late", 1, 1)
        if isinstance(step, CallError):
            raise step
        return step


def attempts(backend: Scripted, policy: Policy = QUICK) -> tuple[list[Attempt], Answer | CallError]:
    seen: list[Attempt] = []
    try:
        reply = asyncio.run(call(backend, CHAT, policy, lambda _, a: seen.append(a)))
    except CallError as error:
        return seen, error
    return seen, reply


@pytest.mark.parametrize("reason", [Failure.RATE_LIMIT, Failure.TIMEOUT, Failure.SERVER])
def test_transient_failures_are_tried_again(reason: Failure) -> None:
    seen, reply = attempts(Scripted(CallError(reason, "x", 429), Reply("fine", 1, 1)))
    assert isinstance(reply, Answer)
    assert list(reply.attempts) == seen
    assert reply.latency_s == sum(a.latency_s for a in seen)
    assert [a.outcome for a in seen] == [reason, "ok"]


@pytest.mark.parametrize(
    "reason", [Failure.AUTH, Failure.REQUEST, Failure.CONTENT_FILTER, Failure.BUG]
)
def test_final_failures_are_not(reason: Failure) -> None:
    seen, error = attempts(Scripted(CallError(reason, "x"), Reply("never", 1, 1)))
    assert isinstance(error, CallError)
    assert [a.outcome for a in seen] == [reason]


def test_the_last_error_stands_when_the_attempts_are_used_up() -> None:
    seen, error = attempts(Scripted(*[CallError(Failure.SERVER, f"no {n}") for n in range(4)]))
    assert isinstance(error, CallError)
    assert error.detail == "no 3"
    assert len(seen) == 4


def test_an_attempt_that_hangs_is_a_timeout() -> None:
    seen, reply = attempts(Scripted(5.0, Reply("fine", 1, 1)))
    assert isinstance(reply, Answer)
    assert list(reply.attempts) == seen
    assert reply.latency_s == sum(a.latency_s for a in seen)
    assert seen[0].outcome == Failure.TIMEOUT
    assert 0.2 <= seen[0].latency_s < 2


def test_retry_after_is_honoured() -> None:
    started = time.monotonic()
    attempts(Scripted(CallError(Failure.RATE_LIMIT, "x", 429, retry_after=0.3), Reply("", 1, 1)))
    assert time.monotonic() - started >= 0.3


def test_the_backoff_grows_is_capped_and_jittered() -> None:
    policy = Policy(max_attempts=9, timeout_s=1, backoff_s=1.0, backoff_max_s=8.0)
    chats = [Chat("m", (), 0.0, 1, seed) for seed in range(400)]
    for number, ceiling in [(1, 1), (2, 2), (3, 4), (4, 8), (7, 8)]:
        waits = [_wait(policy, chat, number, None) for chat in chats]
        assert max(waits) <= ceiling
        assert abs(sum(waits) / len(waits) - ceiling / 2) < 0.1 * ceiling
