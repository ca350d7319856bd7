"""Divergence of runs in the same world: D(t) and λ̂ within worlds, averaged over them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from plenum.dynamics.divergence import divergence
from plenum.dynamics.estimate import Estimate, estimate_mean
from plenum.dynamics.fit import Floats
from plenum.dynamics.lyapunov import lyapunov


@dataclass(frozen=True)
class WorldDivergence:
    """D(t) and λ̂ of the runs within each world, averaged over worlds.

    Attributes
    ----------
    exponent
        λ̂ with a t interval over worlds; for one world, the interval of its own jackknife.
    divergence
        The mean of the worlds' D(t), up to the length of the shortest, shape (rounds,).
    level
        The mean over worlds of each world's mean D(t) over all of its rounds.
    warnings
        The warnings of any world's λ̂.
    worlds
        The number of worlds.
    """

    exponent: Estimate
    divergence: Floats = field(repr=False)
    level: float
    warnings: tuple[str, ...]
    worlds: int


def estimate_divergence(several: Sequence[Floats]) -> WorldDivergence:
    """Estimate how fast runs of the same world diverge.

    Parameters
    ----------
    several
        Runs of each world, shape (runs, rounds, components).

    Raises
    ------
    ValueError
        There is no world.
    """
    if not several:
        raise ValueError("several: there is no world with two runs")
    results = [lyapunov(runs) for runs in several]
    over = estimate_mean(np.array([result.value for result in results]), "t over worlds")
    if len(results) == 1:
        over = replace(over, ci_low=results[0].ci_low, ci_high=results[0].ci_high)
    levels = [divergence(runs) for runs in several]
    rounds = min(level.size for level in levels)
    return WorldDivergence(
        exponent=over,
        divergence=np.mean([level[:rounds] for level in levels], axis=0),
        level=float(np.mean([level.mean() for level in levels])),
        warnings=tuple(sorted({name for result in results for name in result.warnings})),
        worlds=len(results),
    )
