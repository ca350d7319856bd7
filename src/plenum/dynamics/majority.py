"""Time to majority: rounds until more than half of the seats share a top option."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenum.dynamics.fit import Floats
from plenum.dynamics.survival import TIE, kaplan_meier, median_time

READINGS = ("first", "stable")
TIES = ("none", "first")
"""The treatment of a seat with a tied top: no preference, or the first of the equal options, as in
the papers."""


@dataclass(frozen=True)
class TimeToMajority:
    """The time to a strict majority over replicates, right-censored at the last round.

    Attributes
    ----------
    reading
        ``first``: the first round with a majority; ``stable``: the first round from which one
        and the same option has it until the end.
    median, ci_low, ci_high
        Kaplan-Meier median in rounds, with the 95 % interval of Brookmeyer and Crowley
        (log-log); infinite where too few replicates have a majority.
    events, n
        Replicates with a majority, and all.
    times, observed
        Of each replicate: the round, or the last round where there was none, shape (n,); and
        whether it is a majority's.
    curve
        Kaplan-Meier share of replicates without a majority after each round, shape (rounds,).
    """

    reading: str
    median: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan
    events: int = 0
    n: int = 0
    times: Floats = field(default_factory=lambda: np.empty(0), repr=False, compare=False)
    observed: NDArray[np.bool_] = field(
        default_factory=lambda: np.empty(0, bool), repr=False, compare=False
    )
    curve: Floats = field(default_factory=lambda: np.empty(0), repr=False, compare=False)


def time_to_majority(
    preferences: ArrayLike, reading: str = "first", *, ties: str = "none"
) -> TimeToMajority:
    """Estimate the rounds until a strict majority of the seats present shares its top option.

    Fig. S4. The first-hit reading carries little information: seats that choose at random have such
    a majority after 1.6 rounds on average.

    Parameters
    ----------
    preferences
        Preferences of every seat, shape (replicates, rounds, seats, options). A seat that is
        absent in a round is NaN there.
    reading
        ``first`` or ``stable``.
    ties
        Whether a seat with a tied top has no top option (``none``), or the first of these
        (``first``).

    Returns
    -------
    TimeToMajority
        The Kaplan-Meier median with its interval, and the times of all replicates.

    Raises
    ------
    ValueError
        The shape or the reading is malformed.

    Examples
    --------
    Three seats, two options, two replicates: a majority from the second round on, and none.

    >>> import plenum
    >>> tied, first, second = [0.5, 0.5], [0.9, 0.1], [0.2, 0.8]
    >>> rounds = [[[first, second, tied], [first, first, second]], [[first, second, tied]] * 2]
    >>> found = plenum.time_to_majority(rounds)
    >>> found.times, found.observed, found.events
    (array([2., 2.]), array([ True, False]), 1)
    """
    if reading not in READINGS:
        raise ValueError(f"reading {reading!r}: one of {', '.join(READINGS)}")
    majority = majorities(preferences, ties)
    replicates, rounds = majority.shape
    holds = np.asarray(majority >= 0)
    if reading == "stable":
        # -1 is no option: without `holds` two rounds that have no majority would agree on one.
        same = (majority == majority[:, -1:]) & holds
        # From the end backwards: true until the first round that differs from the last one.
        holds = np.logical_and.accumulate(same[:, ::-1], axis=1)[:, ::-1]
    observed = np.asarray(holds.any(axis=1))
    # Without a majority a replicate is censored at its last round.
    times = np.where(observed, holds.argmax(axis=1) + 1.0, float(rounds))
    if not replicates:
        return TimeToMajority(reading)
    at = np.arange(1.0, rounds + 1)
    curves = kaplan_meier(times, observed, at)
    median, low, high = (median_time(at, curve) for curve in curves)
    return TimeToMajority(
        reading=reading,
        median=median,
        ci_low=low,
        ci_high=high,
        events=int(observed.sum()),
        n=replicates,
        times=times,
        observed=observed,
        curve=curves[0],
    )


def majorities(preferences: ArrayLike, ties: str = "none") -> NDArray[np.int_]:
    """Find the option that a strict majority of the seats present has on top, or -1.

    Parameters
    ----------
    preferences
        Shape (replicates, rounds, seats, options); NaN where a seat is absent.
    ties
        As for :func:`time_to_majority`.

    Returns
    -------
    array, shape (replicates, rounds)
    """
    array = seats(preferences)
    present, top = find_top_options(array, ties)
    sole = top & (top.sum(axis=-1, keepdims=True) == 1) & present[..., None]
    votes = sole.sum(axis=2)
    # Absent seats don't count, neither as votes nor in what half is taken of.
    strict = 2 * votes > present.sum(axis=2)[..., None]
    return np.where(strict.any(axis=-1), strict.argmax(axis=-1), -1)


def find_top_options(
    array: Floats, ties: str = "none"
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Find the seats that are present, and the options on top of each.

    The shapes are (..., seats) and (..., seats, options). On top are all that are tied, or the
    ``first`` of them.
    """
    if ties not in TIES:
        raise ValueError(f"ties {ties!r}: one of {', '.join(TIES)}")
    present = np.asarray(np.isfinite(array).all(axis=-1))
    # NaN would make a maximum NaN; what stands there instead is masked by `present`.
    filled = np.where(present[..., None], array, 0.0)
    if ties == "first":
        return present, np.eye(array.shape[-1], dtype=bool)[filled.argmax(axis=-1)]
    return present, np.asarray(filled >= filled.max(axis=-1, keepdims=True) - TIE)


def seats(preferences: ArrayLike) -> Floats:
    """Check preferences of seats: shape (replicates, rounds >= 1, seats >= 1, options >= 2)."""
    array = np.asarray(preferences, dtype=float)
    if array.ndim != 4 or (array.size and (array.shape[1] < 1 or array.shape[3] < 2)):
        raise ValueError(
            f"preferences have shape (replicates, rounds, seats, options), not {array.shape}"
        )
    return array
