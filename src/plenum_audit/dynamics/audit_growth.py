"""Growth test for an audited program's runs: λ > 0 at preplanned looks."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from plenum.dynamics import lyapunov
from plenum_audit.dynamics.sequential import growth_bounds

LOOKS = (8, 12, 20, 32, 48)
"""Numbers of runs at which λ̂ is tested; there is no test beyond the last one."""


@dataclass(frozen=True)
class Growth:
    """Result of the one-sided test of λ > 0, at the first significant look or else the last one.

    Attributes
    ----------
    shown
        True if it is significant: over all looks the false positive rate is 5 %.
    look
        Number of runs at the look; 0 before the first one.
    p, bound
        The p-value by the jackknife and t(look - 1), and the p below which the look is significant.
    """

    shown: bool = False
    look: int = 0
    p: float = math.nan
    bound: float = math.nan


def judge_growth(ensemble: ArrayLike) -> Growth:
    """Test λ̂ at every look that the runs have reached.

    Parameters
    ----------
    ensemble
        Mean preferences, shape (runs, rounds, options), in the order of the runs.
    """
    array, last = np.asarray(ensemble, float), Growth()
    for look, bound in zip(LOOKS, growth_bounds(LOOKS), strict=True):
        if len(array) < look:
            break
        fitted = lyapunov(array[:look])
        known = fitted.status == "ok" and fitted.se > 0
        p = float(stdtr(look - 1, -fitted.value / fitted.se)) if known else math.nan
        last = Growth(p <= bound, look, p, bound)
        if last.shown:
            break
    return last
