"""Diagnostics of λ̂, which show whether it can be trusted."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from plenum.dynamics.divergence import ZERO
from plenum.dynamics.fit import Fit, Floats, jackknife_se, slope, sum_without_each

SATURATED = 0.5
"""The share of the cap from which a round is saturated: logistic growth has lost half its rate."""

GRID = 3.0
"""An ensemble is quantised if D(t) is below this many steps of its grid: what is so small is
rounding, and the slope of logarithms leans on it. Each stated number is off by half a step at most,
and a distance between two by a step: a third of D there."""

APART = 0.5
"""Below this share of pairs that are apart in every round used, few replicates carry D(t). Half is
plenum's own choice: below it the pairs that make D(t) are the minority."""

SHORT = 5
"""Fewer rounds used than this say little about a slope. The number is plenum's own: noise of log D
enters a slope over four rounds ten times as strongly as one over the window's 18 (√(484.5 / 5), by
the sums of squares of the rounds)."""

FEW = 10
"""Below this many replicates an estimate has the warning ``few_replicates``: its interval says
nothing of jumps that none of them made. The number is plenum's own: with ten, jumps that a quarter
of replicates make stay unseen in 5 % of studies (0.74^10)."""

JUMP = 5.0
"""A step over so many times as long as is usual is a jump. Gaussian steps practically never are. On
the plane of three options their lengths are 5.9 σ or more with a chance of 3e-8, five times the
median of 1.18 σ."""

REFUSED = ("uneven", "few_apart")
"""Warnings with which λ̂ has no interval and no t test: on processes that jump, these would be wrong
too often (docs/calibration.md)."""


@dataclass(frozen=True)
class ExponentVariant:
    """λ̂ by another mean over pairs, with its jackknife standard error and the pairs used."""

    value: float = math.nan
    se: float = math.nan
    pairs: int = 0


@dataclass(frozen=True)
class Diagnostics:
    """Diagnostics of one λ̂.

    Attributes
    ----------
    d_first, d_last
        D(t) in the first and last round of the window that the ensemble has: D(3) and D(20).
    cap
        The largest D that this number of replicates and options allows.
    headroom
        log(cap / D(first)) per round to the last: no condition can grow faster on average.
    saturated_round
        First round of the window with D(t) at half the cap or above; ``None`` without one.
    diffusion, excess, excess_ci_low, excess_ci_high
        λ̂ of independent random walks over the rounds used, and λ̂ minus it with its interval.
    jumps
        λ̂ of independent jumps at a small constant hazard, with which D grows as t.
    exponential_residual, power_residual
        Root mean squared residuals of log D on t, and on log t: the smaller fits better.
    rms, quenched
        λ̂ from the root mean squared distance (½ log of the mean of d²), and from the mean of
        log d over the pairs that are apart in every round used.
    pair_exponents
        Finite-time exponent of every pair i < j, shape (pairs,); NaN where a pair is apart in
        fewer than two rounds.
    within, between
        Split of the mean squared distance by decision, per round of the window, shape (rounds,):
        within + between is the mean of d². NaN without decisions.
    grid
        The step of the grid that the preferences lie on; 0 where they lie on none.
    """

    d_first: float = math.nan
    d_last: float = math.nan
    cap: float = math.nan
    headroom: float = math.nan
    saturated_round: int | None = None
    diffusion: float = math.nan
    jumps: float = math.nan
    excess: float = math.nan
    excess_ci_low: float = math.nan
    excess_ci_high: float = math.nan
    exponential_residual: float = math.nan
    power_residual: float = math.nan
    rms: ExponentVariant = ExponentVariant()
    quenched: ExponentVariant = ExponentVariant()
    grid: float = math.nan
    pair_exponents: Floats = field(default_factory=lambda: np.empty(0), compare=False, repr=False)
    within: Floats = field(default_factory=lambda: np.empty(0), compare=False, repr=False)
    between: Floats = field(default_factory=lambda: np.empty(0), compare=False, repr=False)


def diagnose(fitted: Fit, half_width: float, decisions: Sequence[str] | None) -> Diagnostics:
    """Diagnose a λ̂ that exists.

    Parameters
    ----------
    fitted
        The ensemble in its window; at least two rounds have D > 0.
    half_width
        Half the width of the interval of λ̂, NaN where there is none.
    decisions
        The decision of each replicate, for the split of D².
    """
    rounds, level, used = fitted.rounds, fitted.level, fitted.used
    top = cap(fitted.replicates, fitted.points.shape[2])
    full = np.flatnonzero(level >= SATURATED * top)
    # `slope` takes logarithms: walks spread as √t, and rare jumps, of which some t·h came, as t.
    diffusion = float(slope(rounds[used], np.sqrt(rounds[used])))
    excess = fitted.value - diffusion
    within, between = _split(fitted.points, decisions)
    return Diagnostics(
        d_first=float(level[0]),
        d_last=float(level[-1]),
        cap=top,
        headroom=headroom(top, float(level[0]), float(rounds[-1] - rounds[0])),
        saturated_round=int(rounds[full[0]]) if full.size else None,
        diffusion=diffusion,
        jumps=float(slope(rounds[used], rounds[used])),
        excess=excess,
        # λ̂ of diffusion follows from the rounds alone: it adds no uncertainty.
        excess_ci_low=excess - half_width,
        excess_ci_high=excess + half_width,
        exponential_residual=_residual(rounds[used], level[used]),
        power_residual=_residual(np.log(rounds[used]), level[used]),
        rms=_rms(fitted),
        quenched=_estimate_quenched(fitted),
        grid=_grid(fitted.points),
        pair_exponents=slope(rounds, fitted.pairs),
        within=within,
        between=between,
    )


def warnings(fitted: Fit, se: float, diagnostics: Diagnostics) -> tuple[str, ...]:
    """Name the reasons not to take λ̂ for a growth rate.

    Parameters
    ----------
    se
        Jackknife standard error of λ̂.
    """
    apart = _disagree([ExponentVariant(fitted.value, se, 0), diagnostics.rms, diagnostics.quenched])
    smallest = fitted.level[fitted.used].min()
    named = {
        "uneven": apart or bool(find_jumps(fitted).any()),
        "saturated": diagnostics.saturated_round is not None,
        "few_apart": diagnostics.quenched.pairs < APART * len(fitted.pairs),
        "few_rounds": int(fitted.used.sum()) < SHORT,
        "quantised": bool(smallest < GRID * diagnostics.grid),
    }
    return tuple(name for name, holds in named.items() if holds)


def cap(replicates: int, options: int) -> float:
    """Return the largest mean pairwise distance that is possible on the simplex.

    √2 · Σ_{a<b} n_a n_b / C(R, 2) at the most even split of the replicates over the vertices: 0.990
    for R = 20 and K = 3, and √2 (1 - 1/K) as R grows. NaN for fewer than two replicates.
    """
    if replicates < 2:
        return float("nan")
    # Pairs at one vertex are 0 apart, all others √2: the evenest split has most of the others.
    share, rest = divmod(replicates, options)
    same = rest * math.comb(share + 1, 2) + (options - rest) * math.comb(share, 2)
    return math.sqrt(2) * (1 - same / math.comb(replicates, 2))


def headroom(top: float, first: float, span: float) -> float:
    """Return the mean rate at which D(t) can grow from ``first`` to the cap; infinite from 0."""
    return math.log(top / first) / span if first > 0 else math.inf


def find_jumps(fitted: Fit) -> NDArray[np.bool_]:
    """Return which replicates made a step far longer than is usual at that time, shape (R,).

    The usual length follows an exponential trend, as steps do on the way of a real growth rate;
    where most replicates step further at once, it is the median of the round.
    """
    # Without the median path: a drift that all replicates share is no jump of any.
    steps = np.diff(fitted.points - np.median(fitted.points, axis=0), axis=1)
    lengths = np.linalg.norm(steps, axis=2)
    medians = np.median(lengths, axis=0)
    at = np.arange(float(len(medians)))
    # Where no trend can be fitted (NaN), none is assumed.
    trend = np.exp(np.nan_to_num(slope(at, np.where(medians > ZERO, medians, 0.0))) * at)
    usual = np.maximum(trend * np.median(lengths / trend), medians)
    # ZERO: beside replicates at rest the residue of rounding isn't a jump.
    return np.asarray((lengths > JUMP * usual + ZERO).any(axis=1))


def _residual(x: Floats, level: Floats) -> float:
    logs = np.log(level)
    # Centred, so that the line needs no intercept.
    x, y = x - x.mean(), logs - logs.mean()
    return float(np.sqrt(np.mean((y - x * (x @ y) / (x @ x)) ** 2)))


def _rms(fitted: Fit) -> ExponentVariant:
    squares = fitted.distances**2
    # log √x = ½ log x: half the slope of mean squares is that of the root mean square.
    value = slope(fitted.rounds, squares.sum(axis=(0, 1))) / 2
    left_out = slope(fitted.rounds, sum_without_each(squares)) / 2
    return ExponentVariant(float(value), jackknife_se(left_out), len(fitted.pairs))


def _estimate_quenched(fitted: Fit) -> ExponentVariant:
    """Estimate λ̂ from mean logarithms, over the same set of pairs in every round.

    A changing set of pairs would look like growth. The slope of a mean of logarithms is the mean of
    the pairs' slopes, so that leaving out a replicate is leaving out its pairs.
    """
    pairs = fitted.pairs[:, fitted.used]
    apart = (pairs > 0).all(axis=1)
    count = int(apart.sum())
    if not count:
        return ExponentVariant()
    slopes = slope(fitted.rounds[fitted.used], pairs[apart])
    members = np.stack(np.triu_indices(fitted.replicates, 1))[:, apart]
    sums, counts = (
        np.bincount(members.ravel(), np.tile(weight, 2), fitted.replicates)
        for weight in (slopes, np.ones(count))
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        # A replicate that is in every pair leaves none: 0/0 is NaN, and so is the error.
        left_out = (slopes.sum() - sums) / (count - counts)
    return ExponentVariant(float(slopes.mean()), jackknife_se(left_out), count)


def _disagree(variants: Sequence[ExponentVariant]) -> bool:
    """Return whether two of the three differ by more than the smaller of their standard errors.

    The larger one grows with the jumps themselves: it would hide a third of those that this finds,
    and on processes without jumps neither raises an alarm (docs/calibration.md).
    """
    return any(
        # `fmin`: a variant without an error leaves it to the other's; ZERO, since equal ones differ
        # by rounding.
        abs(a.value - b.value) > max(np.fmin(a.se, b.se), ZERO)
        for n, a in enumerate(variants)
        for b in variants[n + 1 :]
    )


def _split(points: Floats, decisions: Sequence[str] | None) -> tuple[Floats, Floats]:
    """Mean squared pairwise distance within and between decisions, by the analysis of variance."""
    replicates, rounds, _ = points.shape
    if decisions is None:
        return np.full(rounds, np.nan), np.full(rounds, np.nan)
    centres = np.empty_like(points)
    labels = np.asarray(decisions)
    for label in np.unique(labels):
        centres[labels == label] = points[labels == label].mean(axis=0)
    within = ((points - centres) ** 2).sum(axis=(0, 2))
    between = ((centres - points.mean(axis=0)) ** 2).sum(axis=(0, 2))
    # The mean of d² over pairs is 2/(R-1) · Σ |x - mean|², which splits like any sum of squares.
    return 2 * within / (replicates - 1), 2 * between / (replicates - 1)


def _grid(points: Floats) -> float:
    """Return the step of the grid that most values lie on; 0 if they lie on none.

    Committee means of preferences with two decimals lie on a grid of 0.01 / seats, except for the
    few that were normalised.
    """
    # Neighbours on a grid are a step apart, or few: the commonest gap is the step.
    gaps = np.diff(np.unique(points))
    gaps = gaps[gaps > ZERO]
    # Eight digits: equal steps differ by rounding alone, and those of other grids by far more.
    sizes, counts = np.unique(np.round(gaps, 8), return_counts=True)
    # A gap that was met once or twice may be chance.
    if not counts.size or counts.max() < 3:
        return 0.0
    # Their mean and not the rounded size, whose missing digits would add up over many steps.
    step = float(gaps[np.round(gaps, 8) == sizes[counts.argmax()]].mean())
    steps = gaps / step
    # A fifth of the gaps may be of values that were normalised, which lie off the grid.
    # A hundredth of a step is far above the rounding of means, and rarely met by chance.
    multiples = (np.round(steps) >= 1) & (np.abs(steps - np.round(steps)) < 0.01)
    return step if multiples.mean() > 0.8 else 0.0
