"""Episodes of the worlds as the public Episode plays them: scripted, or answered by a function."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from world_episodes import Made, Play

from plenum.calls.chat import Reply
from plenum.design.job import Job
from plenum_worlds.condition import WorldCondition
from plenum_worlds.episode import Episode, make_world


@pytest.fixture(scope="session")
def play(job: Callable[..., Job]) -> Play:
    """``play("task=disaster", "task.policy=random", replicate=1)``: the records of the rounds.

    With ``actions`` agents are asked, without a discussion; it gives the actions of all of them by
    the number of the round, None for one that abstains.
    """

    def played(
        *overrides: str,
        replicate: int = 0,
        actions: Callable[[int], Sequence[Any]] | None = None,
    ) -> list[dict[str, Any]]:
        condition: Any = job(*overrides, *["task.turns=0"] * (actions is not None)).condition
        key, names = make_world(condition).key, [agent.name for agent in condition.agents]
        episode = Episode(condition, replicate)
        while (ask := episode.ask) is not None:
            assert actions is not None
            action = actions(ask.round)[names.index(ask.seat)]
            text = "" if action is None else json.dumps({key: action})
            episode.answer(Reply(text, 1, 1))
        return episode.rounds

    return played


@pytest.fixture(scope="session")
def made(job: Callable[..., Job]) -> Made:
    """``made("task=disaster")``: the condition in a world of a composed config."""

    def composed(*overrides: str) -> WorldCondition:
        condition = job(*overrides).condition
        assert isinstance(condition, WorldCondition)
        return condition

    return composed
