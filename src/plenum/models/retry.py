"""Retries with exponential backoff and full jitter, honouring what the provider asks for."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from plenum.identity import generator
from plenum.models.chat import Answer, Attempt, CallError, Chat, ChatModel, Reply
from plenum.records import Failure


@dataclass(frozen=True)
class Policy:
    """How often and how patiently a call is tried.

    ``timeout_s`` bounds one attempt; the wait before attempt n is drawn uniformly from 0 to
    ``backoff_s * 2**(n-2)`` seconds, at most ``backoff_max_s``, and never below Retry-After.
    """

    max_attempts: int
    timeout_s: float
    backoff_s: float
    backoff_max_s: float


async def call(
    model: ChatModel, chat: Chat, policy: Policy, record: Callable[[int, Attempt], None]
) -> Answer:
    """Call until it succeeds, fails for good, or the attempts are used up.

    Parameters
    ----------
    record
        Is told of every attempt, with its number from 1, as soon as it has ended.

    Raises
    ------
    CallError
        The last attempt's error.
    """
    attempts: list[Attempt] = []

    def note(attempt: Attempt) -> None:
        attempts.append(attempt)
        record(len(attempts), attempt)

    for number in range(1, policy.max_attempts + 1):
        started, clock = time.time(), time.perf_counter()
        try:
            reply = await _bounded(model.attempt(chat, number), policy.timeout_s)
        except CallError as error:
            latency = time.perf_counter() - clock
            note(Attempt(error.failure, error.status, latency, started, error.detail))
            if not error.failure.transient or number == policy.max_attempts:
                raise
            await asyncio.sleep(_wait(policy, chat, number, error.retry_after))
        else:
            note(Attempt("ok", 200, time.perf_counter() - clock, started))
            return Answer(reply, tuple(attempts))
    raise AssertionError("max_attempts is at least 1")


async def _bounded(attempt: Awaitable[Reply], seconds: float) -> Reply:
    try:
        async with asyncio.timeout(seconds):
            return await attempt
    except TimeoutError:
        raise CallError(Failure.TIMEOUT, f"no answer within {seconds:g} s") from None


def _wait(policy: Policy, chat: Chat, number: int, retry_after: float | None) -> float:
    ceiling = min(policy.backoff_max_s, policy.backoff_s * 2 ** (number - 1))
    jittered = generator("backoff", chat.seed, number).uniform(0, ceiling)
    return max(float(jittered), retry_after or 0.0)
