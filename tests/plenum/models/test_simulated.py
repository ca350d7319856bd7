"""The simulated backend answers the real prompts: well-formed, repeatable, and ill on request."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plenum.calls.api.prices import Prices
from plenum.calls.backends import build_backend as build_any
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Chat, Reply, Response
from plenum.calls.simulated import SimulatedBackend
from plenum.committee import prompts
from plenum.committee import state as stateline
from plenum.committee.deliberation import Deliberation
from plenum.committee.prompts import quote_remark
from plenum.committee.state import State
from plenum.design.condition import Condition
from plenum.design.settings import Calls, Protocol, Simulated
from plenum.records.failures import Failure

Entry = dict[str, Any]
Make = Callable[..., Condition]

SCENARIOS = sorted(path.stem for path in (Path(__file__).parents[3] / "scenarios").glob("*.yaml"))


def changed(condition: Condition, rounds: int, **knobs: float) -> Condition:
    """A condition with another number of rounds and other knobs of its backend."""
    assert isinstance(condition.backend, Simulated)
    return replace(condition, rounds=rounds, backend=replace(condition.backend, **knobs))


def build(condition: Condition) -> SimulatedBackend:
    """The condition's own backend."""
    model = build_any(condition.backend, Calls(), Prices())
    assert isinstance(model, SimulatedBackend)
    return model


def now(answer: Coroutine[Any, Any, Response]) -> Reply:
    return asyncio.run(answer).reply


def deliberated(condition: Condition, replicate: int = 0) -> tuple[list[Entry], Entry]:
    """One replicate on the condition's own backend: its entries and its end."""
    return asyncio.run(_deliberated(condition, replicate))


async def _deliberated(condition: Condition, replicate: int) -> tuple[list[Entry], Entry]:
    backend, deliberation, entries = build(condition), Deliberation(condition, replicate), []
    while deliberation.ask is not None:
        response = await backend.attempt(deliberation.ask.chat, 1)
        entries.append(deliberation.answer(response.reply))
    assert deliberation.end is not None
    return entries, deliberation.end


def first_chat(condition: Condition) -> Chat:
    ask = Deliberation(condition, 0).ask
    assert ask is not None
    return ask.chat


def texts(entries: list[Entry]) -> list[str]:
    return [entry["text"] for entry in entries]


# --- repeatable --------------------------------------------------------------------------------


def test_without_noise_replicates_are_identical(condition: Make) -> None:
    still = changed(condition(), 6, noise=0)
    first, second = (texts(deliberated(still, replicate)[0]) for replicate in (0, 1))
    assert first == second


def test_a_call_is_answered_the_same_by_another_backend_in_another_order(condition: Make) -> None:
    base = changed(condition(), 2)
    chats, deliberation, backend = [], Deliberation(base, 0), SimulatedBackend(Simulated())
    while deliberation.ask is not None:
        chats.append(deliberation.ask.chat)
        deliberation.answer(now(backend.attempt(chats[-1], 1)))
    other = SimulatedBackend(Simulated())
    backward = [now(other.attempt(chat, 1)) for chat in reversed(chats)]
    assert backward[::-1] == [now(backend.attempt(chat, 1)) for chat in chats]


def test_noise_moves_parts_of_a_preference_and_a_word(condition: Make) -> None:
    chat = first_chat(changed(condition(), 1))
    plain = now(SimulatedBackend(Simulated(noise=0)).attempt(chat, 1)).text
    said, state = stateline.parse_answer(plain, 3)
    noise, moved = 0.2, []
    for seed in range(200):
        attempt = SimulatedBackend(Simulated(noise=noise)).attempt(replace(chat, seed=seed), 1)
        other_said, other_state = stateline.parse_answer(now(attempt).text, 3)
        steps = np.subtract(other_state.pref, state.pref) / 0.04
        np.testing.assert_allclose(steps, np.round(steps), atol=1e-6)
        # A synonym of two words shifts the rest, so words are compared as a set.
        assert len(set(said.split()) - set(other_said.split())) <= 1
        moved.append(np.square(steps).sum())
    parts = [int(p / 0.04 + 1e-9) for p in state.pref]
    # Part k leaves option i with probability noise, for each of two others alike: variance of
    # the three counts, summed over options.
    leave = noise * np.array(parts)
    arrive = (leave.sum() - leave) / 2
    variance = (leave * (1 - noise) + arrive * (1 - noise / 2)).sum()
    drift = np.square(arrive - leave).sum()
    assert np.mean(moved) == pytest.approx(variance + drift, rel=0.25)


# --- well-formed -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        ("protocol=no_feedback",),
        ("protocol=no_feedback", "rounds=1"),
        ("protocol.round_lines=true", "protocol.initial_state=even"),
        ("protocol.order=random", "roles=anonymous"),
        ("roles.agents=10", "roles=off"),
    ],
)
def test_every_variant_of_the_protocol_is_deliberated_without_a_repair(
    condition: Make, settings: tuple[str, ...]
) -> None:
    varied = condition("rounds=2", *settings)
    entries, end = deliberated(varied)
    assert end["status"] == "completed"
    assert len(entries) == varied.calls
    assert entries[0]["seat"] == varied.speaking_order[0].name


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_is_deliberated_without_a_repair(condition: Make, name: str) -> None:
    base = changed(condition(f"scenario={name}"), 4, noise=1)
    entries, end = deliberated(base)
    assert len(entries) == base.calls
    assert end["status"] == "completed"
    assert end["clerk_agrees"] is True


@pytest.mark.parametrize("votes", ["AABBC", "ABABB", "AAAAA", "AABB", "AAAB"])
def test_the_clerk_counts_as_the_tally_does(condition: Make, votes: str) -> None:
    base = replace(condition(), rounds=1, seats=condition().seats[: len(votes)])
    deliberation, backend, left = Deliberation(base, 0), build(base), list(votes)
    while deliberation.ask is not None:
        if deliberation.ask.kind == "ballot":
            ballot = json.dumps({"decision": left.pop(), "confidence": 50})
            deliberation.answer(Reply(ballot, 1, 1))
        else:
            deliberation.answer(now(backend.attempt(deliberation.ask.chat, 1)))
    assert deliberation.end is not None
    assert deliberation.end["clerk_agrees"] is True


def test_an_agent_votes_for_what_it_prefers(condition: Make) -> None:
    entries, _ = deliberated(changed(condition(), 3))
    last = {e["seat"]: e["state"]["pref"] for e in entries if e["kind"] == "turn"}
    votes = {e["seat"]: e["ballot"]["decision"] for e in entries if e["kind"] == "ballot"}
    assert votes == {seat: "ABC"[int(np.argmax(pref))] for seat, pref in last.items()}


@pytest.mark.parametrize("words", [1, 7, 15, 22, 39, 60, 110])
def test_an_argument_keeps_to_the_word_limit(condition: Make, words: int) -> None:
    short = replace(condition(), protocol=Protocol(argument_words=words))
    entries, _ = deliberated(changed(short, 3, noise=1))
    counts = [len(e["argument"].split()) for e in entries if e["kind"] == "turn"]
    assert min(counts) > 0
    assert max(counts) <= words


# --- reads what a model would read -------------------------------------------------------------

SAID = [
    quote_remark("Welfare", "Take option B (Public option)."),
    quote_remark("Rights", "Option A is fair."),
]
TABLE = {"Rights": State((0.6, 0.2, 0.2), 80, ("one", "two"))}


def chair(condition: Condition, said: list[str] = SAID, **knobs: float) -> tuple[float, ...]:
    """What the Chair prefers after reading this, without noise."""
    messages = prompts.turn_prompt(condition, condition.seats[0], said, TABLE)
    chat = Chat(condition.seats[0].model, messages, 0.0, 400, seed=1)
    backend = SimulatedBackend(replace(Simulated(noise=0), **knobs))
    return stateline.parse_answer(now(backend.attempt(chat, 1)).text, 3)[1].pref


def test_everything_that_an_agent_reads_and_every_knob_moves_it(condition: Make) -> None:
    names = ("gpt-4.1-mini", "gpt-4.1", "claude-sonnet-4.6", "gemini-2.5-flash", "grok-3")
    found = [chair(condition(f"model={name}")) for name in names]  # the first is the usual one
    found += [chair(condition(f)) for f in ("roles=ablate_chair", "model=mixed")]
    found += [chair(condition(), said) for said in ([], SAID[1:], SAID[::-1])]
    found += [chair(condition(), gain=2.0), *(chair(condition(), coupling=c) for c in (0.0, 2.0))]
    assert len(set(found[:5])) == 5
    assert found[0] not in found[1:]
    assert chair(condition(), SAID, coupling=0.0) == chair(condition(), [], coupling=0.0)
    assert chair(condition(), gain=0.0) == pytest.approx((1 / 3,) * 3, abs=1e-3)


def test_the_words_of_an_argument_move_the_next_speaker(condition: Make) -> None:
    base = changed(condition(), 1, noise=0)
    heard = []
    for argument in ("Think of the hospitals.", "Think of the taxpayers."):
        deliberation = Deliberation(base, 0)
        deliberation.answer(
            Reply(f'{argument}\nSTATE: pref=[0.4,0.3,0.3]; conf=60; tags=["a","b"]', 1, 1)
        )
        assert deliberation.ask is not None
        heard.append(now(build(base).attempt(deliberation.ask.chat, 1)).text)
    assert heard[0] != heard[1]


# --- ill on request ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rate", "reason"), [("malformed_rate", "parse"), ("refusal_rate", "refusal")]
)
def test_answers_that_are_always_unreadable_fail_the_replicate(
    condition: Make, rate: str, reason: str
) -> None:
    entries, end = deliberated(changed(condition(), 2, **{rate: 1.0}))
    assert (end["status"], end["reason"]) == ("failed", reason)
    assert [e["kind"] for e in entries] == ["turn", "turn_repair"]


def test_a_refusal_takes_no_position(condition: Make) -> None:
    chat = first_chat(changed(condition(), 1))
    text = now(SimulatedBackend(Simulated(refusal_rate=1.0)).attempt(chat, 1)).text
    assert "STATE" not in text
    assert "option" not in text


@pytest.mark.parametrize(
    ("rate", "failure"),
    [("timeout_rate", Failure.TIMEOUT), ("rate_limit_rate", Failure.RATE_LIMIT)],
)
def test_faults_are_errors_of_their_type(condition: Make, rate: str, failure: Failure) -> None:
    backend = SimulatedBackend(Simulated(**{rate: 1.0}))
    with pytest.raises(CallError) as raised:
        now(backend.attempt(first_chat(changed(condition(), 1)), 1))
    assert raised.value.failure is failure
    assert raised.value.failure.transient


def test_another_attempt_at_a_faulty_call_is_another_draw(condition: Make) -> None:
    backend, chat = (
        SimulatedBackend(Simulated(timeout_rate=0.5)),
        first_chat(changed(condition(), 1)),
    )
    outcomes = set()
    for number in range(1, 21):
        try:
            now(backend.attempt(chat, number))
            outcomes.add("ok")
        except CallError:
            outcomes.add("timeout")
    assert outcomes == {"ok", "timeout"}


def test_an_attempt_lets_others_go_on(condition: Make) -> None:
    """A backend that never waits would keep the event loop for one replicate after the other."""
    backend, chat = SimulatedBackend(Simulated()), first_chat(changed(condition(), 1))
    order: list[str] = []

    async def agent(name: str) -> None:
        for _ in range(3):
            await backend.attempt(chat, 1)
            order.append(name)

    async def both() -> None:
        await asyncio.gather(agent("a"), agent("b"))

    asyncio.run(both())
    assert order == ["a", "b"] * 3
