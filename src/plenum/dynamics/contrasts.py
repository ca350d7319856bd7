"""Differences of λ̂ between conditions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenum.dynamics.divergence import as_ensemble
from plenum.dynamics.estimate import Estimate, make_estimate, welch_df
from plenum.dynamics.fit import (
    WINDOW,
    Array,
    Fit,
    Floats,
    contrast_weights,
    fit_distances,
    jackknife_se,
    slope,
)
from plenum.dynamics.lyapunov import LyapunovEstimate, lyapunov
from plenum.dynamics.resampling import DRAWS

_BLOCK = 400_000
"""Leave-one-out levels of the labellings that are computed at once, to limit memory. The number is
plenum's own: 3 MB an array; fewer mean more calls of NumPy, more mean more memory."""

_NONE = 1e-9
"""A standard error below this is zero: all replicates of an arm are equally far apart."""

REFUSAL = "not shown: replicates jump or few carry λ̂"
"""The method of a contrast whose interval and p would be wrong too often (docs/calibration.md)."""

_TIE = 1e-6
"""A null statistic this close to the observed one, in standard errors or relative to it, is a tie:
the observed labelling is one of the labellings, and of few replicates it is drawn often. A narrower
one would let p depend on the last digits of a processor's logarithms."""


@dataclass(frozen=True)
class Contrast(Estimate):
    """A difference of λ̂, or a difference of differences.

    Attributes
    ----------
    value, se, ci_low, ci_high, df
        The contrast, its jackknife standard error, and the 95 % interval with Student's t.
    p, p_wald
        Two-sided, of no difference: by permutation where there is one, and by Student's t.
    cells
        The estimates that it is made of, in the order of the arguments. A contrast whose cells
        have different D(3) or headroom may come from saturation alone.

    Notes
    -----
    Where a cell is `refused` (replicates jump or a few carry its λ̂) interval and p are NaN.
    """

    p_wald: float = math.nan
    cells: tuple[LyapunovEstimate, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of the cells, each once."""
        return tuple(dict.fromkeys(name for cell in self.cells for name in cell.warnings))


def contrast(
    treated: ArrayLike,
    control: ArrayLike,
    window: tuple[int, int] = WINDOW,
    *,
    decisions: Sequence[Sequence[str] | None] = (None, None),
    paired: bool = False,
    draws: int = DRAWS,
    seed: int = 0,
    refuse: bool = True,
) -> Contrast:
    """Δλ̂ = λ̂(treated) - λ̂(control), with a studentised permutation test.

    The interval is Welch's: jackknife variances of both arms, Student's t with Welch-Satterthwaite
    degrees of freedom. For p the replicates of both arms, each arm centred on its mean and scaled
    to the same mean distance, change places, and Δλ̂* / se* is compared with Δλ̂ / se: without the
    standard error the test would fail under different drift or spread. Arms that have not the same
    rounds of the window can't change places: p is then that of the interval's t test.

    Paired arms ran on the same variants in the same order: the variant's index leaves both arms
    together (t with R - 1), and the arms of an index change places with probability ½.

    Parameters
    ----------
    treated, control
        Committee mean preferences, shape (R, T, K); paired arms have the same R.
    window
        First and last round of the fit, counted from 1.
    decisions
        The decisions of each arm's replicates, where known: for the arms' warnings.
    paired
        True if index r of both arms belongs together.
    draws, seed
        Permutations, and their seed.
    refuse
        True if interval and p are NaN where replicates of an arm jump or few carry λ̂; without it
        one can measure how often they would be wrong.

    Returns
    -------
    Contrast
        Δλ̂ with its interval and p-values, and the λ̂ of both arms. Without a standard error of both
        arms, or where those of one jump or few carry its λ̂, interval and p are NaN: compare
        decisions.

    Raises
    ------
    ValueError
        An ensemble or the window is malformed, arms differ in K, or paired arms in R.

    Examples
    --------
    >>> import numpy as np
    >>> import plenum
    >>> noise = np.random.default_rng(1).normal(0, 0.01, (2, 10, 20, 3))
    >>> steady, growing = noise[0], noise[1] * np.exp(0.15 * np.arange(20))[:, None]
    >>> difference = plenum.contrast(growing, steady, draws=500)
    >>> round(difference.value, 2), difference.p < 0.05
    (0.15, True)
    """
    arms = [as_ensemble(treated), as_ensemble(control)]
    if paired and len(arms[0]) != len(arms[1]):
        raise ValueError(f"paired arms of {len(arms[0])} and {len(arms[1])} replicates")
    if arms[0].shape[2] != arms[1].shape[2]:
        raise ValueError(f"arms of {arms[0].shape[2]} and {arms[1].shape[2]} options")
    if draws < 1:
        raise ValueError(f"draws: {draws}; at least 1")
    fits = [fit_distances(arm, window) for arm in arms]
    cells = tuple(lyapunov(arm, window, d) for arm, d in zip(arms, decisions, strict=True))
    shown = not (refuse and any(cell.refused for cell in cells))
    plain = _contrast_pairs(cells, fits, shown) if paired else contrast_cells(cells, shown=shown)
    value, se, df, n = plain.value, plain.se, plain.df, plain.n
    if (
        plain.method in ("none", REFUSAL)
        # Without an error nothing can be divided by it.
        or se < _NONE
        or fits[0].rounds.size != fits[1].rounds.size
    ):
        return plain
    method = f"{plain.method}, {'swaps within pairs' if paired else 'studentised permutation'}"
    null = _permute(arms, fits, window, paired, draws, seed)
    observed = abs(value) / se
    # Not "nearer" instead of "as far": a null statistic that is NaN then raises p.
    far = ~(np.abs(null) < observed - _TIE * max(observed, 1.0))
    # The observed labelling is one of them (Phipson and Smyth 2010).
    p = float((1 + far.sum()) / (1 + draws))
    return _contrast(value, se, df, n, method, cells, p)


def interaction(
    both: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    neither: ArrayLike,
    window: tuple[int, int] = WINDOW,
    *,
    decisions: Sequence[Sequence[str] | None] = (None,) * 4,
) -> Contrast:
    """Estimate the 2x2 interaction (λ̂₁₁ - λ̂₁₀) - (λ̂₀₁ - λ̂₀₀) (Fig. 1B).

    Four independent jackknife variances, Student's t with Welch-Satterthwaite degrees of freedom.
    Check D(3) and headroom of the four cells before believing it, since saturation alone makes an
    interaction.

    Parameters
    ----------
    both, first, second, neither
        The four cells: both factors, the first alone, the second alone, none. Shape (R, T, K).
    window
        First and last round of the fit, counted from 1.
    decisions
        The decisions of each cell's replicates, where known: for the cells' warnings.

    Returns
    -------
    Contrast
        The difference of differences, with the λ̂ of the four cells.

    Raises
    ------
    ValueError
        An ensemble, the window or the decisions are malformed.

    Examples
    --------
    Growth that both factors need:

    >>> import numpy as np
    >>> import plenum
    >>> noise = np.random.default_rng(2).normal(0, 0.01, (4, 10, 20, 3))
    >>> both = noise[0] * np.exp(0.15 * np.arange(20))[:, None]
    >>> found = plenum.interaction(both, noise[1], noise[2], noise[3])
    >>> round(found.value, 1), found.ci_low > 0, len(found.cells)
    (0.2, True, 4)
    """
    ensembles = (both, first, second, neither)
    return contrast_cells(
        tuple(lyapunov(e, window, d) for e, d in zip(ensembles, decisions, strict=True))
    )


def contrast_cells(cells: tuple[LyapunovEstimate, ...], *, shown: bool | None = None) -> Contrast:
    """Contrast two independent λ̂, or estimate the interaction of four, with Welch's t test.

    It needs no ensembles: the value, interval and ``p_wald`` are those of :func:`contrast`.
    ``shown`` says whether there are an interval and a p; by default where no cell is refused.
    """
    shown = not any(cell.refused for cell in cells) if shown is None else shown
    values = [cell.value for cell in cells]
    # Pairs of neighbours: one of two cells, and of four the second is taken off the first.
    halves = [values[at] - values[at + 1] for at in range(0, len(values), 2)]
    value = halves[0] - halves[1] if len(halves) == 2 else halves[0]
    counts = [cell.replicates for cell in cells]
    variances = np.array([cell.se**2 for cell in cells])
    if not np.isfinite(variances).all():
        return _contrast(value, float("nan"), 0, sum(counts), "none", cells)
    # Each jackknife variance has its arm's R - 1 degrees of freedom.
    df = welch_df(variances, np.array(counts) - 1.0)
    se, method = math.sqrt(variances.sum()), "Welch jackknife" if shown else REFUSAL
    return _contrast(value, se, df, sum(counts), method, cells)


def _contrast_pairs(
    cells: tuple[LyapunovEstimate, ...], fits: Sequence[Fit], shown: bool
) -> Contrast:
    """Contrast paired arms with the t test of the jackknife over their differences."""
    value, n = cells[0].value - cells[1].value, cells[0].replicates
    if not all(math.isfinite(cell.se) for cell in cells):
        return _contrast(value, float("nan"), 0, n, "none", cells)
    # Index r leaves both arms at once: the covariance of the two arms is in this variance.
    se = jackknife_se(fits[0].left_out - fits[1].left_out)
    return _contrast(value, se, n - 1.0, n, "paired jackknife" if shown else REFUSAL, cells)


def _contrast(
    value: float,
    se: float,
    df: float,
    n: int,
    method: str,
    cells: tuple[LyapunovEstimate, ...],
    p: float | None = None,
) -> Contrast:
    # The standard error stays, as a fact of these ensembles; what rests on t would be wrong.
    if method == REFUSAL:
        return Contrast(value, se, df=df, n=n, method=method, cells=cells)
    e = make_estimate(value, se, df, n, method)
    tested = vars(e) if p is None else vars(e) | {"p": p}
    return Contrast(**tested, p_wald=e.p, cells=cells)


def _permute(
    arms: Sequence[Floats],
    fits: Sequence[Fit],
    window: tuple[int, int],
    paired: bool,
    draws: int,
    seed: int,
) -> Floats:
    """Studentised Δλ̂* of every permutation, shape (draws,)."""
    # Centred: a drift of one arm isn't spread. Scaled by the geometric mean of D: λ̂ of an arm
    # doesn't depend on its scale, but in a mixture the wider arm would alone make the level.
    pooled = [
        (arm - arm.mean(axis=0)) / math.exp(np.log(f.level[f.used]).mean())
        for arm, f in zip(arms, fits, strict=True)
    ]
    # All distances once: a labelling only says which pairs count.
    both = fit_distances(np.concatenate(pooled), window)
    size, count = len(arms[0]), both.replicates
    # Seeded by the numbers of replicates too: other designs draw other labellings.
    generator = np.random.Generator(np.random.PCG64([seed, count, size]))
    step = max(_BLOCK // (count * both.rounds.size), 1)
    part = -(-step // 4)  # what a product makes then stays in memory that is at hand
    rows = np.moveaxis(both.distances, 2, 0).reshape(-1, count)
    statistics = []
    for start in range(0, draws, step):
        member = _labels(generator, count, size, min(step, draws - start), paired)
        for at in range(0, member.shape[1], part):
            some = member[:, at : at + part]
            statistics.append(_statistic(both.rounds, rows, some, paired))
    return np.concatenate(statistics)


def _labels(
    generator: np.random.Generator, count: int, size: int, draws: int, paired: bool
) -> NDArray[np.bool_]:
    """Draw which of the pooled replicates are in the treated arm, shape (count, draws)."""
    # Pooled are first all treated, then all controls: index r and index r + size are a pair.
    if paired:
        swapped = generator.integers(0, 2, (size, draws)).astype(bool)
        return np.concatenate([~swapped, swapped])
    # The places of the `size` smallest of random numbers are a draw without replacement.
    order = generator.random((count, draws)).argpartition(size - 1, axis=0)
    member = np.zeros((count, draws), bool)
    np.put_along_axis(member, order[:size], True, axis=0)
    return member


def _statistic(rounds: Floats, rows: Array, member: NDArray[np.bool_], paired: bool) -> Floats:
    """Δλ̂ / se of every labelling: the same jackknife as for the observed arms.

    Every replicate is left out of its own arm alone, so that one product serves both.
    """
    count, draws = member.shape
    ours = member.astype(float)
    # For each round and labelling: the distances from every replicate to the treated arm.
    mine = (rows @ ours).reshape(-1, count, draws)
    theirs = rows.sum(axis=1).reshape(-1, count, 1) - mine
    totals = np.einsum("lnb,nb->lb", mine, ours), np.einsum("lnb,nb->lb", theirs, 1 - ours)
    # From here on in place: `mine` is each replicate's sum of distances in its own arm, `theirs`
    # that arm's total. A pair stands in the totals twice, therefore the halves.
    np.copyto(mine, theirs, where=~member)
    np.copyto(theirs, totals[0][:, None] / 2)
    np.copyto(theirs, totals[1][:, None] / 2, where=~member)
    # An arm's total minus a replicate's own distances is the total without that replicate.
    left_out = _slopes(rounds, np.subtract(theirs, mine, out=mine))
    first, second = (_slopes(rounds, total) for total in totals)
    if paired:
        # A pair's two members leave together: λ₋ᵣ(treated) - λ₋ᵣ(control).
        shift = np.where(member, left_out, -left_out).reshape(2, count // 2, draws).sum(axis=0)
        variance = _variances(shift, np.ones_like(shift, bool))
    else:
        variance = _variances(left_out, member) + _variances(left_out, ~member)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((first - second) / np.sqrt(variance))


def _slopes(rounds: Floats, level: Array) -> Floats:
    """Slopes of log(level) along the first axis; residue of sums that are zero is zero.

    Where no level is zero a round and its mirror image have opposite weights: the logarithm of
    their ratio does for both.
    """
    # Sums of equal terms in another order differ by this much at most; log would make it a level.
    floor = 1e-12 * level.max(axis=tuple(range(1, level.ndim)), keepdims=True)
    if (level > floor).all():
        half = len(level) // 2
        ratios = level[::-1][:half] / level[:half]
        weights = contrast_weights(rounds)[::-1][:half]
        return np.asarray(np.tensordot(weights, np.log(ratios, out=ratios), 1))
    return slope(rounds, np.moveaxis(np.where(level > floor, level, 0.0), 0, -1))


def _variances(left_out: Floats, included: NDArray[np.bool_]) -> Floats:
    """Jackknife variances over the chosen members of the first axis, shape (draws,)."""
    n = included.sum(axis=0)
    # (n - 1)/n · Σ (λ₋ᵣ - mean)², as in `jackknife_se`, for all labellings at once.
    centre = np.where(included, left_out, 0.0).sum(axis=0) / n
    deviations = np.where(included, left_out - centre, 0.0)
    return np.asarray((n - 1) / n * (deviations**2).sum(axis=0))
