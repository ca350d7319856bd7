"""Models of growth: walks, jumps and exponential growth, compared on replicates held out."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, stdtr

from plenum.dynamics.divergence import as_ensemble
from plenum.dynamics.fit import WINDOW, Floats, fit_distances

MODELS = ("walk", "jumps", "growth")
"""The models, in the order of all arrays."""

LEVEL = 0.025
"""A model is picked if it predicts better than each other one at this level, one-sided: picks are
then wrong in at most 5 % of the draws of every process (docs/appendix/estimates.md)."""

LEAST = 10
"""The fewest replicates with which a model is picked."""

_PARTS = 10
_STEPS = 25
_RANGE = (np.median, np.max)
_RESOLUTION = 1e-3
"""Stated preferences are rounded: nothing is known of smaller distances."""

_SHAPES = (0.05, 500.0)
_FAR, _PLACE = 9.0, 4.0
"""A basin is so many times as far, squared, as the spread around the start, and the squared
distances of those in it spread by less than their mean / √4."""

_SHARES = np.linspace(0, 1, 201)
_RATES = np.linspace(0, 0.5, 251)
_HAZARDS = np.geomspace(1e-4, 0.5, 120)

KeptMask = NDArray[np.bool_]
"""True for the replicates that a fit uses, shape (fits, replicates)."""


@dataclass(frozen=True)
class GrowthFit:
    """Models of how replicates move apart, and which of them the data tell apart.

    Attributes
    ----------
    pick
        ``walk``, ``jumps`` or ``growth``: it predicts replicates that were held out better than
        both others do. Empty where the data don't tell, and where D(t) doesn't grow.
    spread, diffusion
        Of walks: the root mean square distance is √(spread² + diffusion² · t).
    hazard, distance, noise
        Of jumps: their probability a round, how far they lead, and the root mean square distance
        before any.
    rate
        Of exponential growth, per round.
    held_out
        Mean log likelihood of a replicate that was held out, minus that of the best model, in the
        order of `MODELS`: 0 for the best.
    p
        One-sided, of the best model against each other one: that it doesn't predict better; 1 for
        itself. Shape (3,).
    replicates
        The realised n.
    """

    pick: str = ""
    spread: float = math.nan
    diffusion: float = math.nan
    hazard: float = math.nan
    distance: float = math.nan
    noise: float = math.nan
    rate: float = math.nan
    held_out: Floats = field(default_factory=lambda: np.full(3, np.nan))
    p: Floats = field(default_factory=lambda: np.full(3, np.nan))
    replicates: int = 0

    @property
    def best(self) -> str:
        """The model that predicts best, picked or not; empty without a fit."""
        return MODELS[int(np.argmax(self.held_out))] if np.isfinite(self.held_out).all() else ""


def compare_growth(ensemble: ArrayLike, window: tuple[int, int] = WINDOW) -> GrowthFit:
    """Compare three models of how replicates move apart, by replicates that are held out.

    Every model is a law of the squared distance z of a replicate from the median of all, a gamma
    law whose shape is fitted, so that neither directions nor the number of options matter:

    - ``walk``: the mean of z is a + b t, an initial spread and diffusion
    - ``jumps``: with probability 1 - (1 - h)^t a replicate has left for a basin at some distance;
      before it keeps a constant spread
    - ``growth``: the mean of z is c exp(2 rate t)

    Models are fitted to nine tenths of the replicates, and predict the others. Replicates are the
    units: the best model's gain over another one is tested over them by Student's t.

    Parameters
    ----------
    ensemble
        Committee mean preferences, shape (R, T, K).
    window
        First and last round, counted from 1.

    Returns
    -------
    GrowthFit
        The fits to all replicates, and the model that is picked. NaN for fewer than three
        replicates or rounds, and where no two replicates differ.

    Raises
    ------
    ValueError
        The ensemble is malformed.

    Examples
    --------
    Replicates whose distances grow by 10 % a round:

    >>> import numpy as np
    >>> from plenum.dynamics import compare_growth
    >>> apart = np.random.default_rng(0).normal(0, 0.01, (20, 1, 3))
    >>> found = compare_growth(1 / 3 + apart * np.exp(0.1 * np.arange(20))[:, None])
    >>> found.pick, round(found.rate, 3)
    ('growth', 0.1)
    """
    points = as_ensemble(ensemble)[:, window[0] - 1 : window[1]]
    rounds = np.arange(window[0], window[0] + points.shape[1], dtype=float)
    replicates = len(points)
    if min(replicates, rounds.size) < 3 or np.ptp(points, axis=0).max() < _RESOLUTION:
        return GrowthFit(replicates=replicates)
    parts = min(_PARTS, replicates)
    part = np.arange(replicates) % parts
    kept = np.concatenate([part != np.arange(parts)[:, None], np.ones((1, replicates), bool)])
    centres = np.stack([np.median(points[chosen], axis=0) for chosen in kept])
    squares = ((points - centres[:, None]) ** 2).sum(axis=3) + _RESOLUTION**2
    fits = [fit(rounds, squares, kept) for fit in (_fit_walk, _fit_jumps, _fit_growth)]
    own = np.arange(replicates)
    scores = np.stack([densities.sum(axis=2)[part, own] for densities, _ in fits])
    means = scores.mean(axis=1)
    best = int(means.argmax())
    p = np.array([1.0 if at == best else _p(scores[best] - scores[at]) for at in range(3)])
    apart = replicates >= LEAST and float(np.delete(p, best).max()) < LEVEL
    rises = fit_distances(ensemble, window).value > 0  # what falls is none of the three
    pick = MODELS[best] if apart and rises else ""
    found = {name: float(value[-1]) for _, named in fits for name, value in named.items()}
    return GrowthFit(pick, **found, held_out=means - means[best], p=p, replicates=replicates)


FitDensities = tuple[Floats, dict[str, Floats]]
"""Log densities of all squared distances under the fits to those that are kept, shape (fits,
replicates, rounds), and parameters by name, shape (fits,)."""


def _fit_walk(rounds: Floats, squares: Floats, kept: KeptMask) -> FitDensities:
    """Fit a mean of a + b t."""
    shapes = 1 - _SHARES[:, None] + _SHARES[:, None] * rounds / rounds.mean()
    mean, _ = _profile(shapes, squares, kept)
    slope = (mean[:, -1] - mean[:, 0]) / (rounds[-1] - rounds[0])
    start = np.maximum(mean[:, 0] - slope * rounds[0], 0.0)
    named = {"spread": np.sqrt(2 * start), "diffusion": np.sqrt(2 * slope)}
    return _of_mean(squares, mean, kept), named


def _fit_growth(rounds: Floats, squares: Floats, kept: KeptMask) -> FitDensities:
    """Fit a mean of c exp(2 rate t)."""
    shapes = np.exp(2 * _RATES[:, None] * (rounds - rounds.mean()))
    mean, at = _profile(shapes, squares, kept)
    return _of_mean(squares, mean, kept), {"rate": _RATES[at]}


def _fit_jumps(rounds: Floats, squares: Floats, kept: KeptMask) -> FitDensities:
    """Fit a mixture of those that stay and those that have jumped, by expectation-maximisation.

    The better one of two starts counts: all that are far, or only the farthest, have jumped.
    """
    logs = np.log(squares)
    low, high = (np.array([f(x[k]) for x, k in zip(logs, kept, strict=True)]) for f in _RANGE)
    tried = [
        _improve(rounds, squares, kept, logs > (low + share * (high - low))[:, None, None])
        for share in (0.5, 0.8)
    ]
    totals = np.stack([(d.sum(axis=2) * kept).sum(axis=1) for d, _ in tried])
    first = totals[0] >= totals[1]
    named = {n: np.where(first, tried[0][1][n], tried[1][1][n]) for n in tried[0][1]}
    return np.where(first[:, None, None], tried[0][0], tried[1][0]), named


def _improve(rounds: Floats, squares: Floats, kept: KeptMask, jumped: KeptMask) -> FitDensities:
    """Improve a mixture, given which squared distances are first taken for those of jumps."""
    logs, mask, weights = np.log(squares), kept[:, :, None].astype(float), jumped.astype(float)
    remaining = np.log1p(-_HAZARDS)[:, None] * rounds
    chances = np.log(-np.expm1(remaining)), remaining
    for _ in range(_STEPS):
        gone = (weights * mask).sum(axis=1)
        liked = gone @ chances[0].T + (mask.sum(axis=1) - gone) @ chances[1].T
        at = liked.argmax(axis=1)
        near, k = _fit_weighted(squares, logs, (1 - weights) * mask)
        far, m = _fit_weighted(squares, logs, weights * mask)
        far = np.maximum(far, _FAR * near)
        stays = chances[1][at][:, None] + _log_gamma(squares, near, k)
        leaves = chances[0][at][:, None] + _log_gamma(squares, far, np.maximum(m, _PLACE))
        both = np.logaddexp(stays, leaves)
        weights = np.exp(leaves - both)
    named = {
        "hazard": _HAZARDS[at],
        "distance": np.sqrt(far.ravel()),
        "noise": np.sqrt(2 * near.ravel()),
    }
    return both, named


def _log_gamma(squares: Floats, mean: Floats, shape: Floats) -> Floats:
    """Log density of a gamma law, given by its mean and shape."""
    x = shape * squares / mean
    return np.asarray(shape * np.log(x) - x - np.log(squares) - gammaln(shape))


def _of_mean(squares: Floats, mean: Floats, kept: KeptMask) -> Floats:
    """Log densities where the mean varies by round, shape (fits, rounds), with one shape a fit."""
    ratios = squares / mean[:, None]
    _, shape = _fit_weighted(ratios, np.log(ratios), kept[:, :, None] * np.ones(squares.shape[2]))
    return _log_gamma(squares, mean[:, None], shape)


def _profile(shapes: Floats, squares: Floats, kept: KeptMask) -> tuple[Floats, NDArray[np.intp]]:
    """Find the likeliest mean among multiples of shapes, shape (grid, rounds), and its place."""
    means = (squares * kept[:, :, None]).sum(axis=1) / kept.sum(axis=1)[:, None]
    scales = (means[:, None] / shapes).mean(axis=2)
    at = (np.log(shapes).mean(axis=1) + np.log(scales)).argmin(axis=1)
    return np.asarray(np.take_along_axis(scales, at[:, None], 1) * shapes[at]), at


def _fit_weighted(values: Floats, logs: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Fit gamma laws to weighted values (Minka 2002): mean and shape, shape (fits, 1, 1)."""
    total = np.maximum(weights.sum(axis=(1, 2), keepdims=True), 1e-9)
    mean = np.maximum((weights * values).sum(axis=(1, 2), keepdims=True) / total, _RESOLUTION**2)
    gap = np.log(mean) - (weights * logs).sum(axis=(1, 2), keepdims=True) / total
    s = np.maximum(gap, 1e-6)
    return mean, np.clip((3 - s + np.sqrt((s - 3) ** 2 + 24 * s)) / (12 * s), *_SHAPES)


def _p(gains: Floats) -> float:
    """One-sided p of Student's t test that gains have a mean above 0."""
    n = gains.size
    se = float(gains.std(ddof=1)) / math.sqrt(n)
    if se == 0:
        return 0.0 if gains.mean() > 0 else 1.0
    return float(stdtr(n - 1, -float(gains.mean()) / se))
