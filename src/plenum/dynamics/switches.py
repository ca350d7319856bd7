"""Switches of top option, by seat (Table S7)."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenum.dynamics.fit import Floats
from plenum.dynamics.majority import find_top_options, seats


@dataclass(frozen=True)
class SwitchCounts:
    """Switches per seat over replicates.

    Attributes
    ----------
    mean, sd, sem
        Over replicates, shape (seats,); sd and sem are NaN for fewer than two.
    n
        Replicates.
    counts
        Switches of every seat in every replicate, shape (replicates, seats).
    """

    mean: Floats
    sd: Floats
    sem: Floats
    n: int
    counts: NDArray[np.int_] = field(repr=False)


def switch_counts(preferences: ArrayLike, *, ties: str = "none") -> SwitchCounts:
    """Count how often each seat's top option changes.

    A tie that contains the previous top option is no switch, and the previous option stays. Out
    of a tie, going on to any of its members is none either.

    Parameters
    ----------
    preferences
        Preferences of every seat, shape (replicates, rounds, seats, options). Rounds in which a
        seat is absent (NaN) are passed over.
    ties
        ``first`` takes a tied top for its first option, as the papers do.

    Returns
    -------
    SwitchCounts
        The mean by seat with its standard error, and the counts of every replicate.

    Raises
    ------
    ValueError
        The shape is malformed.

    Examples
    --------
    One replicate of two seats over three rounds: the first seat changes its mind twice.

    >>> import plenum
    >>> first, second = [0.9, 0.1], [0.2, 0.8]
    >>> plenum.switch_counts([[[first, first], [second, first], [first, first]]]).counts
    array([[2, 0]])
    """
    array = seats(preferences)
    replicates, rounds, places, options = array.shape
    present, top = find_top_options(array, ties)
    # Any option may have been on top before: the first round is no switch.
    held = np.ones((replicates, places, options), bool)
    counts = np.zeros((replicates, places), int)
    for t in range(rounds):
        shared = np.asarray(held & top[:, t])
        stays = np.asarray(shared.any(axis=-1))
        counts += ~stays & present[:, t]
        # Of tied options only those that were held stay, so that leaving the tie for another is a
        # switch.
        changed = np.where(stays[..., None], shared, top[:, t])
        # A seat that is absent comes back with the option that it left with.
        held = np.where(present[:, t, :, None], changed, held)
    sd = counts.std(axis=0, ddof=1) if replicates > 1 else np.full(places, np.nan)
    mean = counts.mean(axis=0) if replicates else np.full(places, np.nan)
    # The 1 keeps a study without replicates from dividing by 0: its numbers are NaN already.
    return SwitchCounts(mean, sd, sd / np.sqrt(max(replicates, 1)), replicates, counts)
