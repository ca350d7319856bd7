"""The chance that a program passes a gate, given its cases' chances of a right run."""

import math

import numpy as np
import scipy

from plenum.dynamics.fit import Floats
from plenum_verdicts.suites.gates import TOLERANCE, CaseGate, Gate

_EXACT = 600
"""Number of runs up to which the distribution of their sum is computed exactly: of more it takes
long, and is close to a normal one. Of 600 runs the sums of 300 programs take half a second and of
2,400 seven, on two cores; at 600 a normal law is off by 0.004 at most (150 cases, chances from a
beta(2, 0.5) law)."""


def chance_to_pass(gate: Gate, chances: Floats, before: Floats | None = None) -> Floats:
    """Return the chance that one use of a gate passes.

    Parameters
    ----------
    gate
        The gate.
    chances
        Chances of a right run by case, shape (programs, N).
    before
        Those of the baselines, if the gate has one; by default the programs themselves.

    Returns
    -------
    array
        Shape (programs,). Exact up to 600 runs; above, sums are taken as normal.

    Examples
    --------
    >>> chance_to_pass(CaseGate(2, 2), np.array([[0.5, 1.0]]))
    array([0.25])
    >>> from plenum_verdicts.suites.gates import ScoreGate
    >>> chance_to_pass(ScoreGate(0.5), np.array([[0.5, 0.5]])).round(6)
    array([0.75])
    """
    if isinstance(gate, CaseGate):
        return np.asarray(scipy.stats.binom.sf(gate.least - 1, gate.runs, chances).prod(axis=1))
    if not gate.relative:
        # Less a tolerance: 0.07 · 100 is 7.000000000000001 in floats, and would ask for 8.
        least = math.ceil(gate.least * chances.shape[1] * gate.runs - TOLERANCE)
        return _reach_count(chances, gate.runs, least)
    before = chances if before is None else before
    total = chances.shape[1] * gate.runs
    # Plus the tolerance: 0.29 · 100 is 28.999999999999996 in floats, and would allow 28.
    allowed = math.floor(gate.least * total + TOLERANCE)
    if total > _EXACT:
        mean = (chances - before).sum(axis=1) * gate.runs
        variance = (chances * (1 - chances) + before * (1 - before)).sum(axis=1) * gate.runs
        return _above(mean, variance, -allowed)
    # The law of a difference is a convolution with the other's law backwards; place `total` is 0.
    more = scipy.signal.fftconvolve(
        _sums(chances, gate.runs), _sums(before, gate.runs)[:, ::-1], axes=1
    )
    # Residue of Fourier's transform may lie beyond 0 and 1.
    return np.asarray(np.clip(more[:, total - allowed :].sum(axis=1), 0, 1))


def _reach_count(chances: Floats, runs: int, least: int) -> Floats:
    """Return how likely at least so many runs are right, shape (programs,)."""
    total = chances.shape[1] * runs
    if total <= _EXACT:
        return np.asarray(np.clip(_sums(chances, runs)[:, least:].sum(axis=1), 0, 1))
    mean = chances.sum(axis=1) * runs
    return _above(mean, (chances * (1 - chances)).sum(axis=1) * runs, least)


def drop_chances(chances: Floats, drop: float) -> Floats:
    """Return chances whose mean is lower by ``drop``, all of them in the same proportion."""
    mean = chances.mean(axis=1, keepdims=True)
    # In the same proportion, so that no chance falls below 0.
    # The tiny number keeps a program that is never right from 0/0: it can lose nothing.
    kept = np.maximum(mean - drop, 0) / np.maximum(mean, 1e-12)
    return np.asarray(chances * np.minimum(kept, 1))


def flip_rate(passes: Floats) -> Floats:
    """Return how likely two uses of a gate end differently."""
    return 2 * passes * (1 - passes)


def _above(mean: Floats, variance: Floats, least: int) -> Floats:
    """Return the normal chance of at least so many, with the correction for whole numbers."""
    return np.asarray(
        # At a variance of 0 all runs are certain: the tiny one makes the chance 0 or 1, and not
        # 0/0.
        scipy.stats.norm.sf((least - 0.5 - mean) / np.sqrt(np.maximum(variance, 1e-12)))
    )


def _sums(chances: Floats, runs: int) -> Floats:
    """Return the distribution of the number of right runs, shape (programs, N runs + 1)."""
    total = chances.shape[1] * runs
    # Half of the roots of unity do: the law is real, so that the rest are their conjugates.
    turns = np.exp(2j * np.pi * np.arange((total + 1) // 2 + 1) / (total + 1))
    spectrum = np.ones((len(chances), len(turns)), complex)
    for own in chances.T:
        # The generating function of a sum of independent runs is the product of (1 - p + p z)ⁿ.
        spectrum *= (1 + own[:, None] * (turns - 1)) ** runs
    # Values at exp(+2πi k/n) are the conjugate of the transform that `irfft` inverts.
    sums = np.fft.irfft(np.conj(spectrum), total + 1, axis=1)
    # Tails are residue of the transform, and may lie below 0.
    return np.asarray(np.maximum(sums, 0))
