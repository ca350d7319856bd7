"""Exogenous randomness of an episode, the same for every policy under one seed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plenum.base.identity import derive_seed, make_generator


@dataclass(frozen=True)
class Draws:
    """Named streams of random uniforms for everything that a policy can't change.

    They are common random numbers. Each purpose, such as ``start``, ``report``, ``tie`` or
    ``policy``, has its own stream in every round.

    Parameters
    ----------
    names
        The name of the episode, such as task, seed and replicate. It says nothing about agents,
        consensus or models, so that two policies under one seed meet the same draws.
    reader
        The agent for whom reports are drawn separately; None for reports that all share.
    """

    names: tuple[str | int, ...]
    reader: int | None = None

    @classmethod
    def of_world(cls, task: str, seed: int, episode: int) -> "Draws":
        """Return the draws of an episode's world, which don't depend on its agents."""
        return cls(("world", task, seed, episode))

    def uniforms(
        self, purpose: str, round: int, size: int | tuple[int, ...]
    ) -> NDArray[np.float64]:
        """Return uniform draws on [0, 1), whatever was drawn before.

        A longer array begins with a shorter one (for tuples: along the first axis), so that a row
        can belong to a thing, such as the id of a disaster, however many there are.
        """
        alone = (
            ()
            if self.reader is None or not purpose.startswith("report")
            else ("reader", self.reader)
        )
        return make_generator(*self.names, purpose, round, *alone).random(size)

    def seed(self, purpose: str) -> int:
        """Return a 63-bit seed for a library that draws for itself."""
        return derive_seed(*self.names, purpose)


def uniform_integer(uniform: float, least: int, most: int) -> int:
    """Convert a uniform draw to a uniform whole number from ``least`` to ``most``."""
    return least + int(uniform * (most - least + 1))


def step(uniform: float, size: int) -> int:
    """Convert a uniform draw to one of -size..-1 and 1..size; 0 if ``size`` is 0."""
    if size == 0:
        return 0
    index = int(uniform * 2 * size)
    return index - size + (index >= size)
