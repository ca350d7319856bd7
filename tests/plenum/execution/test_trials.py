"""A model that nobody can read is tried by a few replicates, and then by none."""

import asyncio
from collections.abc import Callable

import pytest

from plenum.calls.limits import ProviderUnavailable
from plenum.design.job import Job
from plenum.execution.trials import TRIED_BY, Trials

MODEL = "openai/m"


@pytest.fixture
def asked(job: Callable[..., Job]) -> Job:
    return job("backend=api", f"model.default={MODEL}")


async def play(trials: Trials, job: Job, index: int, outcome: str, began: list[int]) -> str:
    """One replicate: it asks twice, and its first answer has an outcome."""
    trial = trials.of(job, index)
    try:
        await trial.enter(MODEL)
        began.append(index)
        for _ in range(10):
            await asyncio.sleep(0)
        if outcome == "read":
            trial.note_pass([MODEL])
            await trial.enter(MODEL)
        elif outcome != "timeout":
            trial.note_failure(MODEL, outcome)
    except ProviderUnavailable as given_up:
        return str(given_up.failure)
    finally:
        trial.leave()
    return outcome


async def run(job: Job, outcomes: list[str]) -> tuple[list[str], list[int]]:
    """What became of replicates with such outcomes, and which of them asked."""
    trials, began = Trials(), list[int]()
    played = (play(trials, job, n, outcome, began) for n, outcome in enumerate(outcomes))
    return await asyncio.wait_for(asyncio.gather(*played), 10), began


def test_a_model_that_the_first_ones_cannot_read_is_asked_by_no_other(asked: Job) -> None:
    became, began = asyncio.run(run(asked, ["parse", "length"] * 50))
    assert began == list(range(TRIED_BY))
    assert became == ["parse", "length"] * (TRIED_BY // 2) + ["unread"] * (100 - TRIED_BY)


@pytest.mark.parametrize("place", range(TRIED_BY))
def test_one_that_gets_past_its_first_question_opens_it_for_all(asked: Job, place: int) -> None:
    outcomes = ["parse"] * 20
    outcomes[place] = "read"
    became, began = asyncio.run(run(asked, outcomes))
    assert (became, sorted(began)) == (outcomes, list(range(20)))


def test_what_fails_for_want_of_an_answer_gives_its_place_to_the_next(asked: Job) -> None:
    became, began = asyncio.run(run(asked, ["timeout"] * 7 + ["parse"] * 20))
    assert len(began) == 7 + TRIED_BY
    assert became.count("unread") == 20 - TRIED_BY


def test_settings_that_may_cut_answers_off_are_tried_apart(job: Callable[..., Job]) -> None:
    short = job("backend=api", f"model.default={MODEL}", "sampling.max_tokens=20")
    longer = job("backend=api", f"model.default={MODEL}", "sampling.max_tokens=400")

    async def both() -> list[str]:
        trials, began = Trials(), list[int]()
        first = [play(trials, short, n, "length", began) for n in range(8)]
        second = [play(trials, longer, n, "read", began) for n in range(8)]
        return await asyncio.gather(*first, *second)

    became = asyncio.run(both())
    assert became[TRIED_BY:8] == ["unread"] * (8 - TRIED_BY)
    assert became[8:] == ["read"] * 8


@pytest.mark.parametrize("settings", [(), ("backend=api", "calls.batch=true")], ids=str)
def test_simulated_agents_and_batches_are_not_tried(
    job: Callable[..., Job], settings: tuple[str, ...]
) -> None:
    _, began = asyncio.run(run(job(*settings), ["parse"] * 20))
    assert began == list(range(20))


@pytest.mark.needs("plenum_hosted")
def test_a_hosted_model_is_tried_by_as_many_as_decode_together(job: Callable[..., Job]) -> None:
    hosted = job("backend=hosted", "backend.slots=6", "model=tiny")
    _, began = asyncio.run(run(hosted, ["parse"] * 20))
    assert began == list(range(6))
