"""Tests of no growth: random time reversal, and the papers' shuffling of rounds.

A reversal needs no distances but those between the points of a window: y_i forward or backward
against y_j forward or backward. With signs s = ±1 for forward and backward, D*(u) splits into a
part that is even in time, which depends on the products s_i s_j, and one that is odd, which is
linear in s: a product over pairs of half a window, and a small one over replicates.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from plenum.dynamics.divergence import ZERO, sort_replicates
from plenum.dynamics.fit import WINDOW, Array, Floats, fit_distances, slope
from plenum.dynamics.resampling import DRAWS

SHUFFLES = 2_000
"""The papers' number of permutations."""

CENTRES = ("median", "mean")
"""Centres that a reversal may subtract."""

_BLOCK = 4_000_000
"""Products of signs that are held at once, to limit memory. The number is plenum's own: 32 MB in
double precision, and for 20 replicates all 10,000 draws in one block."""

_TIE = 1e-9
"""A null value this close below the observed one is a tie: float residue decides nothing."""


@dataclass(frozen=True)
class NullTest:
    """A randomisation test of λ = 0.

    Attributes
    ----------
    value
        The observed λ̂.
    p
        Two-sided: (1 + b) / (1 + B) with b the null values at least as far from 0 as the
        observed one. NaN where there is no λ̂.
    null
        The B null values of λ̂, shape (draws,).
    method
        ``reversal`` or ``shuffle``.
    """

    value: float
    p: float
    null: Floats = field(repr=False, compare=False)
    method: str

    @property
    def p_right(self) -> float:
        """One-sided, as the papers have it: null values at least as large as the observed one."""
        return _p(self.value, self.null)


def reversal_test(
    ensemble: ArrayLike,
    window: tuple[int, int] = WINDOW,
    *,
    centre: str = "median",
    draws: int = DRAWS,
    seed: int = 0,
    dtype: DTypeLike = np.float64,
) -> NullTest:
    """Test for no growth by random time reversal.

    A centre over replicates is subtracted in each round, then each replicate's window is reversed
    with probability ½. Under no growth a replicate's deviation looks the same backwards, however
    strongly its rounds depend on each other.

    Parameters
    ----------
    ensemble
        Committee mean preferences, shape (R, T, K).
    window
        First and last round, counted from 1; rounds beyond T are ignored.
    centre
        ``median``, option by option, or ``mean``. The mean hands a part of the movement of few
        replicates to all others: where they spread unequally the test then rejects too often, and
        with the median it doesn't (docs/calibration.md).
    draws, seed
        Number of reversals, and their seed. Conditions of equal R share the same ones.
    dtype
        Of the products. Distances are relative to the largest D; in float32 the null values move
        by less than 1e-6 as long as D(t) changes less than tenfold and is nowhere zero.

    Returns
    -------
    NullTest
        The observed λ̂, p, and the null values. NaN where there is no λ̂.

    Raises
    ------
    ValueError
        The ensemble, the window or the centre is malformed, or there is no draw to make.

    Examples
    --------
    >>> import numpy as np
    >>> import plenum
    >>> noise = np.random.default_rng(1).normal(0, 0.01, (2, 10, 20, 3))
    >>> steady, growing = noise[0], noise[1] * np.exp(0.15 * np.arange(20))[:, None]
    >>> plenum.reversal_test(growing, draws=500).p < 0.05
    True
    >>> plenum.reversal_test(steady, draws=500).p < 0.05
    False
    """
    if centre not in CENTRES:
        raise ValueError(f"centre {centre!r}: one of {', '.join(CENTRES)}")
    fitted = fit_distances(sort_replicates(ensemble), window)
    _positive(draws)
    # A slope takes two rounds with D > 0.
    if fitted.replicates < 2 or fitted.used.sum() < 2:
        return NullTest(float("nan"), float("nan"), np.empty(0), "reversal")
    middle = np.median if centre == "median" else np.mean
    points = fitted.points - middle(fitted.points, axis=0)
    # Relative to the largest D, so that float32 has the digits where they are needed.
    even, rest, odd = _parts(points, fitted.pairs, float(fitted.level.max()), dtype)
    half = len(odd)
    null = []
    for signs, products in _signs(fitted.replicates, draws, seed, np.dtype(dtype)):
        symmetric = even @ products + rest
        antisymmetric = odd @ signs
        # A round of the first half and its mirror image differ by the sign of the odd part alone.
        forward, backward = symmetric[:half] + antisymmetric, symmetric[:half] - antisymmetric
        level = np.concatenate([forward, symmetric[half:], backward[::-1]])
        null.append(_slopes(fitted.rounds, level, len(fitted.pairs)))
    values = np.concatenate(null)
    return NullTest(fitted.value, _p(abs(fitted.value), np.abs(values)), values, "reversal")


def shuffle_test(
    ensemble: ArrayLike,
    window: tuple[int, int] = WINDOW,
    *,
    draws: int = SHUFFLES,
    seed: int = 0,
    rounds: str = "window",
) -> NullTest:
    """Compute the papers' permutation null: rounds shuffled within each replicate (Fig. S5).

    It tests that rounds are exchangeable, not that λ = 0, and is anti-conservative: replicates that
    don't grow but have memory, as all committees do, reject far too often, 42 % of the time at a
    nominal 5 % for an AR(1) with ρ = 0.9. It is here to reproduce the papers.

    Parameters
    ----------
    ensemble
        Committee mean preferences, shape (R, T, K).
    window
        First and last round of the fit.
    draws, seed
        Number of permutations, and their seed.
    rounds
        Which rounds are shuffled: those of the ``window``, or ``all``, as the papers do.

    Returns
    -------
    NullTest
        The observed λ̂, p, and the null values. NaN where there is no λ̂.

    Raises
    ------
    ValueError
        The ensemble, the window or ``rounds`` is malformed, or there is no draw to make.

    Examples
    --------
    >>> import numpy as np
    >>> import plenum
    >>> noise = np.random.default_rng(1).normal(0, 0.01, (10, 20, 3))
    >>> growing = noise * np.exp(0.15 * np.arange(20))[:, None]
    >>> plenum.shuffle_test(growing, draws=500).p < 0.05
    True
    """
    if rounds not in ("window", "all"):
        raise ValueError(f"rounds {rounds!r}: one of window, all")
    fitted = fit_distances(ensemble, window)
    _positive(draws)
    if fitted.replicates < 2 or fitted.used.sum() < 2:
        return NullTest(float("nan"), float("nan"), np.empty(0), "shuffle")
    points = fitted.points if rounds == "window" else np.asarray(ensemble, float)
    used = slice(None) if rounds == "window" else fitted.rounds.astype(int) - 1
    replicates, shuffled, options = points.shape
    # All points once: a shuffle then only looks distances up.
    between = _distances(points.reshape(-1, options), points.reshape(-1, options))
    generator = np.random.Generator(np.random.PCG64([seed, replicates, shuffled]))
    first, second = np.triu_indices(replicates, 1)
    offsets = np.arange(replicates)[:, None] * shuffled
    null = np.empty(draws)
    for draw in range(draws):
        order = generator.permuted(np.tile(np.arange(shuffled), (replicates, 1)), axis=1) + offsets
        order = order[:, used]
        null[draw] = slope(fitted.rounds, between[order[first], order[second]].sum(axis=0))
    return NullTest(fitted.value, _p(abs(fitted.value), np.abs(null)), null, "shuffle")


def _parts(
    points: Floats, pairs: Floats, scale: float, dtype: DTypeLike
) -> tuple[Array, Array, Array]:
    """D*(u) = even @ (s_i s_j) + rest ± odd @ s, over the first half of the window.

    Returns
    -------
    even, shape (⌈rounds / 2⌉, pairs); rest, shape (⌈rounds / 2⌉, 1); odd, shape
    (⌊rounds / 2⌋, replicates)
        The middle round of an odd window is its own mirror: it has no odd part.
    """
    replicates, rounds, _ = points.shape
    first, second = np.triu_indices(replicates, 1)
    # One forward against the other backward; the other way round it is this one's mirror image.
    crossed = np.sqrt(((points[first] - points[second, ::-1]) ** 2).sum(axis=-1))
    same = pairs.T / scale
    crossed = np.where(crossed < ZERO, 0.0, crossed).T / scale
    half, half_up = rounds // 2, (rounds + 1) // 2
    same_even, crossed_even = ((x + x[::-1])[:half_up] / 2 for x in (same, crossed))
    same_odd, crossed_odd = ((x - x[::-1])[:half] / 2 for x in (same, crossed))
    odd = np.zeros((half, replicates))
    for members, terms in (
        # Equal signs give s · same_odd and unlike ones s_i · crossed_odd: solved for s_i and s_j.
        (first, (same_odd + crossed_odd) / 2),
        (second, (same_odd - crossed_odd) / 2),
    ):
        np.add.at(odd.T, members, terms.T)
    # What the product s_i s_j adds, and the mean over its signs: +1 gives same, and -1 crossed.
    even, rest = (same_even - crossed_even) / 2, (same_even + crossed_even).sum(axis=1) / 2
    return even.astype(dtype), rest[:, None].astype(dtype), odd.astype(dtype)


def _slopes(rounds: Floats, level: Array, pairs: int) -> Floats:
    """Slopes of log D*, shape (draws,), from levels (rounds, draws); residue of zero is zero."""
    weights = rounds - rounds.mean()
    # What rounding leaves of a sum over so many pairs that is zero.
    floor = pairs * np.finfo(level.dtype).eps
    # Where no level is zero one product serves all draws; else each has rounds of its own.
    if level.min() > floor:
        np.log(level, out=level)
        return np.asarray((weights / (weights @ weights)).astype(level.dtype) @ level, dtype=float)
    return slope(rounds, np.where(level > floor, level, 0.0).T.astype(float))


def _signs(
    replicates: int, draws: int, seed: int, dtype: np.dtype[Any]
) -> Iterator[tuple[Array, Array]]:
    """Signs (R, draws) and their products over pairs (pairs, draws), block by block."""
    size = max(_BLOCK // (replicates * (replicates - 1) // 2), 1)
    for start in range(0, draws, size):
        yield _draw_signs(replicates, min(size, draws - start), seed, start, dtype)


# Four, since a study has few numbers of completed replicates; each takes up to 32 MB.
@lru_cache(maxsize=4)
def _draw_signs(
    replicates: int, draws: int, seed: int, start: int, dtype: np.dtype[Any]
) -> tuple[Array, Array]:
    # By the block's start too: each block would otherwise draw the signs of the first.
    generator = np.random.Generator(np.random.PCG64([seed, replicates, start]))
    signs = (2 * generator.integers(0, 2, (replicates, draws)) - 1).astype(dtype)
    first, second = np.triu_indices(replicates, 1)
    products = signs[first] * signs[second]
    # The arrays are kept and lent to every condition of as many replicates.
    signs.flags.writeable = products.flags.writeable = False
    return signs, products


def forget() -> None:
    """Free the memory of signs that are kept for the next condition."""
    _draw_signs.cache_clear()


def _distances(left: Floats, right: Floats) -> Floats:
    """Distances of all points of one set to all of the other; below 1e-9 they are zero."""
    squares = ((left[:, None] - right[None, :]) ** 2).sum(axis=-1)
    return np.asarray(np.where(squares < ZERO**2, 0.0, np.sqrt(squares)))


def _p(value: float, null: Floats) -> float:
    """(1 + b) / (1 + B); a null draw without a slope counts as extreme."""
    far = ~(null < value - _TIE)
    return float((1 + far.sum()) / (1 + len(null)))


def _positive(draws: int) -> None:
    if draws < 1:
        raise ValueError(f"draws: {draws}; at least 1")
