"""Retries with exponential backoff and full jitter, honouring what the provider asks for."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from plenum.base.identity import generator
from plenum.models.chat import Answer, Attempt, CallError, Chat, ChatModel, Gate
from plenum.records import Failure


@dataclass(frozen=True)
class Policy:
    """How often and how patiently a call is tried.

    ``timeout_s`` bounds one attempt, where it is given; the wait before attempt n is drawn
    uniformly from 0 to ``backoff_s * 2**(n-2)`` seconds, at most ``backoff_max_s``, and never below
    Retry-After.
    """

    max_attempts: int
    timeout_s: float | None
    backoff_s: float
    backoff_max_s: float


async def call(
    model: ChatModel,
    chat: Chat,
    policy: Policy,
    gate: Gate,
    failed: Callable[[Attempt], None],
    sending: Callable[[int], None] = lambda number: None,
) -> Answer:
    """Call until it succeeds, fails for good, or the attempts are used up.

    Parameters
    ----------
    gate
        Entered for each attempt, and not held while waiting for the next one.
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
    for number in range(1, policy.max_attempts + 1):
        try:
            return await _somewhere(model, chat, number, policy.timeout_s, gate, failed, sending)
        except CallError as error:
            if not error.failure.transient or number == policy.max_attempts:
                raise
            wait = _wait(policy, chat, number, error.retry_after)
            reason = error.status or error.failure
        await gate.pause(chat, wait, f"{reason}")
    raise AssertionError("max_attempts is at least 1")


async def _somewhere(
    model: ChatModel,
    chat: Chat,
    number: int,
    timeout_s: float | None,
    gate: Gate,
    failed: Callable[[Attempt], None],
    sending: Callable[[int], None],
) -> Answer:
    """Make an attempt; where nobody is at a server of a fleet, at the next one, as its limits let.

    Nothing was sent to the one that isn't there.
    """
    tried, server = set[str](), model.server(chat)
    while True:
        there = replace(chat, server=server) if server else chat
        try:
            return await _attempt(model, there, number, timeout_s, gate, failed, sending)
        except CallError as error:
            tried.add(server)
            server = model.server(chat) if server and not error.reached else ""
            if not server or server in tried:
                raise


async def _attempt(
    model: ChatModel,
    chat: Chat,
    number: int,
    timeout_s: float | None,
    gate: Gate,
    failed: Callable[[Attempt], None],
    sending: Callable[[int], None],
) -> Answer:
    await gate.enter(chat)
    sending(number)
    started, clock = time.time(), time.perf_counter()

    def ended(
        outcome: str,
        status: int | None,
        detail: str = "",
        reached: bool = True,
        server: str = chat.server,
    ) -> Attempt:
        latency = time.perf_counter() - clock
        return Attempt(number, outcome, status, latency, started, detail, reached, server)

    try:
        async with asyncio.timeout(timeout_s):
            response = await model.attempt(chat, number)
    except CallError as error:
        at = error.server or chat.server
        attempt = ended(error.failure, error.status, error.detail, error.reached, at)
        _leave(gate, chat, attempt, error, failed)
        raise
    except TimeoutError:
        late = CallError(Failure.TIMEOUT, f"no answer within {timeout_s or 0:g} s")
        _leave(gate, chat, ended(late.failure, None, late.detail), late, failed)
        raise late from None
    except asyncio.CancelledError:
        _leave(gate, chat, ended(Failure.INTERRUPTED, None), None, failed)
        raise
    except Exception as error:
        _leave(gate, chat, ended(Failure.BUG, None, type(error).__name__), None, failed)
        raise
    attempt = ended("ok", 200, server=response.server or chat.server)
    gate.leave(chat, attempt, response, response.hold_s)
    return Answer(response, attempt)


def _leave(
    gate: Gate,
    chat: Chat,
    attempt: Attempt,
    error: CallError | None,
    failed: Callable[[Attempt], None],
) -> None:
    gate.leave(chat, attempt, None, (error.retry_after or 0.0) if error else 0.0)
    failed(attempt)


def _wait(policy: Policy, chat: Chat, number: int, retry_after: float | None) -> float:
    ceiling = min(policy.backoff_max_s, policy.backoff_s * 2 ** (number - 1))
    jittered = generator("backoff", chat.seed, number).uniform(0, ceiling)
    return max(float(jittered), retry_after or 0.0)
