"""What a run will take, told before it: never less than it can need."""

from collections.abc import Callable

import pytest

from plenum.design.job import Job
from plenum.execution.cost_estimate import estimate_usage
from plenum_worlds.condition import WorldCondition

Make = Callable[..., Job]


@pytest.mark.parametrize("answers", ["free", "constrained"])
def test_a_committee_is_rehearsed_to_its_vote(job: Make, answers: str) -> None:
    condition = job(f"protocol.answers={answers}", "rounds=2").condition
    (use,) = estimate_usage(condition).values()
    assert use.calls == condition.calls


@pytest.mark.parametrize("volatility", ["low", "high"])
@pytest.mark.parametrize("consensus", ["implicit", "explicit", "central"])
@pytest.mark.parametrize("task", ["disaster", "misinformation", "public_goods"])
def test_a_world_is_rehearsed_to_its_last_round(
    job: Make, task: str, consensus: str, volatility: str
) -> None:
    """A network that breaks down would save calls that a better team needs."""
    given = (f"task={task}", f"consensus={consensus}", f"volatility={volatility}")
    condition = job(*given).condition
    assert isinstance(condition, WorldCondition)
    (use,) = estimate_usage(condition).values()
    assert use.calls == condition.calls
    assert use.tokens_out == condition.calls * condition.sampling.max_tokens


def test_what_a_world_takes_does_not_hang_on_its_seed_or_its_early_end(job: Make) -> None:
    given = ("task=misinformation", "volatility=high", "rounds=8")
    first, other, early = (
        estimate_usage(job(*given, *more).condition)
        for more in ((), ("seed=7",), ("task.world.stop=0.3",))
    )
    assert first == other == early


def test_scripted_policies_take_nothing(job: Make) -> None:
    assert estimate_usage(job("task=misinformation", "task.policy=random").condition) == {}
