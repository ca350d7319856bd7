"""Bootstrap of λ̂ over replicates, as one product of matrices.

A bootstrap draw is a vector w of replicate counts. Its D*(t) is Σ w_i w_j d_ij(t) over pairs, but
for a factor that is the same in every round; so D* of many draws at once is a product of distances,
(rounds, pairs), with pair weights, (pairs, draws). The weights depend on the number of replicates
alone and are drawn once for all conditions. A pair of copies of one replicate adds a zero to D*: a
constant factor, again, that λ̂ doesn't see.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from plenum.dynamics.divergence import sort_replicates
from plenum.dynamics.fit import WINDOW, Array, Fit, Floats, contrast_weights, fit_distances
from plenum.dynamics.pair_weights import draw_counts, draw_weights, weigh_pairs

DRAWS = 10_000
"""Default number of bootstrap draws and of reversals: 250 lie beyond each limit of an interval."""

SEED_DRAWS = 500
"""The papers' number of bootstrap draws."""

INTERVALS = ("jackknife", "percentile", "seed_compatible")
"""Names of the 95 % intervals."""

_FEW = 16
"""Most replicates whose products are in double precision, which costs next to nothing there: limits
are then the same to the digits that are compared between machines."""

_FEWEST = 40
"""Fewer draws than this don't reach 2.5 % on either side."""

_TRIES = 50
"""Times that draws with D* = 0 are redrawn before they are given up. One in 50 is left after so
many where 93 % of all draws have D* = 0 (0.926^51)."""


@dataclass(frozen=True)
class Interval:
    """A 95 % interval and the name of its method; NaN where it doesn't exist."""

    method: str
    low: float
    high: float


@dataclass(frozen=True)
class Bootstrap:
    """Bootstrap draws of λ̂ and their intervals.

    Attributes
    ----------
    value, left_out
        λ̂, and λ̂ without each replicate, shape (R,).
    slopes
        λ̂* of every draw, shape (draws,).
    redrawn
        Draws with D* = 0 in a round that the fit uses, which were drawn again.
    """

    value: float
    left_out: Floats = field(repr=False)
    slopes: Floats = field(repr=False)
    redrawn: int

    @property
    def se(self) -> float:
        """Standard deviation of the draws."""
        return float(self.slopes.std(ddof=1)) if len(self.slopes) > 1 else float("nan")

    def interval(self, method: str) -> Interval:
        """One of the bootstrap's intervals.

        Parameters
        ----------
        method
            ``percentile``; ``seed_compatible``: the percentiles of the first 500 draws.

        Returns
        -------
        Interval
            NaN for fewer than 40 draws, for fewer than three replicates, and where a replicate
            alone makes λ̂ exist: all draws then hold it, and would agree on a λ̂ that is none but
            its own.
        """
        if method not in INTERVALS[1:]:
            raise ValueError(f"interval {method!r}: one of {', '.join(INTERVALS[1:])}")
        few = len(self.slopes) < _FEWEST or len(self.left_out) < 3
        if few or not np.isfinite(self.left_out).all():
            return Interval(method, float("nan"), float("nan"))
        drawn = self.slopes[:SEED_DRAWS] if method == "seed_compatible" else self.slopes
        low, high = np.quantile(drawn, (0.025, 0.975))
        return Interval(method, float(low), float(high))


def bootstrap(
    ensemble: ArrayLike,
    window: tuple[int, int] = WINDOW,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    dtype: DTypeLike | None = None,
) -> Bootstrap:
    """Resample replicates and estimate λ̂ of every draw.

    Parameters
    ----------
    ensemble
        Committee mean preferences, shape (R, T, K).
    window
        First and last round of the fit, counted from 1.
    draws, seed
        Number of draws, and their seed. Conditions of equal R share the same weights.
    dtype
        Of the products: by default float64 for at most 16 replicates and float32 for more.
        Distances are taken relative to D(t), so that float32 moves λ̂* by less than 1e-6.

    Returns
    -------
    Bootstrap
        Without draws where λ̂ doesn't exist, or where D* stays zero however often it is drawn.

    Raises
    ------
    ValueError
        The ensemble or the window is malformed, or there is no draw to make.
    """
    if draws < 1:
        raise ValueError(f"draws: {draws}; at least 1")
    fitted = fit_distances(sort_replicates(ensemble), window)
    empty = np.empty(0)
    if fitted.replicates < 2 or fitted.used.sum() < 2:
        return Bootstrap(fitted.value, empty, empty, 0)
    if dtype is None:
        dtype = np.float64 if fitted.replicates <= _FEW else np.float32
    engine = _Engine(fitted, np.dtype(dtype))
    blocks, order = draw_weights(fitted.replicates, draws, seed, engine.dtype)
    slopes, redrawn = _redraw(engine, fitted.replicates, engine.draw(blocks)[order], seed)
    return Bootstrap(fitted.value, fitted.left_out, slopes, redrawn)


class _Engine:
    """The matrix products of one ensemble."""

    def __init__(self, fitted: Fit, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self._value = fitted.value
        kept = fitted.used
        self._weights = contrast_weights(fitted.rounds[kept]).astype(dtype)
        # Relative to D(t): D*/D is near 1 in every round, which float32 holds well, and the slope
        # of its logarithm is λ̂* - λ̂.
        pairs = (fitted.pairs[:, kept] / fitted.total[kept]).T
        self._pairs = np.ascontiguousarray(pairs, dtype=dtype)

    def draw(self, blocks: Iterable[Array]) -> Floats:
        """λ̂* of each draw of the blocks of pair weights."""
        return np.concatenate([self._part(products) for products in blocks])

    def _part(self, products: Array) -> Floats:
        level = self._pairs @ products
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = (self._weights @ np.log(level)).astype(float)
        # The logarithm of a zero is infinite: NaN marks the draw for another try.
        slopes[~(level > 0).all(axis=0)] = np.nan
        return np.asarray(slopes + self._value)


def _redraw(engine: _Engine, replicates: int, slopes: Floats, seed: int) -> tuple[Floats, int]:
    """Draw those with D* = 0 again until none is left; give up all where one in 50 stays."""
    redrawn = 0
    for attempt in range(_TRIES):
        missing = np.flatnonzero(np.isnan(slopes))
        if not missing.size:
            return slopes, redrawn
        redrawn += len(missing)
        # A stream of its own for each try: the first one's draws would come again.
        counts = draw_counts(replicates, len(missing), seed, attempt + 1)
        slopes[missing] = engine.draw(weigh_pairs(counts, engine.dtype))
    kept = np.isfinite(slopes)
    # What draws lack then isn't chance: intervals of the rest would be of another process.
    if kept.mean() < 1 - 1 / _TRIES:
        kept[:] = False
    return slopes[kept], redrawn
