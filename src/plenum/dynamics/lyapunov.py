"""λ̂: the growth rate of divergence, a Lyapunov-style index."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from plenum.dynamics.divergence import pairwise_distances

WINDOW = (3, 20)
"""The papers' fit window: rounds 3 to 20, both included, counted from 1."""

FEW = 10
"""Below this many replicates an estimate carries the warning ``few_replicates``."""


@dataclass(frozen=True)
class LyapunovEstimate:
    """λ̂ with its uncertainty.

    Attributes
    ----------
    value
        Slope of log D(t), per round; NaN where it can't be estimated.
    se, ci_low, ci_high
        Delete-one jackknife standard error and 95 % interval with t(R-1).
    status
        ``ok``; ``identical``: all distances in the window are zero; ``short``: fewer than two
        rounds of the window have D > 0; ``single``: fewer than two replicates.
    warnings
        ``few_replicates``, ``zero_rounds``, ``no_interval``; a status other than ``ok`` stands
        here too.
    rounds_used, zero_rounds
        Rounds of the window that entered the fit, and those left out because D = 0.
    replicates
        The realised n.
    """

    value: float
    se: float
    ci_low: float
    ci_high: float
    status: str
    warnings: tuple[str, ...]
    rounds_used: int
    zero_rounds: int
    replicates: int


def lyapunov(ensemble: ArrayLike, window: tuple[int, int] = WINDOW) -> LyapunovEstimate:
    """Estimate λ̂ as the least-squares slope of log D(t) over a window of rounds.

    Rounds with D = 0 are left out and counted. The interval is the delete-one jackknife over
    replicates with t(R-1) quantiles: of the usual intervals it alone keeps its coverage on
    autocorrelated and diffusing ensembles.

    Parameters
    ----------
    ensemble
        Committee mean preferences, shape (R, T, K).
    window
        First and last round of the fit, counted from 1; rounds beyond T are ignored.

    Raises
    ------
    ValueError
        The ensemble or the window is malformed.
    """
    first, last = window
    if not 1 <= first < last:
        raise ValueError(f"a window is (first, last) with 1 <= first < last, not {window}")
    distances = pairwise_distances(ensemble)[:, :, first - 1 : last]
    replicates = distances.shape[0]
    if replicates < 2:
        return _none("single", 0, 0, replicates)
    total = distances.sum(axis=(0, 1)) / 2
    rounds = np.arange(first, first + total.size, dtype=float)
    used = int((total > 0).sum())
    zeros = int(total.size - used)
    if used == 0 and zeros:
        return _none("identical", 0, zeros, replicates)
    if used < 2:
        return _none("short", used, zeros, replicates)
    value = _slope(rounds, total)
    # D without replicate r: its R-1 pairs leave the sum.
    without = total[None, :] - distances.sum(axis=1)
    without[without < 1e-12 * np.maximum(total, 1.0)] = 0.0
    se = _jackknife_se([_slope(rounds, row) for row in without])
    margin = float(stdtrit(replicates - 1, 0.975)) * se
    return LyapunovEstimate(
        value=value,
        se=se,
        ci_low=value - margin,
        ci_high=value + margin,
        status="ok",
        warnings=_warnings(replicates, zeros, se),
        rounds_used=used,
        zero_rounds=zeros,
        replicates=replicates,
    )


def _slope(rounds: NDArray[np.float64], level: NDArray[np.float64]) -> float:
    """Least-squares slope of log(level) over the rounds where it is positive; scale-free."""
    positive = level > 0
    if positive.sum() < 2:
        return float("nan")
    x = rounds[positive] - rounds[positive].mean()
    return float(x @ np.log(level[positive]) / (x @ x))


def _jackknife_se(leave_one_out: list[float]) -> float:
    values = np.array(leave_one_out)
    if len(values) < 3 or not np.isfinite(values).all():
        return float("nan")
    deviations = values - values.mean()
    return float(np.sqrt((len(values) - 1) / len(values) * (deviations @ deviations)))


def _warnings(replicates: int, zeros: int, se: float) -> tuple[str, ...]:
    found = {
        "few_replicates": replicates < FEW,
        "zero_rounds": zeros > 0,
        "no_interval": bool(np.isnan(se)),
    }
    return tuple(name for name, holds in found.items() if holds)


def _none(status: str, used: int, zeros: int, replicates: int) -> LyapunovEstimate:
    nan = float("nan")
    warnings = (status, *("few_replicates",) * (replicates < FEW))
    return LyapunovEstimate(nan, nan, nan, nan, status, warnings, used, zeros, replicates)
