"""The rule by which a committee decides, once its ballots are in."""

from collections.abc import Callable
from dataclasses import dataclass

from plenum.base import Registry
from plenum.committee.ballots import Count
from plenum.committee.state import State


@dataclass(frozen=True)
class Ended:
    """A deliberation whose ballots are in.

    Attributes
    ----------
    labels
        The options.
    votes, states
        The ballots' options and the last states, one a seat in speaking order.
    tally, clerk
        The ballots as they were counted, and as the clerk counted them; ``None`` if its answer
        can't be read.
    """

    labels: tuple[str, ...]
    votes: tuple[str, ...]
    states: tuple[State, ...]
    tally: Count
    clerk: Count | None


Rule = Callable[[Ended], str]
"""A function that returns the label of an option, or ``NONE``."""

RULES: Registry[Rule] = Registry("plenum.decision_rules", "protocol.decision")
"""The rules by name: plenum's, then those that packages add."""

RULES.add("majority", lambda ended: ended.tally.decision)
RULES.add("clerk", lambda ended: (ended.clerk or ended.tally).decision)
