"""Exogenous randomness of an episode, the same for every policy under one seed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plenum.base.identity import generator, seed_for


@dataclass(frozen=True)
class Draws:
    """Named streams of uniforms: common random numbers for everything that a policy can't change.

    Each purpose, such as ``start``, ``report``, ``tie`` or ``policy``, has a stream of its own in
    every round.

    Parameters
    ----------
    names
        What the episode is called, such as task, seed and replicate. Nothing about agents,
        consensus or models belongs here: then two policies under one seed meet the same draws.
    reader
        The agent for whom reports are drawn alone; None for reports that all share.
    """

    names: tuple[str | int, ...]
    reader: int | None = None

    @classmethod
    def of_world(cls, task: str, seed: int, episode: int) -> "Draws":
        """The draws of an episode's world: they don't depend on who acts in it."""
        return cls(("world", task, seed, episode))

    def uniforms(
        self, purpose: str, round: int, size: int | tuple[int, ...]
    ) -> NDArray[np.float64]:
        """Uniform draws on [0, 1), whatever was asked for before.

        A longer array begins with a shorter one (for tuples: along the first axis), so that a
        row belongs to a thing, such as the id of what moves, however many there are.
        """
        alone = (
            ()
            if self.reader is None or not purpose.startswith("report")
            else ("reader", self.reader)
        )
        return generator(*self.names, purpose, round, *alone).random(size)

    def seed(self, purpose: str) -> int:
        """A 63-bit seed for a library that draws for itself."""
        return seed_for(*self.names, purpose)


def uniform_integer(uniform: float, least: int, most: int) -> int:
    """A uniform draw turned into a uniform whole number from ``least`` to ``most``."""
    return least + int(uniform * (most - least + 1))


def step(uniform: float, size: int) -> int:
    """A uniform draw turned into one of -size..-1 and 1..size; 0 where ``size`` is 0."""
    if size == 0:
        return 0
    index = int(uniform * 2 * size)
    return index - size + (index >= size)
