"""Communication between agents: a topology, words that are lost, and limited memory."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from plenum.base.text import flatten
from plenum.design.ranges import require, require_one_of
from plenum_worlds.draws import Draws
from plenum_worlds.prompts import WorldRemark
from plenum_worlds.world import is_whole

TOPOLOGIES: Mapping[str, Callable[[int, int, int], bool]] = {
    "all": lambda i, j, agents: True,
    "ring": lambda i, j, agents: (i - j) % agents in (1, agents - 1),
    "star": lambda i, j, agents: 0 in (i, j),
    "pairs": lambda i, j, agents: i // 2 == j // 2,
}
"""Tests of whether agents i and j hear each other.

In a ring neighbours do; in a star the first agent and every other one; in pairs the first and the
second, the third and the fourth, and so on.
"""

LOST = "..."
"""Replacement for a lost word."""

Heard = tuple[tuple[int, ...], ...]
"""The agents that each agent hears, from 0, in ascending order and without itself."""


def find_heard(hears: Any, agents: int) -> Heard:
    """Return the agents that each agent hears.

    Parameters
    ----------
    hears
        A name of a topology, or for every agent the numbers, from 1, of those that it hears.

    Raises
    ------
    UserError
        It is neither.
    """
    key, every = "task.information.hears", range(agents)
    if isinstance(hears, str):
        require_one_of(key, hears, tuple(TOPOLOGIES))
        linked = TOPOLOGIES[hears]
        return tuple(tuple(j for j in every if j != i and linked(i, j, agents)) for i in every)
    lists = hears if isinstance(hears, Sequence) else []
    numbers = [each if isinstance(each, Sequence) else [0] for each in lists]
    require(
        len(lists) == agents
        and all(is_whole(n) and 1 <= n <= agents for each in numbers for n in each),
        f"{key}={hears}: allowed are {', '.join(TOPOLOGIES)}, and {agents} lists, one an agent, "
        f"with the numbers (1 to {agents}) of the agents that it hears",
    )
    return tuple(tuple(sorted({n - 1 for n in each} - {i})) for i, each in enumerate(numbers))


class Hearing:
    """The part of the discussion that has reached each agent.

    Parameters
    ----------
    heard
        The agents that each agent hears.
    view
        Number of remarks that an agent reads: the newest ones that reached it.
    lost
        Probability that a word of a message, or its proposal, is lost on the way to a listener.
    draws
        Random draws of the episode.
    """

    def __init__(self, heard: Heard, view: int, lost: float, draws: Draws) -> None:
        every = range(len(heard))
        self._listeners = [[i for i in every if i == j or j in heard[i]] for j in every]
        self._lost, self._draws = lost, draws
        self._remarks: list[deque[WorldRemark]] = [deque(maxlen=view) for _ in every]
        self._proposals: list[dict[int, Any]] = [{} for _ in every]

    def begin(self) -> None:
        """Begin a round, without any proposals."""
        self._proposals = [{} for _ in self._remarks]

    def say(self, speaker: int, turn: int, remark: WorldRemark) -> None:
        """Deliver a remark to its speaker and all that hear the speaker."""
        for listener in self._listeners[speaker]:
            purpose = f"lost {turn} {speaker} {listener}"
            got = remark if listener == speaker else self._receive(remark, purpose)
            self._remarks[listener].append(got)
            self._proposals[listener][speaker] = got.action

    def remarks(self, listener: int) -> tuple[WorldRemark, ...]:
        """Return the remarks that an agent reads."""
        return tuple(self._remarks[listener])

    def proposals(self, listener: int) -> tuple[Any, ...]:
        """Return the round's last proposal of every agent that this one heard, and its own."""
        return tuple(self._proposals[listener].values())

    def _receive(self, remark: WorldRemark, purpose: str) -> WorldRemark:
        if not self._lost:
            return remark
        words = flatten(remark.message).split()
        lost = self._draws.uniforms(purpose, remark.round, 1 + len(words)) < self._lost
        kept = (LOST if gone else word for word, gone in zip(words, lost[1:], strict=True))
        return replace(remark, action=None if lost[0] else remark.action, message=" ".join(kept))
