"""Smoothing: a curve through points, with its standard error."""

import math

import numpy as np
from scipy.interpolate import BSpline

from plenum.dynamics.fit import Floats

_PIECES = 10
"""Number of the spline's basis functions, as in the two-lines paper (Simonsohn 2018)."""


def spline(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Fit a penalised cubic spline; return its values at x and their standard errors.

    Each has shape (n,). It has ten B-splines with knots at quantiles (fewer if x has fewer values)
    and a penalty on the integral of the squared second derivative, weighted by generalised
    cross-validation. The error is the Bayesian one, as for the smooths of generalised additive
    models.

    Parameters
    ----------
    x, y
        Finite, shape (n,); x has at least five values.
    """
    values = np.unique(x)
    pieces = min(_PIECES, len(values))
    inner = np.unique(np.quantile(values, np.linspace(0, 1, pieces - 2)))
    knots = np.r_[[inner[0]] * 3, inner, [inner[-1]] * 3]
    basis = BSpline.design_matrix(x, knots, 3).toarray()
    square, target, penalty = basis.T @ basis, basis.T @ y, _roughness(knots)
    ridge = 1e-9 * np.trace(square) / len(square) * np.eye(len(square))
    best = (math.inf, basis[:, 0], basis[:, 0])
    for weight in np.trace(square) / np.trace(penalty) * np.logspace(-6, 6, 25):
        inverse = np.linalg.inv(square + weight * penalty + ridge)
        fitted = basis @ (inverse @ target)
        leverage = np.einsum("ij,jk,ik->i", basis, inverse, basis)
        free = len(x) - leverage.sum()
        if free <= 0:
            continue
        residue = float(((y - fitted) ** 2).sum())
        score = len(x) * residue / free**2
        if score < best[0]:
            best = (score, fitted, np.sqrt(np.maximum(leverage * residue / free, 0.0)))
    return best[1], best[2]


def _roughness(knots: Floats) -> Floats:
    """Return integrals of products of the B-splines' second derivatives.

    These are linear between knots, so that two nodes per interval are exact (Gauss).
    """
    ends = np.unique(knots)
    half = np.diff(ends) / 2
    nodes = (ends[:-1] + half)[:, None] + np.outer(half, [-1, 1]) / math.sqrt(3)
    functions = BSpline(knots, np.eye(len(knots) - 4), 3)
    bends = functions.derivative(2)(nodes.ravel()) * np.sqrt(np.repeat(half, 2))[:, None]
    return np.asarray(bends.T @ bends)
