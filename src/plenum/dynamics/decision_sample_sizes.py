"""Planning of comparisons of decisions: the replicates that a difference of disagreement takes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, stdtrit

from plenum.dynamics.decision_arms import DISAGREEMENT, Arms, compute_p
from plenum.dynamics.decisions import tally
from plenum.dynamics.fit import Floats
from plenum.dynamics.labellings import Counts

_DRAWS = 1_000
"""Pairs of conditions that are drawn for a power: its standard error is 0.013 at 0.8."""

_STEP = 1.08
"""The ratio of the numbers of replicates that are tried: each takes a simulation, which is dear.
With 8 % more a power of 0.80 becomes 0.83: a plan of many replicates gives away no more."""

_SIMULATED = 400
"""More replicates than this are found by the normal approximation, which is close there. The number
is plenum's own: a larger one only takes longer."""


@dataclass(frozen=True)
class DecisionPlan:
    """The number of replicates that finds a difference of disagreement.

    Attributes
    ----------
    replicates
        Per arm.
    power
        The power that they give: simulated with 1,000 draws, and at least the one asked for;
        approximate above 400 replicates.
    difference, alpha
        What was asked for.
    shares
        The shares of decisions that were assumed in the other condition, the pilot's most frequent
        decision first.
    """

    replicates: int
    power: float
    difference: float
    alpha: float
    shares: tuple[float, ...]


def plan_decisions(
    pilot: Sequence[str],
    difference: float,
    power: float = 0.8,
    alpha: float = 0.05,
    *,
    seed: int = 0,
) -> DecisionPlan:
    """Find the replicates per arm that detect a difference of disagreement with a given power.

    One condition decides as the pilot did. The other has the same decisions, of which the most
    frequent one takes from all others, or gives to them, in proportion. The test is that of
    `compare_decisions`.

    Parameters
    ----------
    pilot
        One decision a replicate.
    difference
        The disagreement of the other condition minus the pilot's; below 0 where it is to be
        steadier.
    power, alpha
        Between 0 and 1.
    seed
        Of the simulation.

    Returns
    -------
    DecisionPlan
        The replicates per arm, on a grid of steps of 8 %, and their power.

    Raises
    ------
    ValueError
        There is no pilot, no such condition can disagree so much or so little, or power or alpha
        isn't a probability with power > alpha.

    Examples
    --------
    >>> import plenum
    >>> pilot = ["A"] * 14 + ["B"] * 6
    >>> plan = plenum.plan_decisions(pilot, difference=-0.3)
    >>> [round(share, 2) for share in plan.shares], 30 < plan.replicates < 50
    ([0.94, 0.06], True)
    """
    if not 0 < alpha < power < 1:
        raise ValueError(f"power: {power}, alpha: {alpha}; 0 < alpha < power < 1")
    counts = np.array(list(tally(pilot).values()), float)
    if not len(counts):
        raise ValueError("pilot: no decision; at least one")
    # Something must be there that the only decision can lose replicates to.
    if len(counts) == 1:
        counts = np.append(counts, 0.0)
    shares = counts / counts.sum()
    other = shift_shares(shares, difference)
    replicates = 2
    # With few replicates the approximation promises too much: it stops at or below the answer, and
    # the simulation, which is dear, goes on from there.
    while _approximate(shares, other, replicates, alpha) < power:
        # Rounded up, so that small numbers grow as well.
        replicates = math.ceil(replicates * _STEP)
        # Far beyond any study: a tiny difference would otherwise be searched for without end.
        if replicates > 1e7:
            raise ValueError(f"difference: {difference}; more than 10000000 replicates an arm")
    while True:
        if replicates > _SIMULATED:
            found = _approximate(shares, other, replicates, alpha)
        else:
            found = simulate_power(shares, other, replicates, alpha, seed)
        if found >= power:
            return DecisionPlan(replicates, found, difference, alpha, tuple(map(float, other)))
        replicates = math.ceil(replicates * _STEP)


def shift_shares(shares: Floats, difference: float) -> Floats:
    """Move the first share so that the disagreement 1 - Σ p² changes; the others keep proportions.

    Raises
    ------
    ValueError
        No first share gives this disagreement.
    """
    if not (math.isfinite(difference) and difference):
        raise ValueError(f"difference: {difference}; a number that isn't zero")
    # A pilot with one decision loses to a single other one.
    rest = shares[1:] / shares[1:].sum() if shares[1:].sum() else np.ones(1)
    alike = float((rest**2).sum())
    wanted = 1 - float((shares**2).sum()) + difference
    # 1 - p² - (1 - p)² a = wanted is (1 + a) p² - 2 a p + (a - 1 + wanted) = 0.
    inside = alike**2 - (1 + alike) * (alike - 1 + wanted)
    # A disagreement of 0 may come out as slightly negative, since 1 - Σ p² rounds.
    if wanted < -1e-9 or inside < 0:
        raise ValueError(
            f"difference: {difference}; such a condition can't have a disagreement of {wanted:.3g}"
        )
    # The larger root: the most frequent decision goes on being it. Not above 1, where rounding may
    # take it at a disagreement of 0.
    first = min((alike + math.sqrt(inside)) / (1 + alike), 1.0)
    return np.array([first, *(1 - first) * rest])


def simulate_power(
    shares: Floats, other: Floats, replicates: int, alpha: float = 0.05, seed: int = 0
) -> float:
    """Simulate how often the test rejects equal disagreement, with so many replicates per arm."""
    generator = np.random.Generator(np.random.PCG64([seed, replicates]))
    drawn = [generator.multinomial(replicates, law, _DRAWS) for law in (shares, other)]
    # Few tables are drawn often: each is tested once and counted as often as it came.
    pairs, times = np.unique(np.concatenate(drawn, axis=1), axis=0, return_counts=True)
    count = len(shares)
    rejected = [
        _rejects(pair[:count], pair[count:], alpha, seed) for pair in pairs.astype(np.int64)
    ]
    return float(times[rejected].sum() / _DRAWS)


def _rejects(treated: Counts, control: Counts, alpha: float, seed: int) -> bool:
    # As in a study, whose decisions are those that occurred: variances add a replicate for each.
    used = treated + control > 0
    arms = Arms(treated[used], control[used], None, _DRAWS, seed)
    rejected = compute_p([arms], [1.0], DISAGREEMENT)[0] <= alpha
    # p is the larger of two, so that the second test can only take a rejection back.
    if rejected and not arms.same_ranks:
        rejected = compute_p([arms.rank_decisions()], [1.0], DISAGREEMENT)[0] <= alpha
    return rejected


def _approximate(shares: Floats, other: Floats, n: int, alpha: float) -> float:
    """Approximate the power by a normal law of the difference; too large with few replicates."""
    apart = abs(float((shares**2).sum() - (other**2).sum()))
    error = math.sqrt(_variance(shares, n) + _variance(other, n))
    # P(T > t_crit) at this difference; the far tail's rejections are left out, being next to none.
    return float(ndtr(apart / error - stdtrit(2 * n - 2, 1 - alpha / 2))) if error else 1.0


def _variance(p: Floats, n: int) -> float:
    # Hoeffding's variance of a U-statistic, as `_disagreement_variance` without added replicates.
    alike = float((p**2).sum())
    first = float((p**3).sum()) - alike**2
    return (4 * (n - 2) * first + 2 * alike * (1 - alike)) / (n * (n - 1))
