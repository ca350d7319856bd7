"""The noise of a turn: mostly small, now and then large, and not alike for all options.

It is a mixture of two normal laws of a state's preferences in their order, the largest first, so
that it means the same whichever option leads.
"""

from dataclasses import dataclass

import numpy as np

from plenum_fit.committees import Floats, Options

_ROUNDS = 40
"""Iterations of EM, which changes little after thirty."""

_LEAST = 1e-6
"""Added to variances, so that a law of equal residuals has a density."""


@dataclass(frozen=True)
class Noise:
    """Two normal laws of the leading K - 1 preferences; the last one takes the rest.

    Attributes
    ----------
    share
        The share of the wide law, from 0 to 1.
    small, wide
        Covariances, shape (options - 1, options - 1), as nested tuples.
    """

    share: float
    small: tuple[tuple[float, ...], ...]
    wide: tuple[tuple[float, ...], ...]


SILENT = Noise(0.0, (), ())
"""No noise at all."""


def order(own: Floats) -> Options:
    """Return the options of each state from the top down, shape (turns, options)."""
    return np.argsort(-own, axis=-1, kind="stable")


def fit_noise(own: Floats, rest: Floats) -> Noise:
    """Fit the law to what pulls leave unexplained, by EM.

    Parameters
    ----------
    own
        The states before, shape (turns, options).
    rest
        What is to be explained, shape (turns, options).
    """
    ranked = np.take_along_axis(rest, order(own), axis=-1)[:, :-1]
    turns, size = ranked.shape
    ridge = _LEAST * np.eye(size)
    whole = ranked.T @ ranked / turns + ridge
    covariances, share = [0.3 * whole, 3.0 * whole], 0.2
    for _ in range(_ROUNDS):
        densities = np.stack([_density(ranked, each) for each in covariances])
        parts = np.array([1 - share, share])[:, None] * densities + 1e-300
        wide = parts[1] / parts.sum(axis=0)
        share = float(wide.mean())
        covariances = [
            (ranked * weight[:, None]).T @ ranked / max(weight.sum(), 1e-9) + ridge
            for weight in (1 - wide, wide)
        ]
    small, large = (tuple(tuple(map(float, row)) for row in each) for each in covariances)
    return Noise(share, small, large)


def draw_noise(noise: Noise, own: Floats, generator: np.random.Generator) -> Floats:
    """Draw noise for states, shape (turns, options); each sums to 0."""
    if not noise.small:
        return np.zeros_like(own)
    turns, options = own.shape
    draws = generator.normal(size=(turns, options - 1))
    wide = np.asarray(generator.random(turns) < noise.share)
    roots = [np.linalg.cholesky(np.array(each)).T for each in (noise.small, noise.wide)]
    leading = np.where(wide[:, None], draws @ roots[1], draws @ roots[0])
    ranked = np.concatenate([leading, -leading.sum(axis=1, keepdims=True)], axis=1)
    drawn = np.empty_like(own)
    np.put_along_axis(drawn, order(own), ranked, axis=-1)
    return drawn


def _density(ranked: Floats, covariance: Floats) -> Floats:
    """Return the normal density, but for a constant factor."""
    inverse = np.linalg.inv(covariance)
    exponent = -0.5 * ((ranked @ inverse) * ranked).sum(axis=1)
    return np.asarray(np.exp(exponent) / np.sqrt(np.linalg.det(covariance)))
