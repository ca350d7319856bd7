"""Growth of a typical pair of replicates, and how many replicates jumped."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from plenum.dynamics.decisions import Share, estimate_share
from plenum.dynamics.diagnostics import find_jumps
from plenum.dynamics.divergence import ZERO
from plenum.dynamics.fit import WINDOW, Fit, Floats, fit_distances
from plenum.dynamics.multiplicity import excludes_zero

_PART = 3
"""The first and the last third of the window are compared. Thirds tell a trend best: parts of a
share q have 6 q (1 - q)² of the precision of a least-squares slope under independent noise, at most
8/9, for q = 1/3; halves have 3/4."""


@dataclass(frozen=True)
class TypicalGrowth:
    """Growth of a typical pair of replicates, with the shares of pairs that part and of jumps.

    Attributes
    ----------
    value, ci_low, ci_high
        Median over pairs of the growth of their distance, per round, and its 95 % interval.
        Limits are infinite where there are too few replicates to tell them: five say nothing.
    farther
        θ: the chance that a pair is farther apart late than early, with its 95 % interval; it is
        1/2 for what time reversal doesn't change. Pairs that don't move count for a half.
    jumped
        Share of replicates that made a step five times as long as usual, with its exact 95 %
        interval (Clopper-Pearson).
    """

    value: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan
    farther: Share = field(default_factory=Share)
    jumped: Share = field(default_factory=Share)

    @property
    def shown(self) -> int:
        """1 if the interval shows growth, -1 if it shows contraction, and 0 if neither."""
        return int(np.sign(self.ci_low)) if excludes_zero(self.ci_low, self.ci_high) else 0


def estimate_typical_growth(ensemble: ArrayLike, window: tuple[int, int] = WINDOW) -> TypicalGrowth:
    """Estimate the growth of a typical pair of replicates, which a few that jump don't move.

    The growth of a pair is the logarithm of its mean distance in the last third of the window over
    that in the first third, per round between them: of rounds 15 to 20 over rounds 3 to 8. The
    share θ(x) of pairs that grow by more than x is a mean over pairs of replicates; its variance is
    that of the jackknife over replicates, its interval Wilson's with as many pairs as have that
    variance, and Student's t. The interval of the median is the x around it at which that of θ(x)
    holds 1/2. Nothing is refused: it exists where a mean over pairs is carried by few of them.

    Parameters
    ----------
    ensemble
        Committee mean preferences, shape (R, T, K).
    window
        First and last round, counted from 1; rounds beyond T are ignored.

    Returns
    -------
    TypicalGrowth
        NaN for fewer than three replicates or two rounds.

    Raises
    ------
    ValueError
        The ensemble or the window is malformed.

    Examples
    --------
    Replicates whose distances grow by 10 % a round:

    >>> import numpy as np
    >>> from plenum.dynamics.growth import estimate_typical_growth
    >>> apart = np.random.default_rng(0).normal(0, 0.01, (20, 1, 3))
    >>> found = estimate_typical_growth(1 / 3 + apart * np.exp(0.1 * np.arange(20))[:, None])
    >>> round(found.value, 3), found.farther.value, found.jumped.value
    (0.1, 1.0, 0.0)
    """
    fitted = fit_distances(ensemble, window)
    replicates, rounds = fitted.replicates, len(fitted.rounds)
    # Without one of two replicates no pair is left, and one round has no later one.
    if replicates < 3 or rounds < 2:
        return TypicalGrowth()
    growth, members = measure_pairs(fitted)
    # Pairs that don't move are neither farther nor nearer: a half keeps 1/2 the neutral value.
    sides = (growth > 0) + (growth == 0) / 2
    squares = (np.bincount(members.ravel(), np.tile(sides, 2), replicates) ** 2).sum()
    farther, low, high = map(float, _limit_shares(sides.sum(), squares, replicates))
    least, most = _limit_median(growth, members, replicates)
    return TypicalGrowth(
        value=float(np.median(growth)),
        ci_low=least,
        ci_high=most,
        farther=Share(farther, low, high, None, replicates),
        jumped=estimate_share(int(find_jumps(fitted).sum()), replicates),
    )


def measure_pairs(fitted: Fit) -> tuple[Floats, NDArray[np.intp]]:
    """Measure the growth of every pair of replicates between both ends of a window, per round.

    Returns
    -------
    array, shape (pairs,)
        0 where two are never apart; infinite where they meet, or part from one point.
    array, shape (2, pairs)
        The two replicates of each pair.
    """
    # A third of two rounds is none: then the first is compared with the last.
    part = max(len(fitted.rounds) // _PART, 1)
    early, late = (fitted.pairs[:, at].mean(axis=1) for at in (slice(part), slice(-part, None)))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.where(late > ZERO, late, 0)) - np.log(np.where(early > ZERO, early, 0))
    # Pairs that are never apart don't grow; others that meet, or part, do so without bound.
    growth = np.nan_to_num(logs, nan=0.0, posinf=np.inf, neginf=-np.inf)
    # Both parts have as many rounds, so that their beginnings are as far apart as their middles.
    span = float(fitted.rounds[-part] - fitted.rounds[0])
    return growth / span, np.stack(np.triu_indices(fitted.replicates, 1))


def _limit_median(
    growth: Floats, members: NDArray[np.intp], replicates: int
) -> tuple[float, float]:
    """Return the limits of the median over pairs, by inversion of those of θ(x).

    Parameters
    ----------
    members
        The two replicates of each pair, shape (2, pairs).
    """
    falling = np.argsort(-growth, kind="stable")
    # A replicate's m-th pair adds 2 m - 1 to the square of its number of pairs: so the sum of these
    # squares, which the variance needs, is known for every number of pairs without a matrix.
    touched = members[:, falling].T.ravel()
    count = np.empty(len(touched))
    # Sorted by replicate each has its R - 1 pairs in a row, still from the fastest on.
    count[np.argsort(touched, kind="stable")] = np.tile(np.arange(1, replicates), replicates)
    squares = np.append(0, np.cumsum((2 * count - 1).reshape(-1, 2).sum(axis=1)))
    values = np.unique(growth)
    # Between two values θ(x) doesn't change: it falls from 1 below the least to 0 above the most.
    above = np.append(len(growth) - np.searchsorted(np.sort(growth), values), 0)
    share, low, high = _limit_shares(above, squares[above], replicates)
    middle = int((share >= 0.5).sum())
    # Outwards from the middle, to the next gap at which 1/2 is refused on its side.
    refused_below = np.flatnonzero(low[:middle] > 0.5)
    refused_above = middle + np.flatnonzero(high[middle:] < 0.5)
    least = float(values[refused_below[-1]]) if refused_below.size else -math.inf
    most = float(values[refused_above[0] - 1]) if refused_above.size else math.inf
    return least, most


def _limit_shares(
    total: ArrayLike, squares: ArrayLike, replicates: int
) -> tuple[Floats, Floats, Floats]:
    """Return shares of pairs and their limits.

    Parameters
    ----------
    total
        Sum over all pairs of 1 for a pair that counts, 1/2 for one that counts for a half.
    squares
        Sum over replicates of the square of this sum over the replicate's pairs.
    """
    total, squares = np.asarray(total, float), np.asarray(squares, float)
    pairs = replicates * (replicates - 1) / 2
    share = total / pairs
    variance = compute_variance(total, squares, replicates)
    spread = share * (1 - share)
    # Where no replicate changes anything, as many pairs as share none: R / 2.
    known = np.minimum(variance, spread) > 1e-12
    count = np.where(known, spread / np.where(known, variance, 1), replicates / 2)
    # Wilson's limits (1927) with t for z, and as many pairs as would have this variance.
    z2 = float(stdtrit(replicates - 1, 0.975)) ** 2 / count
    centre, half = share + z2 / 2, np.sqrt(z2 * (spread + z2 / 4))
    return share, (centre - half) / (1 + z2), (centre + half) / (1 + z2)


def compute_variance(total: Floats, squares: Floats, replicates: float) -> Floats:
    """Return the jackknife variance over replicates of shares of pairs.

    Parameters
    ----------
    total, squares
        As for the limits of shares: the sum over pairs, and that of squares over replicates.
    """
    # Without a replicate its pairs are missing: shares vary as these sums do.
    varying = np.maximum(squares / replicates - (2 * total / replicates) ** 2, 0)
    left = (replicates - 1) * (replicates - 2) / 2  # pairs among the others
    return np.asarray((replicates - 1) * varying / left**2)
