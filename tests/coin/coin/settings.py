"""The kind's own settings, which are loaded with every config."""

from dataclasses import dataclass

from plenum.design.ranges import Probability
from plenum.design.schema import TaskConfig


@dataclass(frozen=True)
class CoinTaskConfig(TaskConfig):
    """The kind's own settings, below ``task`` in the config."""

    heads: Probability = 0.5
