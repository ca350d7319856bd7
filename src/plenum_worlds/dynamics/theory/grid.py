"""The parameter grid of the theoretical model, and the results of its simulation."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from plenum.dynamics import Floats


def within(name: str, values: Sequence[float], low: float, high: float) -> None:
    """Refuse an empty list, or one with a value outside ``low`` to ``high``."""
    allowed = f"from {low:g} to {high:g}" if math.isfinite(high) else f"{low:g} or more"
    if not values:
        raise ValueError(f"{name}: no value; at least one, {allowed}")
    for value in values:
        if not (math.isfinite(value) and low <= value <= high):
            raise ValueError(f"{name}: {value:g}; {allowed}")


@dataclass(frozen=True)
class ParameterGrid:
    """Values of every parameter; the cells are all their combinations.

    Attributes
    ----------
    alpha
        Pull towards the group's mean, 0 to 1.
    gamma
        Pull towards the optimum, 0 or more. Stable for 0 < γ < 2 with 0 < α + γ < 2.
    shock_freq
        Probability of a shock per round, 0 to 1.
    agents
        Group sizes N, 1 or more.
    beta
        Scale of the noise, 0 or more.

    Raises
    ------
    ValueError
        A list is empty, or a value is outside its range.
    """

    alpha: tuple[float, ...]
    gamma: tuple[float, ...]
    shock_freq: tuple[float, ...]
    agents: tuple[int, ...]
    beta: tuple[float, ...]

    def __post_init__(self) -> None:
        tops = {"alpha": 1.0, "shock_freq": 1.0}
        for name in ("alpha", "gamma", "shock_freq", "beta"):
            within(name, getattr(self, name), 0.0, tops.get(name, math.inf))
        within("agents", self.agents, 1.0, math.inf)
        if any(n != int(n) for n in self.agents):
            raise ValueError(f"agents: {list(self.agents)}; whole numbers")

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of (alpha, gamma, shock_freq, agents, beta), the axes of every result."""
        axes = (self.alpha, self.gamma, self.shock_freq, self.agents, self.beta)
        return tuple(len(axis) for axis in axes)


FIGURE_6 = ParameterGrid(
    alpha=(0.1, 0.5, 0.9),
    gamma=(0.05, 0.2, 0.8),
    shock_freq=(0.0, 0.05, 0.2),
    agents=(3, 10, 30, 100),
    beta=(0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0),
)
"""A grid like that of Figure 6, whose values the paper doesn't state; dense at small β."""


@dataclass(frozen=True, eq=False)
class GridResult:
    """Results of a grid's simulation; every array has the grid's shape.

    Attributes
    ----------
    grid, rounds, runs, seed, spread, antithetic
        The arguments of the simulation.
    dopt_runs, dbar_runs
        Distance to the optimum and to the group's mean, averaged over rounds and agents of each
        run, shape (alpha, gamma, shock_freq, agents, beta, runs). Run r of all cells has the same
        draws, so that differences between cells are paired by run.
    """

    grid: ParameterGrid
    rounds: int
    runs: int
    seed: int
    spread: float
    antithetic: bool
    dopt_runs: Floats = field(repr=False)
    dbar_runs: Floats = field(repr=False)

    @property
    def dopt(self) -> Floats:
        """Mean distance to the optimum, D_opt."""
        return np.asarray(self.dopt_runs.mean(axis=-1))

    @property
    def dbar(self) -> Floats:
        """Mean deviation from the group's mean, the paper's d-bar."""
        return np.asarray(self.dbar_runs.mean(axis=-1))

    @property
    def perf(self) -> Floats:
        """Performance score, 1 - D_opt: at most 1, possibly negative."""
        return 1 - self.dopt

    @property
    def perf_se(self) -> Floats:
        """Standard error of ``perf`` and of ``dopt`` over runs; NaN for a single run."""
        return _error(self.dopt_runs)

    @property
    def dbar_se(self) -> Floats:
        """Standard error of ``dbar`` over runs; NaN for a single run."""
        return _error(self.dbar_runs)


def _error(runs: Floats) -> Floats:
    count = runs.shape[-1]
    if count < 2:
        return np.full(runs.shape[:-1], np.nan)
    with np.errstate(over="ignore", invalid="ignore"):  # unstable cells may overflow
        return np.asarray(runs.std(axis=-1, ddof=1) / math.sqrt(count))
