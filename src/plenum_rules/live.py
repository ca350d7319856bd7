"""Rules of aggregation for committees that deliberate: ``protocol.decision=mean`` and others."""

from functools import partial

import numpy as np

from plenum.committee.ballots import NONE as NO_MAJORITY
from plenum.committee.ballots import EndedDeliberation
from plenum_rules.aggregation import AGGREGATIONS, NONE, LastWords


def decide_live(rule: str, ended: EndedDeliberation) -> str:
    """Apply a rule to one committee.

    Parameters
    ----------
    rule
        A name in :data:`plenum_rules.aggregation.AGGREGATIONS`.

    Returns
    -------
    str
        A label, or ``NONE``.
    """
    last = LastWords(
        votes=np.array([ended.labels.index(vote) for vote in ended.votes]),
        preferences=np.array([state.pref for state in ended.states], dtype=float),
        confidences=np.array([state.conf for state in ended.states], dtype=float),
    )
    option = int(AGGREGATIONS[rule](last))
    return NO_MAJORITY if option == NONE else ended.labels[option]


supermajority = partial(decide_live, "supermajority")
mean = partial(decide_live, "mean")
median = partial(decide_live, "median")
confidence = partial(decide_live, "confidence")
borda = partial(decide_live, "borda")
