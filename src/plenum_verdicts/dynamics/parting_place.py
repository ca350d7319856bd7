"""The places at which runs of a program part, as far as its calls are known."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A call at which pairs of runs first differ.

    Attributes
    ----------
    seat, round
        The seat of the call, and the number of the call among the seat's.
    pairs
        Number of pairs of runs that first differ there.
    unprovoked
        Number of those whose prompts differ there although nothing before did: the program itself
        isn't deterministic.
    """

    seat: str
    round: int
    pairs: int
    unprovoked: int
