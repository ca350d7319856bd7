"""How often runs decide right, where there are right answers."""

from collections.abc import Mapping, Sequence

import numpy as np

from plenum.dynamics.estimate import Estimate, estimate, mean


def accuracy(decisions: Mapping[str, Sequence[str]], answers: Mapping[str, str]) -> Estimate:
    """The share of right decisions: its mean over cases, each of the same weight.

    An audit stops early where runs decide alike, so that a mean over runs would count the others
    more. Runs of a case share what makes it easy or hard: the standard error is robust to that,
    since the cases are its units (Liang and Zeger 1986, of means of clusters).

    Parameters
    ----------
    decisions
        Of every run that ended, by case; no decision and a failure are wrong ones.
    answers
        Right options by case; cases without one, or without runs, are left out.

    Returns
    -------
    Estimate
        From 0 to 1; ``n`` counts cases. One case has no standard error, nor have cases that are
        all alike, from which nothing is known of how others differ.
    """
    shares = [
        float(np.mean([decision == answers[case] for decision in made]))
        for case, made in decisions.items()
        if case in answers and len(made)
    ]
    method = "cluster-robust over cases"
    if len(set(shares)) == 1:
        return estimate(shares[0], float("nan"), len(shares) - 1, len(shares), method)
    return mean(np.array(shares), method)
