"""Families of tests: adjustment of p for the number of tests."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from plenum.dynamics.fit import Floats

ALPHA = 0.05
"""Adjusted p-values below this are called small."""


def holm(p: ArrayLike) -> Floats:
    """Adjust p to bound the chance of one false claim in the family (Holm 1979).

    For headline claims. NaN stays NaN, and counts as a test that found nothing: a family is that
    of the design, not what is left of it.

    Parameters
    ----------
    p
        From 0 to 1, shape (tests,); NaN for a test without a result.

    Returns
    -------
    array, shape (tests,)
        Adjusted p-values, in the order of ``p``.

    Raises
    ------
    ValueError
        ``p`` isn't a list of numbers from 0 to 1.

    Examples
    --------
    >>> import plenum
    >>> plenum.holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    return _adjust(p, _step_down)


def benjamini_hochberg(p: ArrayLike) -> Floats:
    """Adjust p to bound the share of false finds in the family.

    Benjamini & Hochberg 1995; for maps. NaN stays NaN, and counts as a test that found nothing.

    Parameters
    ----------
    p
        From 0 to 1, shape (tests,); NaN for a test without a result.

    Returns
    -------
    array, shape (tests,)
        Adjusted p-values, in the order of ``p``.

    Raises
    ------
    ValueError
        ``p`` isn't a list of numbers from 0 to 1.

    Examples
    --------
    >>> import plenum
    >>> plenum.benjamini_hochberg([0.01, 0.04, 0.03]).round(3)
    array([0.03, 0.04, 0.04])
    """
    return _adjust(p, _step_up)


def _adjust(p: ArrayLike, method: Callable[[Floats], Floats]) -> Floats:
    values = np.asarray(p, dtype=float)
    if values.ndim != 1 or ((values < 0) | (values > 1)).any():
        raise ValueError("p-values are a list of numbers from 0 to 1")
    missing = np.isnan(values)
    # Left out, the tests without a result would leave a family that the data chose.
    adjusted = method(np.where(missing, 1.0, values)) if values.size else values
    return np.where(missing, np.nan, adjusted)


def _step_down(p: Floats) -> Floats:
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    # The k-th smallest p times the tests not yet rejected, never below the one before it.
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(adjusted, 1.0)


def _step_up(p: Floats) -> Floats:
    # As scipy.stats.false_discovery_control has it, whose import takes most of a second.
    order = np.argsort(p)[::-1]
    adjusted = np.empty_like(p)
    # From the largest p on: p N / rank, never above the one of the next larger p.
    adjusted[order] = np.minimum.accumulate(p[order] * (len(p) / np.arange(len(p), 0, -1)))
    return np.minimum(adjusted, 1.0)


def excludes_zero(low: float, high: float) -> bool:
    """Return whether an interval exists and doesn't contain 0."""
    return math.isfinite(low) and math.isfinite(high) and not low <= 0 <= high


def is_shown(p_holm: float, low: float, high: float) -> bool:
    """Return whether a difference counts as shown: by its adjusted test and by its interval."""
    # Both, since a p by permutation and an interval by Student's t may disagree near the edge.
    return p_holm < ALPHA and excludes_zero(low, high)
