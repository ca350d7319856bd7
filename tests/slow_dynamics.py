"""Slow references: the definitions, written with loops and without the package."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Window = tuple[int, int]
WINDOW = (3, 20)


def walks(replicates: int, options: int, seed: int, rounds: int = 20) -> Array:
    """Independent random walks."""
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(0, 0.01, (replicates, rounds, options)).cumsum(axis=1))


def separating(level: Array, replicates: int = 4, options: int = 3, seed: int = 7) -> Array:
    """Replicates whose pairwise distances are all proportional to ``level``."""
    points = np.random.default_rng(seed).normal(size=(replicates, options))
    points = points - points.mean(axis=1, keepdims=True)
    return np.asarray(1 / options + level[None, :, None] * points[:, None, :])


def slow_pairs(ensemble: Array) -> list[Array]:
    """The distances of every pair, each of shape (rounds,)."""
    found = []
    for i in range(len(ensemble)):
        for j in range(i + 1, len(ensemble)):
            d = np.array([math.dist(a, b) for a, b in zip(ensemble[i], ensemble[j], strict=True)])
            d[d < 1e-9] = 0.0
            found.append(d)
    return found


def slow_level(ensemble: Array) -> Array:
    """D(t), shape (rounds,)."""
    pairs = slow_pairs(ensemble)
    return np.asarray(sum(pairs) / len(pairs)) if pairs else np.zeros(ensemble.shape[1])


def slow_fit(rounds: Sequence[float], level: Sequence[float]) -> float:
    """The slope of log(level) over the rounds where it is positive, by a general solver."""
    kept = [(t, math.log(d)) for t, d in zip(rounds, level, strict=True) if d > 0]
    if len(kept) < 2:
        return float("nan")
    x, y = np.array(kept).T
    design = np.column_stack([np.ones_like(x), x])
    return float(np.linalg.lstsq(design, y, rcond=None)[0][1])


def slow_slope(ensemble: Array, window: Window = WINDOW) -> float:
    """λ̂."""
    first, last = window[0], min(window[1], ensemble.shape[1])
    level = slow_level(ensemble[:, first - 1 : last])
    return slow_fit(list(range(first, last + 1)), list(level))


def slow_left_out(ensemble: Array, window: Window = WINDOW) -> Array:
    """λ̂ without each replicate in turn."""
    every = [np.delete(ensemble, r, axis=0) for r in range(len(ensemble))]
    return np.array([slow_slope(part, window) for part in every])


def jackknife(left_out: Array) -> float:
    """The delete-one standard error, from the definition."""
    count = len(left_out)
    mean = sum(left_out) / count
    return math.sqrt((count - 1) / count * sum((v - mean) ** 2 for v in left_out))


def slow_jackknife(ensemble: Array, window: Window = WINDOW) -> float:
    """The delete-one standard error of λ̂."""
    return jackknife(slow_left_out(ensemble, window))
