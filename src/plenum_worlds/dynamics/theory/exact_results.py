"""Exact results on the theoretical model, among them that noise never helps it.

With ρ = 1-α-γ and κ = 1-γ, deviations from the mean, the mean around a fixed optimum, and the
mean's lag behind a moving one are independent first-order autoregressions (see the appendix,
docs/appendix/theory.md).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from plenum.dynamics import Estimate, Floats, estimate_mean
from plenum_worlds.dynamics.theory.grid import GridResult, ParameterGrid


def is_stable(alpha: ArrayLike, gamma: ArrayLike) -> NDArray[np.bool_]:
    """Return whether a stationary distribution exists: |1-γ| < 1 and |1-α-γ| < 1."""
    a, g = np.asarray(alpha, dtype=float), np.asarray(gamma, dtype=float)
    return np.asarray((np.abs(1 - g) < 1) & (np.abs(1 - a - g) < 1))


def half_normal(variance: ArrayLike) -> Floats:
    """Return E|z| of a normal z with mean 0: √(2 variance / π)."""
    return np.asarray(np.sqrt(2 * np.asarray(variance, dtype=float) / math.pi))


def compute_expected(
    grid: ParameterGrid, rounds: int, spread: float = 0.0
) -> tuple[Floats, Floats]:
    """Return exact E[D_opt] and E[mean deviation] over rounds 1 to T.

    Each has the grid's shape. Without shocks all states are normal, so that a half-normal mean per
    round is exact, on any horizon and even outside the stable region. With shocks D_opt has no such
    form and is NaN.

    Parameters
    ----------
    grid, rounds, spread
        As in :func:`plenum_worlds.dynamics.theory.model.simulate`.
    """
    alpha, gamma, freq, agents, beta = np.ix_(
        *(np.array(axis, dtype=float) for axis in _axes(grid))
    )
    apart, away = np.zeros(grid.shape), np.zeros(grid.shape)
    within = (1 - 1 / agents) * spread**2 + np.zeros(grid.shape)
    group = spread**2 / agents + np.zeros(grid.shape)
    with np.errstate(over="ignore"):
        for _ in range(rounds):
            within = (1 - alpha - gamma) ** 2 * within + beta**2 * (1 - 1 / agents)
            group = (1 - gamma) ** 2 * group + beta**2 / agents
            apart += half_normal(within) / rounds
            away += half_normal(within + group) / rounds
    return np.where(freq > 0, np.nan, away), apart


@dataclass(frozen=True)
class Monotonicity:
    """Result of testing whether noise improves performance in a simulated grid.

    A column is a combination of all parameters except β.

    Attributes
    ----------
    columns, best_at_zero
        Numbers of columns, and of those in which no β has a higher estimated performance than β =
        0. Unstable ones that overflow don't count.
    compared
        Pairs of a β > 0 with β = 0, over all columns.
    gain
        The largest estimated perf(β) - perf(0) of them, paired by run. It is the largest of many:
        its own interval and p are not adjusted for that.
    cell
        The parameters of that gain: alpha, gamma, shock_freq, agents, beta.
    p
        The smallest one-sided p for any β > 0 being better, times ``compared`` (Bonferroni), at
        most 1; NaN for a single run.
    """

    columns: int
    best_at_zero: int
    compared: int
    gain: Estimate
    cell: dict[str, float]
    p: float

    @property
    def share(self) -> float:
        """Share of columns that are best without noise, 0 to 1."""
        return self.best_at_zero / self.columns


def check_monotonicity(outcome: GridResult) -> Monotonicity:
    """Search for a best β > 0 (the claim at the end of the paper's Appendix D).

    In expectation there is none: with u the noise-free part of x_i - a* and v the noise of β = 1, v
    symmetric given u, E|u + βv| = E max(|u|, β|v|), which grows with β. Estimates to the contrary
    are chance; with ``antithetic=True`` the identity holds run by run.

    Raises
    ------
    ValueError
        The grid has no β = 0 or no other, or every column overflows.
    """
    grid = outcome.grid
    beta = np.array(grid.beta, dtype=float)
    if not ((beta == 0).any() and (beta > 0).any()):
        raise ValueError(f"beta: {list(grid.beta)}; 0 and at least one more")
    zero = int(np.flatnonzero(beta == 0)[0])
    positive = np.flatnonzero(beta > 0)
    known = np.asarray(np.isfinite(outcome.dopt_runs).all(axis=(-2, -1)))
    if not known.any():
        raise ValueError("every column of the grid overflows: none is stable")
    with np.errstate(invalid="ignore"):
        gains = outcome.dopt_runs[..., [zero], :] - outcome.dopt_runs[..., positive, :]
    gains = np.where(known[..., None, None], gains, -np.inf)
    average = gains.mean(axis=-1)
    best = np.unravel_index(int(average.argmax()), average.shape)
    place = (*best[:-1], positive[best[-1]])
    names = ("alpha", "gamma", "shock_freq", "agents", "beta")
    return Monotonicity(
        columns=int(known.sum()),
        best_at_zero=int((average[known] <= 0).all(axis=-1).sum()),
        compared=average[known].size,
        gain=estimate_mean(gains[best], "largest of many, paired by run"),
        cell={
            name: float(axis[i]) for name, axis, i in zip(names, _axes(grid), place, strict=True)
        },
        p=_smallest(gains[known]),
    )


def _smallest(gains: Floats) -> float:
    """Return the smallest one-sided p of a positive mean on the last axis, Bonferroni-adjusted."""
    runs = gains.shape[-1]
    if runs < 2:
        return float("nan")
    average, error = gains.mean(axis=-1), gains.std(axis=-1, ddof=1) / math.sqrt(runs)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(error > 0, average / error, np.sign(average) * np.inf)
    p = np.where(np.isnan(t), 1.0, stdtr(runs - 1, -t))
    return float(min(p.min() * p.size, 1.0))


def _axes(grid: ParameterGrid) -> tuple[tuple[float, ...], ...]:
    return (grid.alpha, grid.gamma, grid.shock_freq, grid.agents, grid.beta)
