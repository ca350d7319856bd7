"""A bound on how far a seat's state moves in a round."""

from dataclasses import replace

from plenum.committee.state import State


def bound_step(last: State, stated: State, most: float) -> State:
    """Move a state towards what was stated, by a bounded step.

    Parameters
    ----------
    last, stated
        The seat's last state, and what it states now, over the same options.
    most
        The largest total variation between two states, half the sum of the absolute differences of
        preferences: the preference that passes from some options to others, in (0, 1].

    Returns
    -------
    State
        The stated one if it is near enough; else a point on the line to it, with its confidence and
        tags.

    Examples
    --------
    >>> from plenum.committee.bounded_step import bound_step
    >>> from plenum.committee.state import State
    >>> tags = ("one", "two")
    >>> bound_step(State((0.5, 0.5), 60, tags), State((1.0, 0.0), 90, tags), 0.25).pref
    (0.75, 0.25)
    """
    moves = [new - old for old, new in zip(last.pref, stated.pref, strict=True)]
    # What one option gains others lose: each passing preference counts twice in the sum.
    moved = sum(map(abs, moves)) / 2
    if moved <= most:
        return stated
    pairs = zip(last.pref, moves, strict=True)
    return replace(stated, pref=tuple(old + move * most / moved for old, move in pairs))
