"""Time to majority: when more than half of the seats share a top option, in both readings."""

import warnings
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenum.dynamics.fit import Floats

READINGS = ("first", "stable")

_TIE = 1e-9
"""Preferences that differ by less than this are equal."""


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
    median: float
    ci_low: float
    ci_high: float
    events: int
    n: int
    times: Floats = field(repr=False, compare=False)
    observed: NDArray[np.bool_] = field(repr=False, compare=False)
    curve: Floats = field(repr=False, compare=False)


def time_to_majority(preferences: ArrayLike, reading: str = "first") -> TimeToMajority:
    """Rounds until a strict majority of the seats present shares its top option (Fig. S4).

    The first-hit reading carries little: seats that choose at random have such a majority after
    1.6 rounds on average.

    Parameters
    ----------
    preferences
        Preferences of every seat, shape (replicates, rounds, seats, options). A seat that is
        absent in a round is NaN there; a seat whose top is tied has no top option.
    reading
        ``first`` or ``stable``.

    Raises
    ------
    ValueError
        The shape or the reading is malformed.
    """
    if reading not in READINGS:
        raise ValueError(f"reading {reading!r}: one of {', '.join(READINGS)}")
    majority = majorities(preferences)
    replicates, rounds = majority.shape
    holds = np.asarray(majority >= 0)
    if reading == "stable":
        same = (majority == majority[:, -1:]) & holds
        holds = np.logical_and.accumulate(same[:, ::-1], axis=1)[:, ::-1]
    observed = np.asarray(holds.any(axis=1))
    times = np.where(observed, holds.argmax(axis=1) + 1.0, float(rounds))
    if not replicates:
        nan = float("nan")
        return TimeToMajority(reading, nan, nan, nan, 0, 0, times, observed, np.empty(0))
    curve, low, high = _kaplan_meier(times, observed, rounds)
    return TimeToMajority(
        reading=reading,
        median=_crossing(curve),
        ci_low=_crossing(low),
        ci_high=_crossing(high),
        events=int(observed.sum()),
        n=replicates,
        times=times,
        observed=observed,
        curve=curve,
    )


def majorities(preferences: ArrayLike) -> NDArray[np.int_]:
    """The option that a strict majority of the seats present has on top, or -1.

    Parameters
    ----------
    preferences
        Shape (replicates, rounds, seats, options); NaN where a seat is absent.

    Returns
    -------
    array, shape (replicates, rounds)
    """
    array = seats(preferences)
    present, top = top_options(array)
    sole = top & (top.sum(axis=-1, keepdims=True) == 1) & present[..., None]
    votes = sole.sum(axis=2)
    strict = 2 * votes > present.sum(axis=2)[..., None]
    return np.where(strict.any(axis=-1), strict.argmax(axis=-1), -1)


def top_options(array: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which seats are present, shape (..., seats), and which options are on top of each, ties and
    all, shape (..., seats, options)."""
    present = np.asarray(np.isfinite(array).all(axis=-1))
    filled = np.where(present[..., None], array, 0.0)
    return present, np.asarray(filled >= filled.max(axis=-1, keepdims=True) - _TIE)


def seats(preferences: ArrayLike) -> Floats:
    """Check preferences of seats: shape (replicates, rounds >= 1, seats >= 1, options >= 2)."""
    array = np.asarray(preferences, dtype=float)
    if array.ndim != 4 or (array.size and (array.shape[1] < 1 or array.shape[3] < 2)):
        raise ValueError(
            f"preferences have shape (replicates, rounds, seats, options), not {array.shape}"
        )
    return array


def _kaplan_meier(times: Floats, observed: NDArray[np.bool_], rounds: int) -> tuple[Floats, ...]:
    """Survival after rounds 1 to ``rounds`` and its 95 % limits (log-log), shape (rounds,) each."""
    from scipy.stats import CensoredData, ecdf

    survival = ecdf(CensoredData.right_censored(times, ~observed)).sf
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        limits = survival.confidence_interval(0.95, method="log-log")
    grid = np.arange(1.0, rounds + 1)
    curve = survival.evaluate(grid)
    low, high = (f.evaluate(grid) for f in (limits.low, limits.high))
    # Where all or none are left the limits are undefined: there they are Clopper and Pearson's.
    least = 0.025 ** (1 / len(times))
    low = np.where(np.isfinite(low), low, np.where(curve >= 1, least, 0.0))
    high = np.where(np.isfinite(high), high, np.where(curve <= 0, 1 - least, 1.0))
    return curve, low, high


def _crossing(curve: Floats) -> float:
    below = np.flatnonzero(curve <= 0.5 + _TIE)
    return float(below[0] + 1) if below.size else float("inf")
