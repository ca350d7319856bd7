"""Everything that is estimated of one condition."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenum.dynamics.decisions import flip_rate, time_to_majority
from plenum.dynamics.divergence import divergence
from plenum.dynamics.lyapunov import WINDOW, LyapunovEstimate, lyapunov


@dataclass(frozen=True)
class Summary:
    """The estimates of one condition.

    Attributes
    ----------
    lyapunov
        λ̂ with its interval, status and warnings.
    divergence
        D(t), shape (rounds,).
    flip_rate
        Share of replicates off the modal decision.
    time_to_majority
        Median first majority round; infinite where half of the replicates have none.
    """

    lyapunov: LyapunovEstimate
    divergence: NDArray[np.float64]
    flip_rate: float
    time_to_majority: float


def summarise(
    preferences: ArrayLike, decisions: Sequence[str], window: tuple[int, int] = WINDOW
) -> Summary:
    """Estimate a condition from its completed replicates.

    Parameters
    ----------
    preferences
        Preferences of every seat, shape (replicates, rounds, seats, options).
    decisions
        The decision of each replicate.
    window
        Rounds of the λ̂ fit.
    """
    array = np.asarray(preferences, dtype=float)
    ensemble = array.mean(axis=2)
    return Summary(
        lyapunov=lyapunov(ensemble, window),
        divergence=divergence(ensemble),
        flip_rate=flip_rate(decisions),
        time_to_majority=time_to_majority(array),
    )
