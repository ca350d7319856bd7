"""The theoretical model of consensus and diversity: agents that track a moving optimum.

No language model is in it. Each agent is a number that is drawn to the group's mean and to the
optimum, and disturbed by noise (The Hidden Strength of Disagreement, Appendix D)::

    x_i(t+1) = (1-α) x_i(t) + α μ(t) + γ [a*(t) - x_i(t)] + β ε_i(t),   ε ~ N(0, 1)
    a*(t+1)  = a*(t) + U[-1, 1] with probability shock_freq, else a*(t)

Distances to the optimum split exactly into four parts: of the mean or of an agent's deviation from
it, and driven (start and shocks) or noisy. β scales the noisy ones alone, so that one response
serves every β; α has no part in the mean; shocks have none in the deviations::

    μ' - a*'  = (1-γ) (μ - a*) - shock + β mean(ε)
    x_i' - μ' = (1-α-γ) (x_i - μ) + β (ε_i - mean(ε))
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from plenum.dynamics import Array, Floats
from plenum_worlds.dynamics.theory.grid import GridResult, ParameterGrid, within

_START, _NOISE, _SHOCKS = range(3)  # streams: each purpose has draws of its own

_AT_ONCE = 200_000
"""Number of distances held at once: with fewer, calls cost more; more don't fit a core's cache."""

_DRAWN = 2_000_000
"""Number of draws held at once."""


def simulate(
    grid: ParameterGrid,
    rounds: int = 200,
    runs: int = 100,
    seed: int = 0,
    *,
    spread: float = 0.0,
    antithetic: bool = False,
    dtype: DTypeLike = np.float32,
) -> GridResult:
    """Simulate every cell of a grid with common random numbers.

    Run r has one set of draws: its first N agents' noise and its shocks' times and sizes are the
    same in every cell, and the same whatever other cells the grid has. Shocks are nested: those
    of a low frequency also strike at a higher one. Rounds are streamed; held at once are about
    2,000,000 draws and, over cells, 200,000 distances (or those of one run, if more).

    Parameters
    ----------
    grid
        The cells.
    rounds
        T: updates of each run. Distances are measured after each update and shock, at t = 1 to T.
    runs
        Runs per cell.
    seed
        0 or more.
    spread
        x_i(0) ~ N(0, spread²), independent of everything else; with 0 all start on the optimum.
        a*(0) is 0.
    antithetic
        Average each run with its mirror image, whose noise has the opposite sign. The mean of
        |u + βv| and |u - βv| is max(|u|, β|v|).
    dtype
        Type of the one pass over all agents and cells; states are always float64. In float32 a
        run's means move by less than 1e-5 of their size.

    Raises
    ------
    ValueError
        ``rounds``, ``runs``, ``seed`` or ``spread`` is outside its range.
    """
    _check(rounds, runs, seed, spread)
    shape = (*grid.shape, runs)
    dopt, dbar = np.empty(shape), np.empty(shape)
    for n, agents in enumerate(grid.agents):
        cells, draws = len(grid.shock_freq) * len(grid.beta), agents + len(grid.shock_freq)
        step = max(min(_AT_ONCE // (cells * agents), _DRAWN // (rounds * draws)), 1)
        for first in range(0, runs, step):
            block = slice(first, min(first + step, runs))
            drawn = _Block(seed, range(block.start, block.stop), agents, rounds, spread, grid)
            for g, gamma in enumerate(grid.gamma):
                driven, noisy = drawn.of_the_mean(gamma)
                for a, alpha in enumerate(grid.alpha):
                    means = drawn.distances(1 - alpha - gamma, driven, noisy, antithetic, dtype)
                    dopt[a, g, :, n, :, block], dbar[a, g, :, n, :, block] = means
    return GridResult(grid, rounds, runs, seed, spread, antithetic, dopt, dbar)


@dataclass(frozen=True, eq=False)
class TheoryDraws:
    """The random draws of one run.

    These are standard normal ``start`` (N,) and ``noise`` (T, N), uniform numbers (T,) to compare
    with a shock's frequency, and sizes (T,) of shocks, uniform on [-1, 1].
    """

    start: Floats
    noise: Floats
    struck: Floats
    size: Floats

    def shocks(self, shock_freq: float) -> Floats:
        """Return shifts of the optimum after each round, shape (T,)."""
        return np.where(self.struck < shock_freq, self.size, 0.0)


def draw(seed: int, run: int, agents: int, rounds: int) -> TheoryDraws:
    """Return the draws of a run; those of an agent don't depend on the number of agents."""
    streams = [np.random.Generator(np.random.PCG64([seed, run, p])) for p in range(3)]
    shocks = streams[_SHOCKS].random((rounds, 2))
    return TheoryDraws(
        start=streams[_START].standard_normal(agents),
        noise=streams[_NOISE].standard_normal((agents, rounds)).T,
        struck=shocks[:, 0],
        size=2 * shocks[:, 1] - 1,
    )


class _Block:
    """The draws of some runs, and a group's responses to them."""

    def __init__(
        self, seed: int, runs: range, agents: int, rounds: int, spread: float, grid: ParameterGrid
    ) -> None:
        drawn = [draw(seed, run, agents, rounds) for run in runs]
        start = spread * np.array([d.start for d in drawn])
        noise = np.stack([d.noise for d in drawn], axis=1)
        self.spread, self.beta = spread, np.array(grid.beta, dtype=float)[:, None]
        shocks = np.array([[d.shocks(f) for d in drawn] for f in grid.shock_freq])
        self.shocks = np.moveaxis(shocks, -1, 0)
        self.start, self.noise = start.mean(axis=1), noise.mean(axis=2)
        self.own_start = start - self.start[:, None]
        self.own_noise = noise - self.noise[..., None]

    def of_the_mean(self, gamma: float) -> tuple[Floats, Floats]:
        """Return the mean's distance to the optimum.

        It has a driven part (T, shock_freq, runs) and a noisy one (T, runs).
        """
        start = np.tile(self.start, (self.shocks.shape[1], 1))
        nothing = np.zeros_like(self.start)
        return _response(1 - gamma, start, -self.shocks), _response(1 - gamma, nothing, self.noise)

    def distances(
        self, decay: float, driven: Floats, noisy: Floats, antithetic: bool, dtype: DTypeLike
    ) -> tuple[Floats, Floats]:
        """Return mean distances to optimum (shock_freq, beta, runs) and to mean (beta, runs).

        With u the driven and w the noisy part, |u + w| = 2 max(w, -u) + u - w, and over agents u
        and w average to the mean's parts: one pass over agents and cells is enough.
        """
        beta = self.beta[..., None].astype(dtype)
        # Without a start of their own, deviations from the mean are just proportional to β.
        scales = self.beta[..., None] if self.spread else np.ones((1, 1, 1))
        own_drive, own_noisy = self.own_start, np.zeros_like(self.own_start)
        total = np.zeros((driven.shape[1], len(beta), *own_noisy.shape), dtype)
        apart, here = np.zeros((len(scales), *own_noisy.shape)), np.empty_like(total)
        with np.errstate(over="ignore", invalid="ignore"):  # unstable cells may overflow
            for t, shaken in enumerate(self.own_noise):
                own_drive, own_noisy = decay * own_drive, decay * own_noisy + shaken
                u = (driven[t][..., None] + own_drive).astype(dtype)
                w = beta * (noisy[t][:, None] + own_noisy).astype(dtype)
                total += _greater(u[:, None], w, antithetic, here)
                apart += _absolute(own_drive, scales * own_noisy, antithetic)
            far = total.mean(axis=-1, dtype=float) / len(driven)
            if not antithetic:
                far = 2 * far + driven.mean(axis=0)[:, None] - self.beta * noisy.mean(axis=0)
            return far, apart.mean(axis=-1) / len(driven) * (1 if self.spread else self.beta)


def _response(keep: float, state: Floats, inputs: Floats) -> Floats:
    """Return states(t+1) = keep states(t) + inputs(t) for t = 1 to T, shaped as ``inputs``."""
    states = np.empty_like(inputs)
    with np.errstate(over="ignore", invalid="ignore"):
        for t, increment in enumerate(inputs):
            states[t] = state = keep * state + increment
    return states


def _greater(driven: Array, noisy: Array, antithetic: bool, out: Array) -> Array:
    """Return max(w, -u); mirrored max(|w|, |u|), which is the mean of |u + w| and |u - w|."""
    if antithetic:
        return np.maximum(np.abs(driven), np.abs(noisy), out=out)
    return np.maximum(-driven, noisy, out=out)


def _absolute(driven: Floats, noisy: Floats, antithetic: bool) -> Floats:
    """Return |u + w|, or its mean over both signs of the noise."""
    if antithetic:
        return np.maximum(np.abs(driven), np.abs(noisy))
    return np.abs(driven + noisy)


def simulate_plainly(
    grid: ParameterGrid, rounds: int = 200, runs: int = 100, seed: int = 0, *, spread: float = 0.0
) -> GridResult:
    """Simulate by the literal equation, with loops over cells, runs, rounds and agents.

    This is a reference for the results and the speed of :func:`simulate`, with the same parameters.
    """
    _check(rounds, runs, seed, spread)
    dopt, dbar = np.empty((*grid.shape, runs)), np.empty((*grid.shape, runs))
    for run, (n, agents) in itertools.product(range(runs), enumerate(grid.agents)):
        drawn = draw(seed, run, agents, rounds)
        start, noise = (spread * drawn.start).tolist(), drawn.noise.tolist()
        for f, shock_freq in enumerate(grid.shock_freq):
            shocks = drawn.shocks(shock_freq).tolist()
            for (a, alpha), (g, gamma), (b, beta) in itertools.product(
                enumerate(grid.alpha), enumerate(grid.gamma), enumerate(grid.beta)
            ):
                cell = (a, g, f, n, b, run)
                dopt[cell], dbar[cell] = _trajectory(alpha, beta, gamma, start, shocks, noise)
    return GridResult(grid, rounds, runs, seed, spread, False, dopt, dbar)


def _trajectory(
    alpha: float,
    beta: float,
    gamma: float,
    start: list[float],
    shocks: list[float],
    noise: list[list[float]],
) -> tuple[float, float]:
    """Return mean distances to optimum and mean of one run."""
    agents = range(len(start))
    states, optimum, far, apart = start, 0.0, 0.0, 0.0
    for shock, eps in zip(shocks, noise, strict=True):
        mean = sum(states) / len(agents)
        moved = []
        for i in agents:
            x = states[i]
            moved.append((1 - alpha) * x + alpha * mean + gamma * (optimum - x) + beta * eps[i])
        states = moved
        optimum += shock
        mean = sum(states) / len(agents)
        for x in states:
            far += abs(x - optimum)
            apart += abs(x - mean)
    return far / len(agents) / len(shocks), apart / len(agents) / len(shocks)


def _check(rounds: int, runs: int, seed: int, spread: float) -> None:
    within("rounds", [rounds], 1, math.inf)
    within("runs", [runs], 1, math.inf)
    within("seed", [seed], 0, math.inf)
    within("spread", [spread], 0, math.inf)
