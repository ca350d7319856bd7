"""Votes as stated: whether seats vote for what they say that they prefer."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from plenum.dynamics.decisions import Share, estimate_share
from plenum.dynamics.divergence import ZERO

_APART = 0.8
"""Below this share of votes as stated, trajectories and decisions are of two different things. The
share is plenum's own choice: nearer to 1 a few slips of a model would warn, at 0.5 the seats of a
majority could vote for something else unnoticed."""


@dataclass(frozen=True)
class StatedVotes:
    """The share of ballots for the option that their seat had stated to prefer.

    Attributes
    ----------
    share
        Mean over replicates of the share of ballots that do, with its 95 % interval.
    tied
        Share of the ballots that can't be compared, since the last state has no sole top.
    ballots
        How many were compared.
    """

    share: Share = field(default_factory=Share)
    tied: float = math.nan
    ballots: int = 0

    @property
    def apart(self) -> bool:
        """True if trajectories and decisions are of two different things."""
        return self.share.value < _APART  # which NaN isn't


def compare_votes(preferences: ArrayLike, votes: ArrayLike) -> StatedVotes:
    """Compare each seat's ballot with the sole top of its last state.

    The interval takes replicates as units, since the seats of one have heard each other.

    Parameters
    ----------
    preferences
        Preferences of every seat, shape (replicates, rounds, seats, options); NaN where a seat is
        absent.
    votes
        Indices of the options that were voted for, shape (replicates, seats); negative for none.

    Returns
    -------
    StatedVotes
        NaN where no ballot can be compared.

    Raises
    ------
    ValueError
        The shapes don't fit.

    Examples
    --------
    Of four seats, three vote as they state, and one stated two options alike:

    >>> import numpy as np
    >>> from plenum.dynamics.stated_votes import compare_votes
    >>> stated = np.array([[[[.6, .4], [.2, .8]]], [[[.5, .5], [.9, .1]]]])
    >>> found = compare_votes(stated, [[0, 1], [0, 0]])
    >>> found.share.value, found.ballots, found.tied
    (1.0, 3, 0.25)
    """
    states, chosen = np.asarray(preferences, float), np.asarray(votes, int)
    if states.ndim != 4 or chosen.shape != (states.shape[0], states.shape[2]):
        raise ValueError(f"votes of shape {chosen.shape} for preferences of {states.shape}")
    if not states.size:
        return StatedVotes()
    last = states[:, -1]
    # Less ZERO: equal shares differ by rounding once they are normalised.
    tops = last >= last.max(axis=-1, keepdims=True) - ZERO
    # A comparison with NaN is false: an absent seat's tops would be none, not unknown.
    cast = (chosen >= 0) & np.isfinite(last).all(axis=-1)
    sole = cast & (tops.sum(axis=-1) == 1)
    if not sole.any():
        return StatedVotes(tied=1.0 if cast.any() else math.nan)
    # A state with two tops names no option, so that its ballot can't be held against it.
    alike = sole & (tops.argmax(axis=-1) == chosen)
    told, compared = alike.sum(axis=1), sole.sum(axis=1)
    # First within replicates: one of many ballots counts as much as one of few.
    shares = told[compared > 0] / compared[compared > 0]
    tied = float(1 - compared.sum() / cast.sum())
    return StatedVotes(estimate_share(float(shares.sum()), len(shares)), tied, int(compared.sum()))
