"""Processes without chance, of any number of options, whose λ an estimator must give exactly."""

import math

import numpy as np
from generators import OPTIONS, ROUNDS, Process
from scipy.linalg import helmert

from plenum.dynamics.divergence import ZERO
from plenum.dynamics.fit import Floats


def oracle(
    rate: float = 0.05, level: float = 0.01, rounds: int = ROUNDS, options: int = OPTIONS
) -> Process:
    """Exact exponential separation, with zero variance: D(t) = level · e^{rate · t}, λ = rate.

    Replicates leave the centre along two opposite directions, half of them along each (one more
    along the first where R is odd), in even steps, so that the mean distance is exact.
    """
    growth = level * np.exp(rate * np.arange(1, rounds + 1))
    direction = helmert(options)[0]

    def draw(generator: np.random.Generator, replicates: int) -> Floats:
        steps = np.arange(replicates, dtype=float)
        apart = np.abs(steps[:, None] - steps).sum() / (replicates * (replicates - 1))
        places = (steps - steps.mean()) / apart
        return np.asarray(1 / options + places[:, None, None] * growth[:, None] * direction)

    return Process("oracle", growth, draw)


def chaotic_map(rounds: int = ROUNDS, options: int = OPTIONS) -> Process:
    """The doubling map x' = 2x mod 1 next to its cycle {1/3, 2/3}: λ = log 2 exactly.

    Replicates begin at random multiples of a step so small that none wraps round apart from the
    others within the run: distances double in every round. All values are dyadic, and so exact in
    floating point; they share half of the simplex between the first two options. There are 32
    places; beyond 32 replicates they are shared, and D is below `divergence`.

    Raises
    ------
    ValueError
        The run is so long that its first distances would fall below 1e-9 and count as zero.
    """
    step, places = 2.0 ** -(rounds + 7), 32
    if step * math.sqrt(0.5) < ZERO:
        raise ValueError(f"rounds: {rounds}; the doubling map is exact for at most 22 rounds")
    apart = (places + 1) / 3
    share = 0.5 if options > 2 else 1.0
    level = share * math.sqrt(2) * step * apart * np.exp2(np.arange(rounds, dtype=float))

    def draw(generator: np.random.Generator, replicates: int) -> Floats:
        place = np.resize(generator.permutation(places), replicates)
        x = 2.0**-50 * (2**50 // 3) + step * place
        path = np.empty((replicates, rounds))
        for t in range(rounds):
            path[:, t] = x
            x = 2 * x % 1
        rest = np.full((options - 2, replicates, rounds), 0.5 / max(options - 2, 1))
        return np.moveaxis(np.stack([share * path, share * (1 - path), *rest]), 0, 2)

    return Process("chaotic map", level, draw)
