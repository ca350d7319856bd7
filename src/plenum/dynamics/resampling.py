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
from scipy.special import ndtr, ndtri

from plenum.dynamics.fit import WINDOW, Array, Fit, Floats, contrast_weights, fit_distances
from plenum.dynamics.pair_weights import draw_counts, draw_weights, weigh_pairs

DRAWS = 10_000
"""Default number of bootstrap draws and of reversals."""

SEED_DRAWS = 500
"""The papers' number of bootstrap draws."""

INTERVALS = ("jackknife", "percentile", "bca", "bootstrap_t", "seed_compatible")
"""Names of the 95 % intervals."""

_TIE = 1e-6
"""Draws this close to λ̂, in standard deviations of the draws, are as large as λ̂: of a few
replicates many draws take each once, and have λ̂ itself but for residue that differs by machine."""

_FEW = 16
"""Most replicates whose products are in double precision: up to here draws that take each once
are likely, and have to be told from draws close to λ̂."""

_FEWEST = 40
"""Fewer draws than this don't reach 2.5 % on either side."""

_TRIES = 50
"""Times that draws with D* = 0 are redrawn before they are given up."""


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
    slopes, errors
        λ̂* of every draw, and its infinitesimal jackknife standard error, shape (draws,); the
        errors are NaN where they weren't asked for.
    error
        The infinitesimal jackknife standard error of λ̂ itself.
    redrawn
        Draws with D* = 0 in a round that the fit uses, which were drawn again.
    """

    value: float
    left_out: Floats = field(repr=False)
    slopes: Floats = field(repr=False)
    errors: Floats = field(repr=False)
    error: float
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
            ``percentile``; ``seed_compatible``: the percentiles of the first 500 draws;
            ``bca``: bias corrected and accelerated (Efron 1987); ``bootstrap_t``.

        Returns
        -------
        Interval
            NaN for fewer than 40 draws, for fewer than three replicates, and where a replicate
            alone makes λ̂ exist: all draws then hold it, and would agree on a λ̂ that is none but
            its own. ``bootstrap_t`` is NaN too where more than 1.25 % of the draws have next to no
            standard error: its limits would be theirs.
        """
        if method not in INTERVALS[1:]:
            raise ValueError(f"interval {method!r}: one of {', '.join(INTERVALS[1:])}")
        few = len(self.slopes) < _FEWEST or len(self.left_out) < 3
        if few or not np.isfinite(self.left_out).all():
            return Interval(method, float("nan"), float("nan"))
        if method == "percentile":
            low, high = np.quantile(self.slopes, (0.025, 0.975))
        elif method == "seed_compatible":
            low, high = np.quantile(self.slopes[:SEED_DRAWS], (0.025, 0.975))
        elif method == "bca":
            low, high = np.quantile(self.slopes, self._bca())
        elif not (self.errors > 1e-3 * self.error).mean() > 0.9875:
            low = high = float("nan")
        else:
            with np.errstate(divide="ignore", invalid="ignore"):
                pivots = (self.slopes - self.value) / self.errors
            upper, lower = np.quantile(np.nan_to_num(pivots), (0.975, 0.025))
            low, high = self.value - upper * self.error, self.value - lower * self.error
        return Interval(method, float(low), float(high))

    def _bca(self) -> Floats:
        """Return the quantiles at which BCa reads the draws; the percentiles' if z0 is lost."""
        gaps, count = self.slopes - self.value, len(self.slopes)
        tied = np.abs(gaps) <= _TIE * self.slopes.std()
        below = (gaps[~tied] < 0).sum() / count + tied.mean() / 2
        bias = ndtri(np.clip(below, 0.5 / count, 1 - 0.5 / count))
        deviations = self.left_out.mean() - self.left_out
        spread = (deviations**2).sum()
        skew = (deviations**3).sum() / (6 * spread**1.5) if spread > 0 else 0.0
        normal = bias + ndtri(np.array([0.025, 0.975]))
        return np.asarray(ndtr(bias + normal / (1 - skew * normal)))


def bootstrap(
    ensemble: ArrayLike,
    window: tuple[int, int] = WINDOW,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    studentised: bool = True,
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
    studentised
        True if each draw gets its standard error, which ``bootstrap_t`` needs.
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
    fitted = fit_distances(ensemble, window)
    empty = np.empty(0)
    if fitted.replicates < 2 or fitted.used.sum() < 2:
        return Bootstrap(fitted.value, empty, empty, empty, float("nan"), 0)
    if dtype is None:
        dtype = np.float64 if fitted.replicates <= _FEW else np.float32
    engine = _Engine(fitted, studentised, np.dtype(dtype))
    blocks, order = draw_weights(fitted.replicates, draws, seed, engine.dtype)
    slopes, errors = (drawn[order] for drawn in engine.draw(blocks))
    slopes, errors, redrawn = _redraw(engine, fitted.replicates, slopes, errors, seed)
    return Bootstrap(fitted.value, fitted.left_out, slopes, errors, engine.error(), redrawn)


class _Engine:
    """The matrix products of one ensemble."""

    def __init__(self, fitted: Fit, studentised: bool, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self._studentised = studentised
        self._replicates, self._value = fitted.replicates, fitted.value
        kept = fitted.used
        level = fitted.total[kept]
        self._exact_weights = contrast_weights(fitted.rounds[kept])
        self._exact_pairs = (fitted.pairs[:, kept] / level).T
        self._residue = 8 * np.finfo(dtype).eps * np.abs(self._exact_weights).sum()
        self._weights = self._exact_weights.astype(dtype)
        self._pairs = np.ascontiguousarray(self._exact_pairs, dtype=dtype)
        rows = np.moveaxis(fitted.distances[:, :, kept] / level, 2, 0)
        self._rows = np.ascontiguousarray(rows.reshape(-1, fitted.replicates), dtype=dtype)

    def draw(self, blocks: Iterable[tuple[Array, Array]]) -> tuple[Floats, Floats]:
        """λ̂* and its standard error of each draw of the blocks: counts and pair weights."""
        parts = [self._part(counts, products) for counts, products in blocks]
        slopes, errors = (np.concatenate(part) for part in zip(*parts, strict=True))
        return slopes, errors

    def error(self) -> float:
        """Return the infinitesimal jackknife standard error of λ̂ itself."""
        once = np.ones((self._replicates, 1), int)
        return float(self.draw(weigh_pairs(once, self.dtype))[1][0])

    def _part(self, counts: Array, products: Array) -> tuple[Floats, Floats]:
        level = self._pairs @ products
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = (self._weights @ np.log(level)).astype(float)
            errors = self._errors(counts, level)
        slopes[~(level > 0).all(axis=0)] = np.nan
        near = np.abs(slopes) <= self._residue
        if near.any():  # in single precision these can't be told from λ̂, as limits by BCa need
            slopes[near] = self._exact_weights @ np.log(self._exact_pairs @ products[:, near])
        return slopes + self._value, errors

    def _errors(self, counts: Array, level: Array) -> Floats:
        """√ Σ w_r U_r² with U_r = Σ_t k_t (d w)_r / D*: the influence of one copy of r."""
        if not self._studentised:
            return np.full(counts.shape[1], np.nan)
        sums = (self._rows @ counts).reshape(len(level), self._replicates, -1)
        influence = np.einsum("trb,tb->rb", sums, self._weights[:, None] / level)
        return np.asarray(np.sqrt((counts * influence**2).sum(axis=0)), dtype=float)


def _redraw(
    engine: _Engine, replicates: int, slopes: Floats, errors: Floats, seed: int
) -> tuple[Floats, Floats, int]:
    """Draw those with D* = 0 again until none is left; give up all where one in 50 stays."""
    redrawn = 0
    for attempt in range(_TRIES):
        missing = np.flatnonzero(np.isnan(slopes))
        if not missing.size:
            return slopes, errors, redrawn
        redrawn += len(missing)
        counts = draw_counts(replicates, len(missing), seed, attempt + 1)
        slopes[missing], errors[missing] = engine.draw(weigh_pairs(counts, engine.dtype))
    kept = np.isfinite(slopes)
    if kept.mean() < 1 - 1 / _TRIES:
        kept[:] = False
    return slopes[kept], errors[kept], redrawn
