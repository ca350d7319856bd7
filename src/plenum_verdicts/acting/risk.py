"""The share of acts that are wrong: tested and bounded from above, over cases like these.

A case in which the rule acts with a chance of a, and acts and is wrong with a chance of w, brings a
gain of r a - w, at least r - 1. If more than a share r of all acts is wrong, its mean over cases is
below 0, and the product of 1 + λ (r a - w) over cases is an e-value for every λ from 0 to
1 / (1 - r); so is its mean over several λ (Waudby-Smith and Ramdas 2024).
"""

import numpy as np
import scipy

from plenum_verdicts.acting.acts import Acts

_BETS = np.array([1.0, 0.9, 0.7, 0.5])
"""Bets as fractions of the largest: that one loses all by a single wrong act in a certain case."""

_WEIGHTS = np.array([0.45, 0.15, 0.2, 0.2])
"""Few bets, since each takes weight from the others; chosen on the mixtures of the benchmark."""


def e_value_of_risk(acts: Acts, risk: float) -> float:
    """Return the e-value against a share of wrong acts above ``risk``.

    Parameters
    ----------
    risk
        Above 0 and below 1.

    Examples
    --------
    >>> from plenum_verdicts.acting.act_rule import ActRule
    >>> sure = Acts(ActRule(3, 3), np.ones(70), np.zeros(70))
    >>> e_value_of_risk(sure, 0.05) > 1 / 0.05
    True
    """
    gains = risk * acts.acting - acts.wrong
    with np.errstate(divide="ignore"):  # the largest bet may lose all
        logs = np.log1p(np.maximum(np.outer(gains, _BETS) / (1 - risk), -1)).sum(axis=0)
    most = float(logs.max())
    if most == -np.inf:
        return 0.0
    held = float((_WEIGHTS * np.exp(logs - most)).sum())
    # e^709 is the largest float.
    return float(np.exp(min(most + np.log(held), 700.0)))


def bound_risk(acts: Acts, alpha: float = 0.05) -> float:
    """Return an upper bound on the share of acts that are wrong, over cases like these.

    It is too low with a probability of at most ``alpha``; 1 if nothing is shown.

    Examples
    --------
    >>> from plenum_verdicts.acting.act_rule import ActRule
    >>> round(bound_risk(Acts(ActRule(1, 1), np.ones(100), np.zeros(100))), 3)
    0.033
    """

    def shortfall(risk: float) -> float:
        # Above 0 where the e-value exceeds 1 / alpha; it grows with the risk.
        # An e-value of 0 has no logarithm: the least float does for it.
        return float(np.log(max(e_value_of_risk(acts, risk), 1e-300)) + np.log(alpha))

    # At 1 the largest bet would be without bound, and at 0 no gain is possible.
    low, high = 1e-6, 1 - 1e-6
    if shortfall(high) < 0:
        return 1.0
    if shortfall(low) >= 0:
        return low
    # To a millionth, which no output shows.
    return float(scipy.optimize.brentq(shortfall, low, high, xtol=1e-6))


def least_acts(risk: float, alpha: float = 0.05) -> int:
    """Return how many cases, acted upon rightly each time, show that at most ``risk`` is wrong."""
    count = 1
    # A rightful act gains the factor 1 + λ r; the fewest whose product reaches 1 / alpha.
    while (_WEIGHTS * np.exp(count * np.log1p(risk * _BETS / (1 - risk)))).sum() < 1 / alpha:
        count += 1
    return count
