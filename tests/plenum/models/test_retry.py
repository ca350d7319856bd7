"""Retries: what is tried again, how long is waited, what is recorded."""

import asyncio

import pytest
import virtual_clock

from plenum.calls.call_errors import CallError
from plenum.calls.chat import Answer, Attempt, Chat, Message, Reply, Response
from plenum.calls.retry import Policy, _wait, call_with_retries
from plenum.design.settings import Sampling
from plenum.records.failures import Failure

CHAT = Chat("m", (Message("user", "hello"),), 0.0, 10, seed=7)
QUICK = Policy(max_attempts=4, timeout_s=0.2, backoff_s=0.0, backoff_max_s=0.0)


class Scripted:
    """A backend whose attempts follow a script."""

    def __init__(self, *script: Exception | Reply | Response | float) -> None:
        self.script = list(script)

    def check(self, models: tuple[str, ...], sampling: Sampling) -> None: ...

    def provider(self, model: str) -> str:
        return "scripted"

    def server(self, chat: Chat) -> str:
        return ""

    async def close(self) -> None: ...

    async def attempt(self, chat: Chat, number: int) -> Response:
        step = self.script[number - 1]
        if isinstance(step, float):
            await asyncio.sleep(step)
            return Response(Reply("late", 1, 1))
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, Response) else Response(step)


class Turnstile:
    """A gate that notes who passes, and how each attempt left it."""

    def __init__(self) -> None:
        self.inside = self.entered = 0
        self.left: list[tuple[str, bool, float]] = []

    async def enter(self, chat: Chat) -> None:
        self.entered += 1
        self.inside += 1

    async def pause(self, chat: Chat, seconds: float, reason: str) -> None:
        await asyncio.sleep(seconds)

    def leave(self, chat: Chat, attempt: Attempt, response: Response | None, hold_s: float) -> None:
        self.inside -= 1
        self.left.append((attempt.outcome, response is not None, hold_s))


def attempts(
    backend: Scripted, policy: Policy = QUICK, gate: Turnstile | None = None
) -> tuple[list[Attempt], Answer | BaseException]:
    """Every attempt, the failed ones and the good one, and how the call ended."""
    seen: list[Attempt] = []
    try:
        answer = asyncio.run(
            call_with_retries(backend, CHAT, policy, gate or Turnstile(), seen.append)
        )
    except (CallError, ArithmeticError) as error:
        return seen, error
    return [*seen, answer.attempt], answer


@pytest.mark.parametrize(
    "reason", [Failure.RATE_LIMIT, Failure.TIMEOUT, Failure.SERVER, Failure.EMPTY]
)
def test_transient_failures_are_tried_again(reason: Failure) -> None:
    seen, answer = attempts(Scripted(CallError(reason, "x", 429), Reply("fine", 1, 1)))
    assert isinstance(answer, Answer)
    assert answer.response.reply.text == "fine"
    assert [a.outcome for a in seen] == [reason, "ok"]
    assert [a.number for a in seen] == [1, 2]
    assert [a.status for a in seen] == [429, 200]


@pytest.mark.parametrize(
    "reason",
    [
        *(Failure.AUTH, Failure.REQUEST, Failure.CONTENT_FILTER, Failure.BUG, Failure.BUDGET),
        *(Failure.REFUSAL, Failure.LENGTH, Failure.PARSE, Failure.INTERRUPTED),
    ],
)
def test_final_failures_are_not(reason: Failure) -> None:
    seen, error = attempts(Scripted(CallError(reason, "x"), Reply("never", 1, 1)))
    assert isinstance(error, CallError)
    assert [a.outcome for a in seen] == [reason]


def test_the_last_error_stands_when_the_attempts_are_used_up() -> None:
    seen, error = attempts(Scripted(*[CallError(Failure.SERVER, f"no {n}") for n in range(4)]))
    assert (str(error), len(seen)) == ("no 3", 4)


def test_an_attempt_that_hangs_is_a_timeout() -> None:
    seen, answer = attempts(Scripted(5.0, Reply("fine", 1, 1)))
    assert isinstance(answer, Answer)
    assert [a.outcome for a in seen] == [Failure.TIMEOUT, "ok"]
    assert 0.2 <= seen[0].latency_s < 2
    assert answer.attempt.latency_s < 0.2
    assert seen[0].started <= seen[1].started


def test_an_error_of_the_code_is_recorded_as_a_bug_and_not_tried_again() -> None:
    seen, error = attempts(Scripted(ZeroDivisionError("oops"), Reply("never", 1, 1)))
    assert isinstance(error, ZeroDivisionError)
    assert [(a.outcome, a.detail) for a in seen] == [(Failure.BUG, "ZeroDivisionError")]


def test_a_cancelled_attempt_is_recorded_as_interrupted() -> None:
    seen: list[Attempt] = []
    gate = Turnstile()

    async def cancelled() -> None:
        task = asyncio.create_task(call_with_retries(Scripted(5.0), CHAT, QUICK, gate, seen.append))
        await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert [a.outcome for a in seen] == [Failure.INTERRUPTED]
    assert gate.left == [(Failure.INTERRUPTED, False, 0.0)]


def test_every_attempt_passes_the_gate_and_leaves_it() -> None:
    gate = Turnstile()
    script = (
        CallError(Failure.RATE_LIMIT, "x", 429, retry_after=0.02),
        5.0,
        CallError(Failure.SERVER, "x", 500),
        Response(Reply("fine", 1, 1), hold_s=3.0),
    )
    attempts(Scripted(*script), QUICK, gate)
    assert gate.inside == 0
    assert gate.left == [
        (Failure.RATE_LIMIT, False, 0.02),
        (Failure.TIMEOUT, False, 0.0),
        (Failure.SERVER, False, 0.0),
        ("ok", True, 3.0),
    ]


def test_the_gate_is_not_held_while_waiting_for_the_next_attempt() -> None:
    gate = Turnstile()
    script = Scripted(CallError(Failure.SERVER, "x", 500, retry_after=0.2), Reply("fine", 1, 1))

    async def waiting() -> int:
        task = asyncio.create_task(call_with_retries(script, CHAT, QUICK, gate, lambda _: None))
        await asyncio.sleep(0.1)
        inside = gate.inside
        await task
        return inside

    assert asyncio.run(waiting()) == 0
    assert gate.entered == 2


@pytest.mark.parametrize(("away_s", "patience_s"), [(100, 300), (400, 300), (100, 0)])
def test_a_server_that_is_not_there_yet_is_waited_for(away_s: float, patience_s: float) -> None:
    class Starting(Scripted):
        async def attempt(self, chat: Chat, number: int) -> Response:
            if virtual_clock.now() < away_s:
                raise CallError(Failure.SERVER, "refused", reached=False, starting=True)
            step = self.script.pop(0)
            if isinstance(step, Exception):
                raise step
            return Response(step)  # type: ignore[arg-type]

    seen = list[Attempt]()

    def call() -> Answer:
        # the attempts at nobody don't count: five more fail, and the sixth is answered
        model = Starting(*[CallError(Failure.SERVER, "500", 500)] * 5, Reply("fine", 1, 1))
        policy = Policy(6, None, 1.0, 60.0, patience_s)
        calling = call_with_retries(model, CHAT, policy, Turnstile(), seen.append)
        answer: Answer = virtual_clock.run(calling)
        return answer

    if away_s < patience_s:
        assert call().response.reply.text == "fine"
        assert [each.reached for each in seen[-5:]] == [True] * 5
    else:
        with pytest.raises(CallError, match="refused"):
            call()
    unreached = sum(not each.reached for each in seen)
    assert max(6, min(away_s, patience_s) / 10) <= unreached <= max(6, away_s)


def test_the_backoff_grows_is_capped_and_jittered() -> None:
    policy = Policy(max_attempts=9, timeout_s=1, backoff_s=1.0, backoff_max_s=8.0)
    chats = [Chat("m", (), 0.0, 1, seed) for seed in range(400)]
    for number, ceiling in [(1, 1), (2, 2), (3, 4), (4, 8), (7, 8)]:
        waits = [_wait(policy, chat, number, CallError(Failure.SERVER, "x")) for chat in chats]
        assert max(waits) <= ceiling
        assert abs(sum(waits) / len(waits) - ceiling / 2) < 0.1 * ceiling
