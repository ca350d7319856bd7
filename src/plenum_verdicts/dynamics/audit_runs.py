"""Numbers of runs that an audit needs: in advance, during it, and after an undecided end."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from plenum.base.identity import make_generator
from plenum_verdicts.dynamics.audits import FAILED, STABLE, UNSTABLE, StabilityRule, encode_outcomes
from plenum_verdicts.dynamics.sequential import BLOCK, DecisionTally, log_stable, log_unstable

_AUDITS = 400
"""Audits that are simulated: their shares of verdicts are known to 0.025 (one standard error)."""
_FAR, _FARTHEST = 32, 100_000
"""Limits of an undecided audit's continuation: a multiple of its length, and a number of runs. What
takes more tells a user no more than that no end is in sight."""


@dataclass(frozen=True)
class ExpectedAudit:
    """Simulated outcome of auditing one case with a given share of the modal decision.

    Attributes
    ----------
    share
        From 0 to 1; the rest is distributed evenly over the other options.
    stable, unstable
        Probabilities of the verdicts; the rest remains undecided.
    runs, most
        Mean number of runs, and the number that 9 of 10 audits don't exceed.
    """

    share: float
    stable: float
    unstable: float
    runs: float
    most: int


@dataclass(frozen=True)
class Further:
    """Continuation of an undecided audit, if its runs continued as before.

    Attributes
    ----------
    verdict
        The verdict that it would reach: ``stable`` or ``unstable``.
    runs
        Number of further runs.
    agreeing
        Number of these that would end like most runs so far.
    """

    verdict: str
    runs: int
    agreeing: int


def horizon(
    outcomes: Sequence[str],
    options: Sequence[str],
    rule: StabilityRule,
    tally: DecisionTally | None = None,
) -> int:
    """Return the smallest number of runs, including ended ones, that could give a verdict.

    A verdict needs all runs up to this number, whatever their outcomes.

    Parameters
    ----------
    outcomes
        Outcomes of the runs so far, which gave no verdict.
    tally
        The tally of the same runs, if it is available.
    """
    known = tally or DecisionTally.empty(len(options) + 2).after(encode_outcomes(outcomes, options))
    # Enough by default: 18 equal runs are stable. Other rules double it.
    ahead = 32
    while True:
        # Runs that all end alike, in any way, give a verdict soonest: no other future is quicker.
        futures = encode_outcomes([*options, FAILED], options)
        paths = np.tile(futures[:, None], (1, ahead))
        ends = [_ends(_stands(paths, len(options), rule, each, known)) for each in range(2)]
        least = int(np.minimum(*ends).min())
        if least <= ahead:
            return known.runs + least
        ahead *= 2


def plan_further(
    outcomes: Sequence[str], options: Sequence[str], rule: StabilityRule
) -> Further | None:
    """Return what an undecided case needs, assuming that its runs repeat in order.

    Returns
    -------
    Further or None
        ``None`` if no end is foreseeable, since the share is too close to undecidable ones.
    """
    if not outcomes:
        return None
    own = encode_outcomes(outcomes, options)
    known = DecisionTally.empty(len(options) + 2).after(own)
    # Less one, since the runs so far are a part of the whole.
    most = min((_FAR - 1) * len(own), _FARTHEST)
    for start in range(0, most, BLOCK):
        # The case's own runs over and over, in blocks, so that most searches end after the first.
        path = own[np.arange(start, min(start + BLOCK, most)) % len(own)]
        stands = [_stands(path[None], len(options), rule, each, known)[0] for each in range(2)]
        if (either := stands[0] | stands[1]).any():
            at = int(either.argmax())
            more = start + at + 1
            return Further(STABLE if stands[0][at] else UNSTABLE, more, _count_agreeing(own, more))
        known = known.after(path)
    return None


def _count_agreeing(own: NDArray[np.int_], more: int) -> int:
    """Count the runs that end like most, among further runs that repeat those so far."""
    counts, (rounds, rest) = np.bincount(own), divmod(more, len(own))
    # Of equally frequent ones that which gets most, whatever the order of the options.
    last = np.bincount(own[:rest], minlength=len(counts))[counts == counts.max()]
    return int(rounds * counts.max() + last.max())


@cache
def simulate_audits(
    rule: StabilityRule, options: int, max_runs: int, shares: tuple[float, ...] = ()
) -> tuple[ExpectedAudit, ...]:
    """Simulate audits, and return their outcome by the share of the modal decision.

    Parameters
    ----------
    options
        Number of options of the case, at least two.
    shares
        Each from above 1 / ``options`` to 1; by default the two ends, the rule's two shares, and
        the middle between these.
    """
    low, high = rule.unacceptable, rule.acceptable
    # The last lies well below the rule, and above an even split, which has no mode.
    wanted = shares or (1.0, high, (low + high) / 2, low, max(low - 0.2, 1 / options + 0.05))
    return tuple(_simulate(rule, options, max_runs, share) for share in wanted)


def _simulate(rule: StabilityRule, options: int, max_runs: int, share: float) -> ExpectedAudit:
    p = np.array([share, *[(1 - share) / (options - 1)] * (options - 1)])
    # Nothing is random there: all audits are one.
    audits = 1 if share == 1 else _AUDITS
    rng = make_generator("audit", "plan", options, max_runs, repr(share))
    # Divided by their sum: NumPy refuses chances that rounding keeps from 1.
    paths = rng.choice(options, p=p / p.sum(), size=(audits, max_runs))
    ends = [_ends(_stands(paths, options, rule, each)) for each in range(2)]
    # Whichever stands first counts, as in an audit.
    stable, unstable = (end <= np.minimum(max_runs, other) for end, other in (ends, ends[::-1]))
    runs = np.minimum(np.minimum(*ends), max_runs)
    return ExpectedAudit(
        share=share,
        stable=float(stable.mean()),
        unstable=float((unstable & ~stable).mean()),
        runs=float(runs.mean()),
        # A number of runs that occurred, not one between two.
        most=int(np.quantile(runs, 0.9, method="inverted_cdf")),
    )


def _stands(
    paths: NDArray[np.int_],
    options: int,
    rule: StabilityRule,
    unstable: int,
    before: DecisionTally | None = None,
) -> NDArray[np.bool_]:
    """Return whether a verdict holds after each run, shape (audits, runs)."""
    process, share = (
        (log_unstable, rule.acceptable) if unstable else (log_stable, rule.unacceptable)
    )
    # Two more outcomes than options: no decision, and failure.
    return np.asarray(process(paths, options + 2, share, options, before) >= -math.log(rule.alpha))


def _ends(stands: NDArray[np.bool_]) -> NDArray[np.int_]:
    """Return the number of runs until each path's verdict; one more than all without a verdict."""
    ends = np.where(stands.any(axis=1), stands.argmax(axis=1) + 1, stands.shape[1] + 1)
    return np.asarray(ends)
