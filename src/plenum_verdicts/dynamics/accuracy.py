"""Accuracy: the share of right decisions, if right answers are known."""

from collections.abc import Mapping, Sequence

import numpy as np

from plenum.dynamics.estimate import Estimate, estimate_mean, make_estimate


def estimate_accuracy(
    decisions: Mapping[str, Sequence[str]], answers: Mapping[str, str]
) -> Estimate:
    """Estimate the share of right decisions: its mean over cases, equally weighted.

    An audit stops early if runs agree, so a mean over runs would give the other cases more weight.
    Runs of a case share its difficulty: the standard error is robust to that, since cases are its
    units (Liang and Zeger 1986, for means of clusters).

    Parameters
    ----------
    decisions
        Decisions of all runs that ended, by case; no decision and a failure count as wrong.
    answers
        Right options by case; cases without one, or without runs, are ignored.

    Returns
    -------
    Estimate
        From 0 to 1; ``n`` counts cases. A single case has no standard error, nor have cases with
        equal shares, which don't show how much cases vary.
    """
    shares = [
        float(np.mean([decision == answers[case] for decision in made]))
        for case, made in decisions.items()
        if case in answers and len(made)
    ]
    method = "cluster-robust over cases"
    if len(set(shares)) == 1:
        return make_estimate(shares[0], float("nan"), len(shares) - 1, len(shares), method)
    return estimate_mean(np.array(shares), method)
